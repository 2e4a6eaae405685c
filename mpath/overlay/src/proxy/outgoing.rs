//! Packets on their way out, gathered by destination, so that one system call takes many.

use std::net::SocketAddr;

/// The limits of one call: as many packets as the kernel segments (`UDP_MAX_SEGMENTS`), and as many bytes as IP's
/// length field counts.
const SEGMENTS: usize = 64;
const BYTES: usize = 65_535 - 48;

/// The most destinations at a time.
const TRAINS: usize = 16;

/// Packets of one length, except for the last, which may be shorter.
#[derive(Debug)]
pub struct Train {
    /// Their destination.
    pub destination: SocketAddr,
    /// The length.
    pub segment: usize,
    /// The packets, one after the other.
    pub bytes: Vec<u8>,
}

impl Train {
    /// How many there are.
    pub fn packets(&self) -> usize {
        self.bytes.len().div_ceil(self.segment)
    }

    fn takes(&self, packet: &[u8], most: usize) -> bool {
        packet.len() <= self.segment
            && self.bytes.len().is_multiple_of(self.segment)
            && self.bytes.len() + packet.len() <= BYTES
            && self.packets() < most
    }
}

/// Trains that wait. Packets to one destination keep their order.
#[derive(Debug, Default)]
pub struct Outgoing {
    trains: Vec<Train>,
    /// Buffers for reuse.
    spare: Vec<Vec<u8>>,
}

impl Outgoing {
    /// Adds a packet, which is not empty; `send` is called for the trains that leave to make room, of at most `most`
    /// packets.
    pub fn push(
        &mut self,
        destination: SocketAddr,
        packet: &[u8],
        most: usize,
        mut send: impl FnMut(&Train),
    ) {
        let mut same = self.trains.iter();
        let place = match same.position(|train| train.destination == destination) {
            Some(place) if self.trains[place].takes(packet, most.min(SEGMENTS)) => place,
            Some(place) => {
                let train = &mut self.trains[place];
                send(train);
                train.bytes.clear();
                train.segment = packet.len();
                place
            }
            None => {
                if self.trains.len() == TRAINS {
                    self.flush(&mut send);
                }
                self.trains.push(Train {
                    destination,
                    segment: packet.len(),
                    bytes: self.spare.pop().unwrap_or_default(),
                });
                self.trains.len() - 1
            }
        };
        self.trains[place].bytes.extend_from_slice(packet);
    }

    /// Sends the waiting trains.
    pub fn flush(&mut self, mut send: impl FnMut(&Train)) {
        for mut train in self.trains.drain(..) {
            send(&train);
            train.bytes.clear();
            self.spare.push(train.bytes);
        }
    }
}
