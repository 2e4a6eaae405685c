//! The wire form of segments: IPv4 or IPv6 packets with TCP in them, checksums and all.
//!
//! ```text
//! bytes ── parse ─▶ Parsed { Addresses, Segment, payload } ── write ─▶ bytes
//! ```
//!
//! A [`Segment`] is the plain representation; bytes exist only here. For every packet that [`parse`] accepts,
//! [`write()`] writes one that parses to the same; the layout of its packets is Linux's.

mod addresses;
mod ip;
mod malformed;
mod options;
mod tcp;

pub use addresses::Addresses;
pub use malformed::Malformed;

use crate::Segment;

/// A packet as plain values, and its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parsed<'a> {
    /// Where it comes from and where it goes.
    pub addresses: Addresses,
    /// The TCP header.
    pub segment: Segment,
    /// [`Segment::len`] bytes.
    pub payload: &'a [u8],
}

/// Reads a packet that begins with its IP header; bytes after the length that it gives are ignored.
///
/// # Errors
///
/// A packet that is not a whole and sound TCP segment; the error says why.
pub fn parse(packet: &[u8]) -> Result<Parsed<'_>, Malformed> {
    tcp::read(&ip::read(packet)?)
}

/// Makes `packet` the segment's packet, with a payload in (up to) two pieces, as a ring holds it.
///
/// # Panics
///
/// If headers and payload exceed the 65 535 bytes of a packet, which a payload of
/// [`Addresses::largest_mss`] never does.
pub fn write(packet: &mut Vec<u8>, addresses: &Addresses, segment: &Segment, payload: [&[u8]; 2]) {
    let len = payload[0].len() + payload[1].len();
    debug_assert_eq!(len, segment.len as usize, "the payload that it counts");
    packet.clear();
    ip::write(packet, addresses, segment.ecn, segment.header_bytes() + len);
    tcp::write(packet, addresses, segment, payload);
}
