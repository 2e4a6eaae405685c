//! The addresses of a packet.

use std::net::{IpAddr, SocketAddr};

/// Source and destination of a packet, of one IP version; of a socket: its own end and the peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Addresses {
    source: SocketAddr,
    destination: SocketAddr,
}

/// Bytes of a TCP header at most.
const LARGEST_TCP_HEADER: u16 = 60;

impl Addresses {
    /// None if one is IPv4 and the other IPv6.
    pub fn new(source: SocketAddr, destination: SocketAddr) -> Option<Self> {
        // Neither flow labels nor scopes tell connections apart.
        let bare = |address: SocketAddr| SocketAddr::new(address.ip(), address.port());
        (source.is_ipv4() == destination.is_ipv4()).then(|| Self {
            source: bare(source),
            destination: bare(destination),
        })
    }

    /// Where the packet comes from.
    pub fn source(&self) -> SocketAddr {
        self.source
    }

    /// Where it goes.
    pub fn destination(&self) -> SocketAddr {
        self.destination
    }

    /// The addresses of an answer.
    pub fn reversed(&self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
        }
    }

    /// Bytes of IP header in front of each segment.
    pub fn ip_header_bytes(&self) -> usize {
        match self.source.ip() {
            IpAddr::V4(_) => 20,
            IpAddr::V6(_) => 40,
        }
    }

    /// The largest payload that fits a packet with whatever options, in bytes.
    pub fn largest_mss(&self) -> u16 {
        // IPv6's length does not count its own header.
        let ip = if self.source.is_ipv4() { 20 } else { 0 };
        u16::MAX - ip - LARGEST_TCP_HEADER
    }
}
