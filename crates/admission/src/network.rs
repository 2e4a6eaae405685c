//! Groups addresses that probably belong to one holder.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Bits of an IPv4 address that name a network: a customer of a hosting provider may have a few neighbouring addresses.
const V4: u32 = 24;

/// The same for an IPv6 address: a home has a /56 or /60, an office a /48, with all addresses in it.
const V6: u32 = 48;

/// The network of an address, which stands for its holder: the /24 of an IPv4 address, also of a mapped one, and the
/// /48 of an IPv6 address.
pub fn network_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(v4) => Ipv4Addr::from(u32::from(v4) & u32::MAX << (32 - V4)).into(),
        IpAddr::V6(v6) => Ipv6Addr::from(u128::from(v6) & u128::MAX << (128 - V6)).into(),
    }
}
