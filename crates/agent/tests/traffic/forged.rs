//! A stranger who knows only a connection's ends sends segments in its peer's name. The kernel drops them, and the
//! queue stays as short as it was.

use crate::slow::{FAR, median_rtt_ms, on_far_link, on_slow_link};
use crate::testbed::count;
use crate::transfer::Connection;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, sendto, socket,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use tidegate_agent::{Direction, Reason};
use tidegate_lab::{EmulatedHosts, IpVersion, Namespace};

/// In milliseconds: a few times the queue of a connection alone, and far less than forged segments once caused.
const SHORT_MS: f64 = 40.0;
const PAUSE: Duration = Duration::from_millis(10);
const PAYLOAD: usize = 100;

/// The sum of RFC 1071 over the bytes, with what was summed before.
fn sum(bytes: &[u8], before: u32) -> u32 {
    let words = bytes.chunks(2);
    let words = words.map(|w| u32::from(w[0]) << 8 | u32::from(*w.get(1).unwrap_or(&0)));
    let mut sum = before + words.sum::<u32>();
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum
}

/// Sends forged segments, over IPv4.
struct Stranger {
    from: SocketAddrV4,
    to: SocketAddrV4,
    socket: OwnedFd,
    draw: Pcg64Mcg,
}

impl Stranger {
    /// A stranger in that namespace, who forges segments to the client.
    fn against(connection: &Connection, server: &Namespace) -> Self {
        let v4 = |address: SocketAddr| match address {
            SocketAddr::V4(address) => address,
            SocketAddr::V6(address) => panic!("{address}"),
        };
        let raw = || {
            let (family, kind) = (AddressFamily::Inet, SockType::Raw);
            Ok(socket(family, kind, SockFlag::empty(), SockProtocol::Raw)?)
        };
        Self {
            from: v4(connection.client.peer_addr().unwrap()),
            to: v4(connection.client.local_addr().unwrap()),
            socket: server.run(raw).unwrap(),
            draw: Pcg64Mcg::seed_from_u64(0x7464),
        }
    }

    /// A segment with random numbers and timestamps.
    fn segment(&mut self, payload: usize) -> Vec<u8> {
        let [seq, ack, tsval, tsecr]: [u32; 4] = self.draw.random();
        let mut tcp = Vec::new();
        tcp.extend(self.from.port().to_be_bytes());
        tcp.extend(self.to.port().to_be_bytes());
        tcp.extend(seq.to_be_bytes());
        tcp.extend(ack.to_be_bytes());
        // 32 bytes of header, ACK, the largest window, no sum yet, nothing urgent; timestamps behind two NOPs.
        tcp.extend([0x80, 0x10, 0xff, 0xff, 0, 0, 0, 0, 1, 1, 8, 10]);
        tcp.extend(tsval.to_be_bytes());
        tcp.extend(tsecr.to_be_bytes());
        tcp.resize(32 + payload, 0x55);
        let length = tcp.len() as u16;
        let ends = [self.from.ip().octets(), self.to.ip().octets()].concat();
        let pseudo = sum(&ends, 6 + u32::from(length));
        let check = !(sum(&tcp, pseudo) as u16);
        tcp[16..18].copy_from_slice(&check.to_be_bytes());
        // The kernel fills in length, identification and sum of the header (raw(7)).
        let mut packet = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, 6, 0, 0];
        packet.extend(ends);
        packet.extend(tcp);
        packet
    }

    fn send(&mut self, payload: usize) {
        let packet = self.segment(payload);
        let [a, b, c, d] = self.to.ip().octets();
        let to = SockaddrIn::new(a, b, c, d, 0);
        sendto(self.socket.as_raw_fd(), &packet, &to, MsgFlags::empty()).unwrap();
    }

    /// Sends a hundred a second, as long as the connection is measured.
    fn go_on(&mut self, payload: usize, goes_on: &AtomicBool) {
        while goes_on.load(Ordering::Relaxed) {
            self.send(payload);
            thread::sleep(PAUSE);
        }
    }
}

/// Once, a single one moved the window's edge far ahead, for good, in every other try.
#[test]
fn forged_acknowledgements_open_no_upload() {
    on_slow_link(Direction::Up, "5mbit", |hosts, agent| {
        let upload = Connection::new(hosts, IpVersion::V4);
        let mut stranger = Stranger::against(&upload, &hosts.server);
        let rtt_ms = median_rtt_ms(&upload.client, &upload.server, |goes_on| {
            stranger.go_on(0, goes_on);
        });
        let refused = count(agent, Direction::Up, Reason::Unacceptable);
        println!("{rtt_ms:.1} ms beside {refused} forged acknowledgements");
        assert!(rtt_ms < SHORT_MS && refused > 100);
    });
}

#[test]
fn forged_data_open_no_download() {
    on_far_link(20e6, |hosts, agent| {
        let address = EmulatedHosts::server_address(IpVersion::V4);
        let download = Connection::between(hosts.client(), hosts.server(), address);
        let mut stranger = Stranger::against(&download, hosts.server());
        let rtt_ms = median_rtt_ms(&download.server, &download.client, |goes_on| {
            stranger.go_on(PAYLOAD, goes_on);
        });
        let refused = count(agent, Direction::Down, Reason::Unacceptable);
        let queue_ms = rtt_ms - FAR.as_secs_f64() * 1e3;
        println!("{queue_ms:.1} ms of queue beside {refused} forged data segments");
        assert!(queue_ms < SHORT_MS && refused > 100);
    });
}
