//! The TCP header (RFC 9293 §3.1).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! |          source port          |       destination port        |
//! |                        sequence number                        |
//! |                    acknowledgement number                     |
//! | offset|rsrvd|      flags      |            window             |
//! |           checksum            |        urgent pointer         |
//! |                            options                            |
//! ```

use super::ip::{self, Datagram};
use super::{Addresses, Malformed, Parsed, options};
use crate::{Flags, Segment, Seq};
use std::net::SocketAddr;

/// Bytes of header without options.
const FIXED: usize = 20;

/// Of the two bytes with the data offset, the flags.
const FLAGS: u16 = 0x1ff;

/// Where the checksum stands.
const CHECKSUM: usize = 16;

pub(super) fn read<'a>(datagram: &Datagram<'a>) -> Result<Parsed<'a>, Malformed> {
    let &Datagram {
        source,
        destination,
        ecn,
        segment: bytes,
    } = datagram;
    let (fixed, rest) = bytes
        .split_first_chunk::<FIXED>()
        .ok_or(Malformed::Truncated)?;
    let offset = fixed[12] >> 4;
    let options_len = (usize::from(offset) * 4)
        .checked_sub(FIXED)
        .ok_or(Malformed::DataOffset(offset))?;
    let (options, payload) = rest
        .split_at_checked(options_len)
        .ok_or(Malformed::Truncated)?;
    if ip::tcp_checksum(source, destination, bytes) != [0, 0] {
        return Err(Malformed::TcpChecksum);
    }
    let u16_at = |at| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
    let u32_at = |at| u32::from(u16_at(at)) << 16 | u32::from(u16_at(at + 2));
    let mut segment = Segment {
        seq: Seq(u32_at(4)),
        ack: Seq(u32_at(8)),
        flags: Flags(u16_at(12) & FLAGS),
        ecn,
        window: u16_at(14),
        len: payload.len() as u32,
        ..Segment::default()
    };
    options::read(options, &mut segment)?;
    Ok(Parsed {
        addresses: Addresses::new(
            SocketAddr::new(source, u16_at(0)),
            SocketAddr::new(destination, u16_at(2)),
        )
        .expect("a packet's addresses are of one version"),
        segment,
        payload,
    })
}

/// Appends header and payload.
pub(super) fn write(
    packet: &mut Vec<u8>,
    addresses: &Addresses,
    segment: &Segment,
    payload: [&[u8]; 2],
) {
    let start = packet.len();
    let (source, destination) = (addresses.source(), addresses.destination());
    packet.extend_from_slice(&source.port().to_be_bytes());
    packet.extend_from_slice(&destination.port().to_be_bytes());
    packet.extend_from_slice(&segment.seq.0.to_be_bytes());
    packet.extend_from_slice(&segment.ack.0.to_be_bytes());
    let words = segment.header_bytes() / 4;
    let offset_and_flags = (words as u16) << 12 | segment.flags.0 & FLAGS;
    packet.extend_from_slice(&offset_and_flags.to_be_bytes());
    packet.extend_from_slice(&segment.window.to_be_bytes());
    // Checksum and urgent pointer.
    packet.extend_from_slice(&[0; 4]);
    options::write(packet, segment);
    for piece in payload {
        packet.extend_from_slice(piece);
    }
    let checksum = ip::tcp_checksum(source.ip(), destination.ip(), &packet[start..]);
    packet[start + CHECKSUM..][..2].copy_from_slice(&checksum);
}
