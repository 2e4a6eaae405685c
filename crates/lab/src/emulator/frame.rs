//! A packet in flight, and what the link's stages need to know about it.

use crate::tun::MTU;
use tidegate_link::{Ecn, Instant, Packet, Sequence};

/// IP protocol numbers.
const TCP: u8 = 6;
const UDP: u8 = 17;

/// TCP flags (RFC 9293 §3.1).
const FIN: u8 = 0x01;
const SYN: u8 = 0x02;

/// An IP packet and its place on its route.
pub struct Frame {
    pub bytes: Vec<u8>,
    /// When it came to the link that it is in.
    pub arrived: Instant,
    /// Number of its route.
    pub route: u32,
    /// How many links of the route it has entered so far.
    pub passed: u8,
}

impl Packet for Frame {
    fn wire_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// A hash of addresses, protocol and, if the packet has them, ports; and of the route, since hosts of different
    /// sites have the same addresses.
    fn flow(&self) -> u64 {
        let Some(ip) = Ip::parse(&self.bytes) else {
            return 0;
        };
        let ports = match ip.protocol {
            TCP | UDP => ip.payload.get(..4).unwrap_or_default(),
            _ => &[],
        };
        let bytes = ip.addresses.iter().chain(ports).chain([&ip.protocol]);
        // FNV-1a.
        bytes.fold(
            0xcbf2_9ce4_8422_2325 ^ u64::from(self.route),
            |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3),
        )
    }

    /// TCP's sequence numbers; none without data, SYN or FIN.
    fn sequence(&self) -> Option<Sequence> {
        let ip = Ip::parse(&self.bytes).filter(|ip| ip.protocol == TCP)?;
        let header = usize::from(ip.payload.get(12)? >> 4) * 4;
        let data = ip.payload.len().checked_sub(header)?;
        let flags = *ip.payload.get(13)?;
        let start = u32::from_be_bytes(ip.payload.get(4..8)?.try_into().ok()?);
        let opens = flags & SYN != 0;
        let length = data as u32 + u32::from(opens) + u32::from(flags & FIN != 0);
        (length > 0).then(|| Sequence {
            start,
            end: start.wrapping_add(length),
            opens,
        })
    }

    fn ecn(&self) -> Ecn {
        let class = match *self.bytes {
            [first, class, ..] if first >> 4 == 4 => class,
            // The traffic class is split across two bytes.
            [first, rest, ..] if first >> 4 == 6 => rest >> 4,
            _ => 0,
        };
        Ecn::from_bits(class)
    }

    fn mark(&mut self) {
        match *self.bytes.as_mut_slice() {
            [first, ref mut class, ..] if first >> 4 == 4 => {
                let before = *class;
                *class |= Ecn::Ce.bits();
                self.adjust_checksum(before.into(), (before | Ecn::Ce.bits()).into());
            }
            [first, ref mut rest, ..] if first >> 4 == 6 => *rest |= Ecn::Ce.bits() << 4,
            _ => {}
        }
    }

    fn duplicate(&self) -> Option<Self> {
        // All buffers have the same capacity, since the emulator reuses them.
        let mut bytes = Vec::with_capacity(MTU.max(self.bytes.len()));
        bytes.extend_from_slice(&self.bytes);
        Some(Self { bytes, ..*self })
    }
}

impl Frame {
    /// Updates IPv4's header checksum after one word has changed (RFC 1624 §3, equation 3).
    fn adjust_checksum(&mut self, before: u16, after: u16) {
        let Some(checksum) = self.bytes.get_mut(10..12) else {
            return;
        };
        let old = u16::from_be_bytes([checksum[0], checksum[1]]);
        let sum = u32::from(!old) + u32::from(!before) + u32::from(after);
        let folded = (sum & 0xffff) + (sum >> 16);
        let folded = (folded & 0xffff) + (folded >> 16);
        checksum.copy_from_slice(&(!(folded as u16)).to_be_bytes());
    }
}

/// The fields that identify a packet's flow, and its payload.
struct Ip<'a> {
    /// Source and destination.
    addresses: &'a [u8],
    protocol: u8,
    /// Empty in fragments: only the first has ports.
    payload: &'a [u8],
}

impl<'a> Ip<'a> {
    /// None if the packet is neither IPv4 nor IPv6, or too short.
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        match bytes.first()? >> 4 {
            4 => {
                let header = usize::from(bytes[0] & 0xf) * 4;
                let more_and_offset = u16::from_be_bytes(bytes.get(6..8)?.try_into().ok()?);
                let is_fragment = more_and_offset & 0x3fff != 0;
                Some(Self {
                    addresses: bytes.get(12..20)?,
                    protocol: *bytes.get(9)?,
                    payload: bytes.get(header..).filter(|_| !is_fragment).unwrap_or(&[]),
                })
            }
            // With an extension header, the protocol is that header's, and the ports are not read.
            6 => Some(Self {
                addresses: bytes.get(8..40)?,
                protocol: bytes[6],
                payload: &bytes[40..],
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
