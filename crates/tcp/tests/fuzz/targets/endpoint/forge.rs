//! Forged segments, close to correct ones. Their data are the stream's own bytes.

use super::side::Side;
use crate::targets::input::{Input, bytes};
use tidegate_tcp::wire;
use tidegate_tcp::{Flags, ReadReport, Segment, Seq, SynOptions, Timestamps};

/// A packet to `to`, seemingly from `from`.
pub fn forge(to: &Side, from: &Side, input: &mut Input) -> Option<Vec<u8>> {
    let (next, una) = to
        .connection()
        .map_or((0, 0), |c| (c.receiver().next(), c.sender().una()));
    let theirs = |offset: u64| Seq::at(from.config.initial_seq, offset);
    let ours = |offset: u64| Seq::at(to.config.initial_seq, offset);
    let offset = next.saturating_add_signed(near(input)?);
    let mut segment = Segment {
        seq: theirs(offset),
        ack: ours(una.saturating_add_signed(near(input)?)),
        flags: Flags(input.u8()?.into()),
        window: input.u16()?,
        len: input.u8()?.into(),
        ..Segment::default()
    };
    let options = input.u8()?;
    if options & 1 == 0 {
        segment.timestamps = Some(Timestamps {
            val: input.u32()?,
            ecr: input.u32()?,
        });
    }
    for _ in 0..options >> 1 & 3 {
        let left = una.saturating_add_signed(near(input)?);
        segment
            .sack
            .push(ours(left), ours(left.saturating_add_signed(near(input)?)));
    }
    segment.syn = SynOptions {
        mss: (options & 8 != 0).then_some(1).or(Some(input.u16()?)),
        window_scale: (options & 16 != 0).then_some(options),
        sack_permitted: options & 32 != 0,
        afc_permitted: options & 64 != 0,
    };
    if options & 128 != 0 {
        segment.read_rate = Some(ReadReport::from_word(input.u32()?));
    }
    let syn = u64::from(segment.flags.has(Flags::SYN));
    let payload = bytes(offset + syn, segment.len as usize);
    let mut packet = Vec::new();
    wire::write(
        &mut packet,
        &to.addresses.reversed(),
        &segment,
        [&payload, &[]],
    );
    Some(packet)
}

/// A small distance more often than a large one.
fn near(input: &mut Input) -> Option<i64> {
    let value = i64::from(input.u16()? as i16);
    let shift = input.u8()? & 15;
    Some(if shift == 15 {
        value << 16
    } else {
        value >> shift
    })
}
