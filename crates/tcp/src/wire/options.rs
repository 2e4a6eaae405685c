//! TCP options: read in any order, written in Linux's.
//!
//! Unknown options are skipped. An illegal length makes the whole segment malformed; Linux's `tcp_parse_options`
//! ignores that option instead, and all that follow if it cannot tell where they begin. RFC 9293 §3.1 (MUST-7) leaves
//! both open, and a peer that sends such options is broken or hostile.

use super::Malformed;
use crate::{Flags, ReadReport, SackBlocks, Segment, Seq, Timestamps};

/// End of the option list (RFC 9293 §3.2), as the following where no other RFC is named.
const END: u8 = 0;
/// Padding.
const NOP: u8 = 1;
/// Maximum segment size.
const MSS: u8 = 2;
/// Window scale (RFC 7323 §2.2).
const WINDOW_SCALE: u8 = 3;
/// SACK-permitted (RFC 2018 §2).
const SACK_PERMITTED: u8 = 4;
/// SACK (RFC 2018 §3).
const SACK: u8 = 5;
/// Timestamps (RFC 7323 §3.2).
const TIMESTAMPS: u8 = 8;
/// An experiment, with its identifier (RFC 6994). Not 254, which Linux looks into for others.
const EXPERIMENT: u8 = 253;
/// Adaptive flow control's identifier; it is not registered with IANA. In a SYN it stands alone and
/// means AFC-permitted, in others a word follows: in its low 24 bits the read rate in kbit/s (AFC §4.2.1),
/// above them the number of segments refused for want of room.
const AFC: [u8; 2] = [0xaf, 0xc0];

/// Reads a header's options into `segment`, whose flags are known.
pub(super) fn read(mut options: &[u8], segment: &mut Segment) -> Result<(), Malformed> {
    loop {
        match *options {
            [] | [END, ..] => return Ok(()),
            [NOP, ref rest @ ..] => options = rest,
            [kind] => return Err(Malformed::Option { kind, len: 0 }),
            [kind, len, ref rest @ ..] => {
                let illegal = Malformed::Option { kind, len };
                let value = usize::from(len).checked_sub(2).ok_or(illegal)?;
                let (value, rest) = rest.split_at_checked(value).ok_or(illegal)?;
                read_one(kind, value, segment).ok_or(illegal)?;
                options = rest;
            }
        }
    }
}

/// None if the length is illegal. Of repeated options the last counts, as in Linux.
fn read_one(kind: u8, value: &[u8], segment: &mut Segment) -> Option<()> {
    let syn = segment.flags.has(Flags::SYN);
    match kind {
        MSS => {
            let mss = u16::from_be_bytes(value.try_into().ok()?);
            // A value of 0 makes no sense: Linux ignores it too.
            if syn && mss != 0 {
                segment.syn.mss = Some(mss);
            }
        }
        WINDOW_SCALE => {
            let [shift] = value.try_into().ok()?;
            if syn {
                segment.syn.window_scale = Some(shift);
            }
        }
        SACK_PERMITTED => {
            let [] = value.try_into().ok()?;
            segment.syn.sack_permitted |= syn;
        }
        SACK => {
            let blocks = sack_blocks(value)?;
            if !syn {
                segment.sack = blocks;
            }
        }
        TIMESTAMPS => {
            let value: [u8; 8] = value.try_into().ok()?;
            let (val, ecr) = halves(value);
            segment.timestamps = Some(Timestamps { val, ecr });
        }
        EXPERIMENT => read_experiment(value, segment),
        _ => {}
    }
    Some(())
}

/// A length other than ours is not illegal but another experiment's with the same identifier
/// (RFC 6994 §3.1).
fn read_experiment(value: &[u8], segment: &mut Segment) {
    let syn = segment.flags.has(Flags::SYN);
    match (value.strip_prefix(&AFC), syn) {
        (Some([]), true) => segment.syn.afc_permitted = true,
        (Some(&[a, b, c, d]), false) => {
            let word = u32::from_be_bytes([a, b, c, d]);
            segment.read_rate = Some(ReadReport::from_word(word));
        }
        _ => {}
    }
}

fn sack_blocks(value: &[u8]) -> Option<SackBlocks> {
    let (edges, rest) = value.as_chunks::<8>();
    let mut blocks = SackBlocks::default();
    for &edges in edges {
        let (left, right) = halves(edges);
        if !blocks.push(Seq(left), Seq(right)) {
            return None;
        }
    }
    (rest.is_empty() && !blocks.is_empty()).then_some(blocks)
}

/// Two words.
fn halves(bytes: [u8; 8]) -> (u32, u32) {
    let both = u64::from_be_bytes(bytes);
    ((both >> 32) as u32, both as u32)
}

/// Appends the options where Linux's `tcp_options_write` has them, padded with NOPs in front:
/// [`Segment::header_bytes`] less 20.
pub(super) fn write(packet: &mut Vec<u8>, segment: &Segment) {
    let syn = segment.syn;
    let is_syn = segment.flags.has(Flags::SYN);
    let permitted = is_syn && syn.sack_permitted;
    if let Some(mss) = syn.mss.filter(|_| is_syn) {
        packet.extend_from_slice(&[MSS, 4]);
        packet.extend_from_slice(&mss.to_be_bytes());
    }
    if let Some(timestamps) = segment.timestamps {
        // SACK-permitted takes the place of the padding.
        let before = if permitted {
            [SACK_PERMITTED, 2]
        } else {
            [NOP; 2]
        };
        packet.extend_from_slice(&before);
        packet.extend_from_slice(&[TIMESTAMPS, 10]);
        packet.extend_from_slice(&timestamps.val.to_be_bytes());
        packet.extend_from_slice(&timestamps.ecr.to_be_bytes());
    } else if permitted {
        packet.extend_from_slice(&[NOP, NOP, SACK_PERMITTED, 2]);
    }
    if let Some(shift) = syn.window_scale.filter(|_| is_syn) {
        packet.extend_from_slice(&[NOP, WINDOW_SCALE, 3, shift]);
    }
    write_sack(packet, segment.sack_on_wire());
    // Last, for readers that stop at an unknown option.
    write_afc(packet, segment);
}

fn write_afc(packet: &mut Vec<u8>, segment: &Segment) {
    let [high, low] = AFC;
    if segment.flags.has(Flags::SYN) {
        if segment.syn.afc_permitted {
            packet.extend_from_slice(&[EXPERIMENT, 4, high, low]);
        }
    } else if let Some(report) = segment.read_rate {
        packet.extend_from_slice(&[EXPERIMENT, Segment::READ_RATE_BYTES as u8, high, low]);
        packet.extend_from_slice(&report.word().to_be_bytes());
    }
}

fn write_sack(packet: &mut Vec<u8>, blocks: &[(Seq, Seq)]) {
    if blocks.is_empty() {
        return;
    }
    packet.extend_from_slice(&[NOP, NOP, SACK, 2 + 8 * blocks.len() as u8]);
    for (left, right) in blocks {
        packet.extend_from_slice(&left.0.to_be_bytes());
        packet.extend_from_slice(&right.0.to_be_bytes());
    }
}
