//! Addresses as the overlay compares them.

use std::net::{IpAddr, SocketAddr};

/// IPv4 in IPv6's clothes, as a socket for both shows it, is IPv4.
pub fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// An address as 16 bytes, IPv4 mapped: the same bytes whichever way it was written.
pub fn octets(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
        IpAddr::V6(ip) => ip.octets(),
    }
}
