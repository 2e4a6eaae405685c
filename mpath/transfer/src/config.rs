//! Settings of an endpoint.

use crate::mtu;
use std::time::Duration;

/// Settings of an endpoint and its connections.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The protocol's own settings: α, β, τ and so on. Its seed is drawn anew for each connection.
    pub paths: tidegate_mpath::Config,
    /// Bytes that may wait at either end, for each direction (thesis section 3.3.6: 25 MB).
    pub buffer_bytes: usize,
    /// The largest UDP payload to try, in bytes. Larger packets are refused.
    pub largest_packet: usize,
    /// The most connections at a time that peers have opened: each may fill both buffers.
    pub connections: usize,
    /// How long to wait for the answer to the first packet.
    pub handshake_timeout: Duration,
    /// After this time of silence the peer counts as gone.
    pub idle_timeout: Duration,
    /// After this time of silence the peer is asked.
    pub keep_alive: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            paths: tidegate_mpath::Config::default(),
            buffer_bytes: 25_000_000,
            largest_packet: mtu::ETHERNET,
            connections: 64,
            handshake_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(30),
            keep_alive: Duration::from_secs(8),
        }
    }
}

impl Config {
    /// The same, with packets no larger than every path carries.
    pub fn with_small_packets(self) -> Self {
        Self {
            largest_packet: mtu::BASE,
            ..self
        }
    }
}
