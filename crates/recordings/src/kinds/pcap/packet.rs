//! A packet's flow and length.

use crate::{Endpoint, Filter};
use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket};
use pcap_parser::Linktype;
use std::fmt::{self, Display, Formatter};
use std::net::{IpAddr, SocketAddr};

/// Protocol numbers of TCP and UDP.
const WITH_PORTS: [u8; 2] = [6, 17];

/// One direction of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flow {
    from: (IpAddr, Option<u16>),
    to: (IpAddr, Option<u16>),
    protocol: u8,
}

/// The parts of a packet that are read.
pub struct Seen {
    /// Its flow.
    pub flow: Flow,
    /// Its length from the IP header on, captured or not.
    pub bytes: u64,
}

impl Flow {
    /// Whether a filter lets it through.
    pub fn fits(&self, filter: &Filter) -> bool {
        let fits = |(host, port): (IpAddr, Option<u16>), end: &Endpoint| {
            end.host.is_none_or(|wanted| wanted == host)
                && end.port.is_none_or(|wanted| Some(wanted) == port)
        };
        fits(self.from, &filter.src) && fits(self.to, &filter.dst)
    }
}

impl Display for Flow {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        let end = |(host, port): (IpAddr, Option<u16>)| match port {
            Some(port) => SocketAddr::new(host, port).to_string(),
            None => host.to_string(),
        };
        let protocol = match self.protocol {
            6 => "TCP".into(),
            17 => "UDP".into(),
            other => format!("protocol {other}"),
        };
        write!(to, "{protocol} from {} to {}", end(self.from), end(self.to))
    }
}

/// Whether packets of that link type can be read.
pub fn is_known(link: Linktype) -> bool {
    matches!(link.0, 0 | 1 | 12 | 14 | 101 | 108 | 113 | 228 | 229 | 276)
}

/// Reads a packet that was captured on such a link; none if it is not IP. `whole` is its length on the link.
pub fn seen(link: Linktype, data: &[u8], whole: u64) -> Option<Seen> {
    let (before, sliced) = match link.0 {
        1 => {
            let sliced = LaxSlicedPacket::from_ethernet(data).ok()?;
            let before = 14 + 4 * sliced.link_exts.len() as u64;
            (before, sliced)
        }
        // Linux' cooked captures, whose Ethernet type is the last and the first of 16 and 20 bytes.
        113 => (16, of_type(data.get(14..16)?, data.get(16..)?)),
        276 => (20, of_type(data.get(..2)?, data.get(20..)?)),
        0 | 108 => (4, LaxSlicedPacket::from_ip(data.get(4..)?).ok()?),
        _ => (0, LaxSlicedPacket::from_ip(data).ok()?),
    };
    let net = sliced.net?;
    let (from, to, says) = match &net {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let (from, to) = (
                header.source_addr().into(),
                header.destination_addr().into(),
            );
            (from, to, u64::from(header.total_len()))
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let (from, to) = (
                header.source_addr().into(),
                header.destination_addr().into(),
            );
            (from, to, 40 + u64::from(header.payload_length()))
        }
        LaxNetSlice::Arp(_) => return None,
    };
    let payload = net.ip_payload_ref()?;
    let protocol = payload.ip_number.0;
    let (source, destination) = match WITH_PORTS.contains(&protocol) && !payload.fragmented {
        true => ports(payload.payload),
        false => (None, None),
    };
    Some(Seen {
        flow: Flow {
            from: (from, source),
            to: (to, destination),
            protocol,
        },
        bytes: length(says, whole.saturating_sub(before)),
    })
}

/// The length from the IP header, at most that on the link, since Ethernet pads short packets. If the header leaves it
/// to the network card (0), the length on the link.
fn length(says: u64, on_link: u64) -> u64 {
    match says {
        0 | 40 if on_link > says => on_link,
        says => says.min(on_link),
    }
}

fn of_type<'a>(ether_type: &[u8], data: &'a [u8]) -> LaxSlicedPacket<'a> {
    let ether_type = u16::from_be_bytes([ether_type[0], ether_type[1]]);
    LaxSlicedPacket::from_ether_type(EtherType(ether_type), data)
}

/// The first four bytes of TCP and UDP.
fn ports(payload: &[u8]) -> (Option<u16>, Option<u16>) {
    let port = |at: usize| {
        let two = payload.get(at..at + 2)?;
        Some(u16::from_be_bytes([two[0], two[1]]))
    };
    (port(0), port(2))
}
