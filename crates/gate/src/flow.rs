//! Flows, and their packets that leave.

use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The UDP flow between two ends over one interface, seen from this machine: a leaving packet has `local` as its
/// source, after any translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Flow {
    /// Index of the interface.
    pub interface: u32,
    /// This machine's end, or that of the host that it forwards for.
    pub local: SocketAddr,
    /// The far end, of the same version of IP.
    pub remote: SocketAddr,
}

/// A packet that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// Its flow.
    pub flow: Flow,
    /// Bytes from the IP header on; the sum for several datagrams that leave as one.
    pub bytes: u32,
    /// When it came to the gate, by CLOCK_MONOTONIC in µs.
    pub at_us: u64,
}

/// The flow of a packet that begins with `head`; none if it is not UDP, or its ports are not in `head`.
pub fn flow(interface: u32, head: &[u8]) -> Option<Flow> {
    let (local, remote, transport) = match head.first()? >> 4 {
        4 => ends_of_4(head)?,
        6 => ends_of_6(head)?,
        _ => return None,
    };
    let port = |at: usize| {
        let bytes = transport.get(at..)?.first_chunk()?;
        Some(u16::from_be_bytes(*bytes))
    };
    Some(Flow {
        interface,
        local: SocketAddr::new(local, port(0)?),
        remote: SocketAddr::new(remote, port(2)?),
    })
}

type Ends<'a> = (IpAddr, IpAddr, &'a [u8]);

fn ends_of_4(head: &[u8]) -> Option<Ends<'_>> {
    const FRAGMENT_OFFSET: u16 = 0x1fff;
    let address = |at: usize| Some(Ipv4Addr::from(*head.get(at..)?.first_chunk::<4>()?));
    let offset = u16::from_be_bytes(*head.get(6..)?.first_chunk()?);
    if i32::from(*head.get(9)?) != libc::IPPROTO_UDP || offset & FRAGMENT_OFFSET != 0 {
        return None;
    }
    let transport = head.get(usize::from(head[0] & 0xf) * 4..)?;
    Some((address(12)?.into(), address(16)?.into(), transport))
}

/// IPv6 packets with extension headers are not read.
fn ends_of_6(head: &[u8]) -> Option<Ends<'_>> {
    let address = |at: usize| Some(Ipv6Addr::from(*head.get(at..)?.first_chunk::<16>()?));
    let (local, remote) = (address(8)?, address(24)?);
    let is_udp = i32::from(*head.get(6)?) == libc::IPPROTO_UDP;
    is_udp.then_some((local.into(), remote.into(), head.get(40..)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PORTS: [u8; 4] = [0xc0, 0x00, 0x01, 0xbb];

    #[test]
    fn flows_of_both_versions() {
        let mut v4 = vec![0x46, 0, 0, 40, 0, 0, 0x40, 0, 64, 17, 0, 0];
        v4.extend([192, 0, 2, 1, 198, 51, 100, 2, 1, 1, 1, 1]); // and four bytes of options
        v4.extend(PORTS);
        let known = flow(3, &v4).unwrap();
        assert_eq!(known.local, "192.0.2.1:49152".parse().unwrap());
        assert_eq!(known.remote, "198.51.100.2:443".parse().unwrap());
        assert_eq!(known.interface, 3);

        let mut v6 = vec![0x60, 0, 0, 0, 0, 8, 17, 64];
        v6.extend("2001:db8::1".parse::<Ipv6Addr>().unwrap().octets());
        v6.extend("2001:db8::2".parse::<Ipv6Addr>().unwrap().octets());
        v6.extend(PORTS);
        let known = flow(3, &v6).unwrap();
        assert_eq!(known.local, "[2001:db8::1]:49152".parse().unwrap());
        assert_eq!(known.remote, "[2001:db8::2]:443".parse().unwrap());
    }

    #[test]
    fn what_is_not_udp_has_none() {
        let mut later_fragment = vec![0x45, 0, 0, 40, 0, 0, 0x00, 1, 64, 17, 0, 0];
        later_fragment.extend([0; 12]);
        assert_eq!(flow(1, &later_fragment), None);
        let mut tcp = vec![0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0];
        tcp.extend([0; 12]);
        assert_eq!(flow(1, &tcp), None);
    }

    proptest! {
        #[test]
        fn any_bytes_may_come(head in prop::collection::vec(any::<u8>(), 0..80), version in prop_oneof![Just(0x45u8), Just(0x60), any::<u8>()]) {
            let mut head = head;
            if let Some(first) = head.first_mut() {
                *first = version;
            }
            let _ = flow(1, &head);
        }
    }
}
