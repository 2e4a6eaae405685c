//! Addresses as the overlay compares them.

use std::net::{IpAddr, SocketAddr};

/// An IPv4-mapped IPv6 address, as a socket for both families shows it, becomes IPv4.
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
