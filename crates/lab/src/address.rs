//! The hosts' addresses.

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

impl IpVersion {
    /// Both.
    pub const ALL: [Self; 2] = [Self::V4, Self::V6];
}

/// The server's n-th address: the first is that of [`address`]; each further one is for packets that cross other links.
pub fn server_address(n: usize, version: IpVersion) -> IpAddr {
    if n == 0 {
        return address(Side::Server, version);
    }
    let n = n as u16;
    match version {
        IpVersion::V4 => {
            let [high, low] = (0x8000 | n).to_be_bytes();
            Ipv4Addr::new(198, 18, high, low).into()
        }
        IpVersion::V6 => Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 1, n).into(),
    }
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
