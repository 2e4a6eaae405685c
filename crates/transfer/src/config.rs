//! Settings of an endpoint.

use crate::mtu;
use std::time::Duration;

/// Settings of an endpoint and its connections.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The protocol's own: α, β, τ and what goes with them. Its seed is drawn anew for each connection.
    pub paths: tidegate_mpath::Config,
    /// Bytes that may wait at either end of each direction (thesis section 3.3.6: 25 MB).
    pub buffer_bytes: usize,
    /// UDP payload to be tried for at most, in bytes. Larger packets are refused.
    pub largest_packet: usize,
    /// Connections at a time that others have made: each may hold both buffers full.
    pub connections: usize,
    /// How long the answer to the first packet may take.
    pub handshake_timeout: Duration,
    /// After so long a silence the peer counts as gone.
    pub idle_timeout: Duration,
    /// After so long a silence the peer is asked.
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
    /// The same, with no packets but those that every path carries.
    pub fn with_small_packets(self) -> Self {
        Self {
            largest_packet: mtu::BASE,
            ..self
        }
    }
}
