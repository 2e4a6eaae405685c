//! The IP header around a segment. `etherparse` knows its fields; this file decides which packets are for us.

use super::{Addresses, Malformed};
use etherparse::checksum::Sum16BitWords;
use etherparse::err::ip::{HeaderError, HeadersError, SliceError};
use etherparse::{IpEcn, IpNumber, IpSlice, Ipv4Header, Ipv6ExtensionSlice, Ipv6Header, LenSource};
use std::net::{IpAddr, SocketAddr};
use tidegate_basics::ecn::Ecn;

/// Linux's default (`sysctl_ip_default_ttl`).
const HOP_LIMIT: u8 = 64;

/// What the IP header says about a segment.
pub(super) struct Datagram<'a> {
    pub source: IpAddr,
    pub destination: IpAddr,
    pub ecn: Ecn,
    /// The segment, header and payload.
    pub segment: &'a [u8],
}

pub(super) fn read(packet: &[u8]) -> Result<Datagram<'_>, Malformed> {
    let ip = IpSlice::from_slice(packet).map_err(reason)?;
    match &ip {
        IpSlice::Ipv4(v4) => {
            if checksum(Sum16BitWords::new().add_slice(v4.header().slice())) != [0, 0] {
                return Err(Malformed::Ipv4Checksum);
            }
            if v4.extensions().auth.is_some() {
                return Err(Malformed::Extension(IpNumber::AUTHENTICATION_HEADER.0));
            }
        }
        IpSlice::Ipv6(v6) => v6.extensions().clone().into_iter().try_for_each(skip)?,
    }
    let payload = ip.payload();
    if payload.fragmented {
        return Err(Malformed::Fragment);
    }
    if payload.ip_number != IpNumber::TCP {
        return Err(Malformed::Protocol(payload.ip_number.0));
    }
    if payload.len_source == LenSource::Slice {
        return Err(Malformed::IpHeader);
    }
    let ecn = match &ip {
        IpSlice::Ipv4(v4) => v4.header().ecn().value(),
        IpSlice::Ipv6(v6) => v6.header().traffic_class(),
    };
    Ok(Datagram {
        source: ip.source_addr(),
        destination: ip.destination_addr(),
        ecn: Ecn::from_bits(ecn),
        segment: payload.payload,
    })
}

/// Whether an extension header changes nothing for TCP at the packet's destination.
fn skip(extension: Ipv6ExtensionSlice<'_>) -> Result<(), Malformed> {
    match extension {
        Ipv6ExtensionSlice::HopByHop(_) | Ipv6ExtensionSlice::DestinationOptions(_) => Ok(()),
        // A fragment that is the whole (RFC 6946); others are refused as such.
        Ipv6ExtensionSlice::Fragment(_) => Ok(()),
        // Segments left: none, so this is the last node of the route (RFC 8200 §4.4).
        Ipv6ExtensionSlice::Routing(header) if header.payload()[1] == 0 => Ok(()),
        Ipv6ExtensionSlice::Routing(_) => Err(Malformed::Extension(IpNumber::IPV6_ROUTE_HEADER.0)),
        Ipv6ExtensionSlice::Authentication(_) => {
            Err(Malformed::Extension(IpNumber::AUTHENTICATION_HEADER.0))
        }
    }
}

fn reason(error: SliceError) -> Malformed {
    match error {
        SliceError::Len(_) => Malformed::Truncated,
        SliceError::IpHeaders(HeadersError::Ip(HeaderError::UnsupportedIpVersion {
            version_number,
        })) => Malformed::Version(version_number),
        SliceError::IpHeaders(_) => Malformed::IpHeader,
    }
}

/// Appends the header of a packet that is to carry `len` bytes.
pub(super) fn write(packet: &mut Vec<u8>, addresses: &Addresses, ecn: Ecn, len: usize) {
    let len = u16::try_from(len).expect("a segment fits into a packet");
    match (addresses.source(), addresses.destination()) {
        (SocketAddr::V4(source), SocketAddr::V4(destination)) => {
            let (source, destination) = (source.ip().octets(), destination.ip().octets());
            // "Don't fragment" and no identification, as an atomic datagram may (RFC 6864 §4.1).
            let mut header = Ipv4Header::new(len, HOP_LIMIT, IpNumber::TCP, source, destination)
                .expect("a segment fits into a packet");
            header.ecn = IpEcn::try_new(ecn.bits()).expect("two bits");
            header.header_checksum = header.calc_header_checksum();
            packet.extend_from_slice(&header.to_bytes());
        }
        (SocketAddr::V6(source), SocketAddr::V6(destination)) => {
            let header = Ipv6Header {
                payload_length: len,
                next_header: IpNumber::TCP,
                traffic_class: ecn.bits(),
                hop_limit: HOP_LIMIT,
                source: source.ip().octets(),
                destination: destination.ip().octets(),
                ..Ipv6Header::default()
            };
            packet.extend_from_slice(&header.to_bytes());
        }
        _ => unreachable!("addresses are of one version"),
    }
}

/// The checksum over pseudo-header and segment (RFC 9293 §3.1, RFC 8200 §8.1): zero if the
/// segment's own is right, its value if the segment's own is still zero.
pub(super) fn tcp_checksum(source: IpAddr, destination: IpAddr, segment: &[u8]) -> [u8; 2] {
    let mut sum = Sum16BitWords::new();
    for address in [source, destination] {
        sum = match address {
            IpAddr::V4(address) => sum.add_4bytes(address.octets()),
            IpAddr::V6(address) => sum.add_16bytes(address.octets()),
        };
    }
    // Length and protocol stand apart from each other in the two versions and sum to the same.
    let len = segment.len() as u32;
    sum = sum.add_4bytes(len.to_be_bytes());
    checksum(sum.add_2bytes([0, IpNumber::TCP.0]).add_slice(segment))
}

/// The checksum in the order of the wire.
fn checksum(sum: Sum16BitWords) -> [u8; 2] {
    sum.ones_complement().to_ne_bytes()
}
