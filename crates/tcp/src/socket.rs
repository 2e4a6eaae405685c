//! A connection with its bytes: packets in, packets out, and a stream to write and to read.

use crate::stream::{ReceiveStream, SendStream};
use crate::wire::{self, Addresses, Parsed};
use crate::{Config, Connection, Flags, Segment};
use std::ops::Range;
use tidegate_basics::time::Instant;

/// One end of a connection over IP.
///
/// As with [`Connection`]: after every call that takes `now`, call [`Self::transmit`] until it
/// returns false.
#[derive(Debug)]
pub struct Socket {
    connection: Connection,
    addresses: Addresses,
    outgoing: SendStream,
    incoming: ReceiveStream,
    /// The application no longer reads.
    released: bool,
}

impl Socket {
    /// An active open, from `addresses`' source to its destination.
    pub fn connect(config: Config, addresses: Addresses, now: Instant) -> Self {
        let connection = Connection::connect(fitting(config, &addresses), now);
        Self::new(connection, addresses)
    }

    /// A passive open, answering `syn`. None if `syn` is no plain SYN.
    pub fn accept(config: Config, syn: &Parsed, now: Instant) -> Option<Self> {
        let addresses = syn.addresses.reversed();
        let connection = Connection::accept(fitting(config, &addresses), now, &syn.segment)?;
        Some(Self::new(connection, addresses))
    }

    fn new(connection: Connection, addresses: Addresses) -> Self {
        Self {
            connection,
            addresses,
            outgoing: SendStream::default(),
            incoming: ReceiveStream::default(),
            released: false,
        }
    }

    /// A packet of this connection arrives.
    pub fn receive(&mut self, now: Instant, packet: &Parsed) {
        debug_assert_eq!(packet.addresses, self.addresses.reversed());
        let arrived = self.connection.receive(now, &packet.segment);
        if !arrived.is_empty() {
            self.store(&packet.segment, packet.payload, arrived);
        }
        self.outgoing.acknowledge(self.connection.sender().una());
        self.refuse_data();
    }

    /// Keeps those bytes of a payload that the connection took.
    fn store(&mut self, segment: &Segment, payload: &[u8], arrived: Range<u64>) {
        let syn = u64::from(segment.flags.has(Flags::SYN));
        let Some(offset) = self.connection.offset_of_theirs(segment.seq) else {
            return;
        };
        let first = offset + syn;
        let taken = (arrived.start - first) as usize..(arrived.end - first) as usize;
        self.incoming.insert(arrived.start, &payload[taken]);
    }

    /// Makes `packet` the next packet to be sent at `now`; false if there is none.
    pub fn transmit(&mut self, now: Instant, packet: &mut Vec<u8>) -> bool {
        self.transmit_steered(now, packet, |_| {})
    }

    /// As [`Self::transmit`], with a header that `steer` may have changed.
    pub(crate) fn transmit_steered(
        &mut self,
        now: Instant,
        packet: &mut Vec<u8>,
        steer: impl FnOnce(&mut Segment),
    ) -> bool {
        let Some(mut segment) = self.connection.transmit(now) else {
            return false;
        };
        steer(&mut segment);
        wire::write(packet, &self.addresses, &segment, self.payload(&segment));
        true
    }

    fn payload(&self, segment: &Segment) -> [&[u8]; 2] {
        if segment.len == 0 {
            return [&[], &[]];
        }
        let offset = self.connection.offset_of_ours(segment.seq);
        let offset = offset.expect("data come after the SYN");
        self.outgoing.slices(offset, segment.len as usize)
    }

    /// When to call [`Self::expire`]; None: never, unless something else happens.
    pub fn timeout(&self) -> Option<Instant> {
        self.connection.timeout()
    }

    /// The time of [`Self::timeout`] has come. Too early is harmless.
    pub fn expire(&mut self, now: Instant) {
        self.connection.expire(now);
    }

    /// Writes as many of `bytes` as the send buffer takes; how many.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        let taken = self.connection.write(bytes.len() as u64) as usize;
        self.outgoing.write(&bytes[..taken]);
        taken
    }

    /// Reads what has arrived in order into `out`; how many bytes.
    pub fn read(&mut self, now: Instant, out: &mut [u8]) -> usize {
        let len = self.connection.read(now, out.len() as u64) as usize;
        let read = self.incoming.read(&mut out[..len]);
        debug_assert_eq!(read, len, "what the connection counts is there");
        read
    }

    /// Nothing more is to be written; what was written is still sent.
    pub fn close(&mut self) {
        self.connection.close();
    }

    /// The application is gone: closes, and tells the peer by a reset if anything was left unread
    /// or comes yet (RFC 2525 §2.17, as Linux's `tcp_close`).
    pub fn release(&mut self, now: Instant) {
        self.released = true;
        self.connection.release(now);
        self.refuse_data();
    }

    fn refuse_data(&mut self) {
        if self.released && self.connection.readable() > 0 {
            self.connection.abort();
        }
    }

    /// Ends the connection at once, with a reset.
    pub fn abort(&mut self) {
        self.connection.abort();
    }

    /// Its own address as source, the peer's as destination.
    pub fn addresses(&self) -> &Addresses {
        &self.addresses
    }

    /// The connection: its state, its numbers.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }
}

/// `config` with an MSS that fits a packet.
fn fitting(config: Config, addresses: &Addresses) -> Config {
    Config {
        mss: config.mss.min(addresses.largest_mss()),
        ..config
    }
}
