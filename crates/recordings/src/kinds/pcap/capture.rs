//! Records of a capture, one after another.

use super::packet::{Seen, is_known, seen};
use super::{Position, refused};
use crate::Refused;
use pcap_parser::pcapng::{Block, InterfaceDescriptionBlock};
use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{Linktype, PcapBlockOwned, PcapError, create_reader};
use std::io::Read;

/// Buffer in bytes at first, and at most: no packet is larger, and neither are blocks with names or secrets.
const ROOM: usize = 1 << 17;
const MOST_ROOM: usize = 16 << 20;

/// Advice for a capture that ends within a packet.
const CUT_OFF: &str = "the file ends within it, expected a whole packet; \
                       was the capture stopped by a full disk or a kill? editcap FILE WHOLE writes what is whole";

/// An interface of a capture.
#[derive(Clone, Copy)]
struct Interface {
    link: Linktype,
    /// Units of its timestamps in a second.
    units: u128,
    /// Seconds that are added to them.
    offset_s: i64,
}

/// Hands each packet over: its time in nanoseconds, its position in the file, and its contents.
pub fn packets(
    from: impl Read + Send,
    mut each: impl FnMut(i128, Position, Option<Seen>),
) -> Result<(), Refused> {
    let mut reader = create_reader(ROOM, from).map_err(not_a_capture)?;
    let mut interfaces: Vec<Interface> = Vec::new();
    let (mut number, mut byte, mut room) = (1, 0, ROOM);
    loop {
        match reader.next() {
            Ok((size, block)) => {
                let position = (number, byte);
                if let Some((at_ns, packet)) = take(block, &mut interfaces, position)? {
                    each(at_ns, position, packet);
                    number += 1;
                }
                byte += size as u64;
                reader.consume(size);
            }
            Err(PcapError::Eof) => return Ok(()),
            Err(PcapError::Incomplete(_)) => {
                let failed = reader.refill().is_err();
                if failed {
                    return Err(refused((number, byte), "it cannot be read".into()));
                }
            }
            Err(PcapError::BufferTooSmall) if room < MOST_ROOM => {
                room *= 2;
                reader.grow(room);
            }
            Err(PcapError::UnexpectedEof) => return Err(refused((number, byte), CUT_OFF.into())),
            Err(_) => {
                let message =
                    "expected a record of a capture, found other bytes; is the file damaged?";
                return Err(refused((number, byte), message.into()));
            }
        }
    }
}

fn not_a_capture(error: PcapError<&[u8]>) -> Refused {
    Refused::whole(match error {
        PcapError::Incomplete(_) | PcapError::UnexpectedEof => {
            "the file ends within its header, expected a capture"
        }
        _ => "expected a capture (pcap or pcapng), found another header; is it compressed?",
    })
}

/// Handles a block: hands over a packet, or records what the block says of later ones.
fn take(
    block: PcapBlockOwned<'_>,
    interfaces: &mut Vec<Interface>,
    position: Position,
) -> Result<Option<(i128, Option<Seen>)>, Refused> {
    match block {
        PcapBlockOwned::LegacyHeader(header) => {
            let units = if header.is_nanosecond_precision() {
                1_000_000_000
            } else {
                1_000_000
            };
            add(interfaces, header.network, units, 0, position)?;
            Ok(None)
        }
        PcapBlockOwned::Legacy(packet) => {
            let interface = one(interfaces, 0, position)?;
            let units = u128::from(packet.ts_sec) * interface.units + u128::from(packet.ts_usec);
            let data = captured(packet.data, packet.caplen);
            let packet = seen(interface.link, data, packet.origlen.into());
            Ok(Some((interface.at_ns(units), packet)))
        }
        PcapBlockOwned::NG(block) => take_ng(block, interfaces, position),
    }
}

fn take_ng(
    block: Block<'_>,
    interfaces: &mut Vec<Interface>,
    position: Position,
) -> Result<Option<(i128, Option<Seen>)>, Refused> {
    match block {
        // Each section describes its interfaces anew.
        Block::SectionHeader(_) => interfaces.clear(),
        Block::InterfaceDescription(description) => {
            let units = units(&description).ok_or_else(|| {
                let found = description.if_tsresol;
                refused(
                    position,
                    format!("a resolution of time of {found:#x}, expected one that 64 bits hold"),
                )
            })?;
            add(
                interfaces,
                description.linktype,
                units,
                description.if_tsoffset,
                position,
            )?;
        }
        Block::EnhancedPacket(packet) => {
            let interface = one(interfaces, packet.if_id as usize, position)?;
            let units = (u128::from(packet.ts_high) << 32) | u128::from(packet.ts_low);
            let data = captured(packet.packet_data(), packet.caplen);
            let packet = seen(interface.link, data, packet.origlen.into());
            return Ok(Some((interface.at_ns(units), packet)));
        }
        Block::SimplePacket(_) => {
            let message = "a packet without a time (Simple Packet Block), expected packets with times; capture it as pcap";
            return Err(refused(position, message.into()));
        }
        _ => {}
    }
    Ok(None)
}

/// A packet's captured bytes, without padding.
fn captured(data: &[u8], length: u32) -> &[u8] {
    &data[..data.len().min(length as usize)]
}

fn add(
    interfaces: &mut Vec<Interface>,
    link: Linktype,
    units: u128,
    offset_s: i64,
    position: Position,
) -> Result<(), Refused> {
    if !is_known(link) {
        let message = format!(
            "link type {}, expected Ethernet, Linux cooked, raw IP or loopback; capture on the IP side",
            link.0
        );
        return Err(refused(position, message));
    }
    interfaces.push(Interface {
        link,
        units,
        offset_s,
    });
    Ok(())
}

fn one(interfaces: &[Interface], index: usize, position: Position) -> Result<Interface, Refused> {
    let found = interfaces.get(index).copied();
    found.ok_or_else(|| {
        let message = format!(
            "interface {index} was not described before, expected one of {}",
            interfaces.len()
        );
        refused(position, message)
    })
}

impl Interface {
    fn at_ns(&self, units: u128) -> i128 {
        let seconds = (units / self.units) as i128 + i128::from(self.offset_s);
        let rest = (units % self.units) * 1_000_000_000 / self.units;
        seconds * 1_000_000_000 + rest as i128
    }
}

/// Timestamp units in a second: a power of ten, or of two if the highest bit is set. `pcap-parser` refuses all powers
/// of two.
fn units(description: &InterfaceDescriptionBlock<'_>) -> Option<u128> {
    let resolution = description.if_tsresol;
    let power = u32::from(resolution & 0x7f);
    match resolution & 0x80 {
        0 => 10_u128.checked_pow(power),
        _ => 1_u128.checked_shl(power),
    }
    .filter(|units| *units <= u128::from(u64::MAX))
}
