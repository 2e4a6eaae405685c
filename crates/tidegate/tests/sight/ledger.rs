//! A record of every packet that has passed the test's own link: the truth that the agent's numbers are compared with.

use nix::time::{ClockId, clock_gettime};
use std::sync::Mutex;
use std::time::Duration;

const TCP: u8 = 6;
const UDP: u8 = 17;

/// An IPv4 packet that was delivered to the client.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// When, µs of CLOCK_MONOTONIC.
    pub at_us: u64,
    /// The server's port, of TCP or UDP; else 0.
    pub port: u16,
    /// Bytes, IP header included.
    pub bytes: u64,
    /// Payload bytes of TCP or UDP.
    pub payload: u64,
    /// How long it waited for earlier packets.
    pub queue_us: u64,
}

/// µs of CLOCK_MONOTONIC, the agent's clock.
pub fn now_us() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap();
    now.tv_sec() as u64 * 1_000_000 + now.tv_nsec() as u64 / 1_000
}

/// The server's port, in packets of either direction: the smaller one, since clients get larger ports.
pub fn server_port(packet: &[u8]) -> u16 {
    let at = usize::from(packet[0] & 15) * 4;
    if ![TCP, UDP].contains(&packet[9]) {
        return 0;
    }
    let port = |at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
    port(at).min(port(at + 2))
}

impl Packet {
    pub fn new(packet: &[u8], queue: Duration) -> Self {
        let ip = usize::from(packet[0] & 15) * 4;
        let headers = match packet[9] {
            TCP => ip + usize::from(packet[ip + 12] >> 4) * 4,
            UDP => ip + 8,
            _ => packet.len(),
        };
        Self {
            at_us: now_us(),
            port: server_port(packet),
            bytes: packet.len() as u64,
            payload: (packet.len() - headers) as u64,
            queue_us: queue.as_micros() as u64,
        }
    }
}

/// All packets.
#[derive(Default)]
pub struct Ledger(Mutex<Vec<Packet>>);

impl Ledger {
    pub fn note(&self, packet: Packet) {
        self.0.lock().unwrap().push(packet);
    }

    /// Packets of that time.
    pub fn between(&self, from_us: u64, to_us: u64) -> Vec<Packet> {
        let all = self.0.lock().unwrap();
        let of = all.iter().filter(|p| (from_us..to_us).contains(&p.at_us));
        of.copied().collect()
    }
}
