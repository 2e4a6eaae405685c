//! The envelope around a packet that is sent through a proxy: its destination, and the right to send it there.

use super::{Malformed, Packet, RELAY, WORD, cursor::Cursor, write_head};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Bytes of a capability at most.
pub const CAPABILITY_MAX: usize = 255;

/// Bytes of the header without capability.
const HEADER: usize = 24;

/// Bytes of an address; an IPv4 address takes the first four.
const ADDRESS: usize = 16;

/// A packet for a proxy to forward. The proxy reads the envelope and nothing of the packet inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relay<'a> {
    /// Where it goes.
    pub destination: SocketAddr,
    /// The capability that the registry issued for this pair and time; a proxy forwards nothing without a valid one.
    pub capability: &'a [u8],
    /// The packet to be forwarded as it is.
    pub packet: &'a [u8],
}

/// Bytes of the envelope with a capability of `capability` bytes.
pub const fn relay_header(capability: usize) -> usize {
    (HEADER + capability).next_multiple_of(WORD)
}

/// Writes the envelope; the packet follows. A capability longer than [`CAPABILITY_MAX`] is cut off.
pub fn write_relay(out: &mut Vec<u8>, destination: SocketAddr, capability: &[u8]) {
    let capability = &capability[..capability.len().min(CAPABILITY_MAX)];
    let header = relay_header(capability.len());
    let end = out.len() + header;
    write_head(out, RELAY, header, 0);
    let (family, address) = match destination.ip() {
        IpAddr::V4(ip) => {
            let mut address = [0; ADDRESS];
            address[..4].copy_from_slice(&ip.octets());
            (4, address)
        }
        IpAddr::V6(ip) => (6, ip.octets()),
    };
    out.extend(destination.port().to_be_bytes());
    out.extend([family, capability.len() as u8]);
    out.extend(address);
    out.extend(capability);
    out.resize(end, 0);
}

pub(super) fn parse<'a>(head: &mut Cursor<'a>, body: &'a [u8]) -> Result<Packet<'a>, Malformed> {
    head.u16()?;
    let port = head.u16()?;
    let (family, length) = (head.u8()?, head.u8()?);
    let address: [u8; ADDRESS] = head.array()?;
    let ip = match family {
        4 => {
            let [a, b, c, d, ..] = address;
            IpAddr::V4(Ipv4Addr::new(a, b, c, d))
        }
        6 => IpAddr::V6(Ipv6Addr::from(address)),
        other => return Err(Malformed::Family(other)),
    };
    Ok(Packet::Relay(Relay {
        destination: SocketAddr::new(ip, port),
        capability: head.bytes(length.into())?,
        packet: body,
    }))
}
