//! Where the two hosts are.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use tidegate_scenario::Side;

/// Which version of IP the workloads use. Both are configured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IpVersion {
    /// IPv4.
    #[default]
    V4,
    /// IPv6.
    V6,
}

/// Address of the n-th proxy of an mPath transfer, from the same ranges.
pub fn proxy_address(n: usize) -> Ipv4Addr {
    let [high, low] = (n as u16 + 1).to_be_bytes();
    Ipv4Addr::new(198, 19, high, low)
}

/// Address of a host, from the ranges for benchmarks (RFC 2544 appendix C, RFC 5180 §8).
pub fn address(side: Side, version: IpVersion) -> IpAddr {
    let last = match side {
        Side::Client => 1,
        Side::Server => 2,
    };
    match version {
        IpVersion::V4 => Ipv4Addr::new(198, 18, 0, last).into(),
        IpVersion::V6 => Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, last.into()).into(),
    }
}
