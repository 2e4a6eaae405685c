//! A TCP segment as plain values, without its payload: what endpoints exchange in the simulator,
//! and what `wire` reads from and writes to bytes.

use std::fmt;
use tidegate_basics::ecn::Ecn;
use tidegate_basics::time::Instant;

/// A sequence number (RFC 9293 §3.4): 32 bits that wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seq(pub u32);

impl Seq {
    /// The stream offset nearest to `near` that has this sequence number, where offset 0 has the
    /// number `initial`. Inside the endpoint everything is an offset of 64 bits, which never wraps;
    /// offset 0 is the SYN, the first byte of data is 1. None before the SYN.
    pub fn offset(self, initial: Seq, near: u64) -> Option<u64> {
        let distance = self.0.wrapping_sub(initial.0.wrapping_add(near as u32)) as i32;
        near.checked_add_signed(distance.into())
    }

    /// The number of the byte at `offset`.
    pub fn at(initial: Seq, offset: u64) -> Seq {
        Seq(initial.0.wrapping_add(offset as u32))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Control bits (RFC 9293 §3.1; AE: RFC 9768 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Self = Self(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(0x02);
    /// Reset the connection.
    pub const RST: Self = Self(0x04);
    /// Push function.
    pub const PSH: Self = Self(0x08);
    /// The acknowledgement field is valid.
    pub const ACK: Self = Self(0x10);
    /// ECN-Echo, or ACE's lowest bit.
    pub const ECE: Self = Self(0x40);
    /// Congestion window reduced, or ACE's middle bit.
    pub const CWR: Self = Self(0x80);
    /// Accurate ECN, or ACE's highest bit.
    pub const AE: Self = Self(0x100);
    /// These three, which accurate ECN reads as one number.
    const ACE: Self = Self(0x1c0);

    /// Whether every bit of `other` is set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The three ECN flags as accurate ECN's number (RFC 9768 §3.2.2).
    pub const fn ace(self) -> u8 {
        ((self.0 & Self::ACE.0) >> 6) as u8
    }

    /// The same with the low three bits of `ace` as ECN flags.
    pub const fn with_ace(self, ace: u8) -> Self {
        Self(self.0 & !Self::ACE.0 | ((ace & 7) as u16) << 6)
    }
}

/// The timestamps option (RFC 7323 §3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval: the sender's clock.
    pub val: u32,
    /// TSecr: the TSval that this answers.
    pub ecr: u32,
}

impl Timestamps {
    /// The clock of ours, in milliseconds; wraps. Each connection adds an offset of its own.
    pub(crate) fn tick(now: Instant) -> u32 {
        (now.as_nanos() / 1_000_000) as u32
    }
}

/// Blocks of a SACK option (RFC 2018 §3), most recent first: [left edge, right edge).
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(Seq, Seq); Self::MAX],
    len: u8,
}

impl SackBlocks {
    /// As many as fit into a header's 40 bytes of options (without timestamps).
    pub const MAX: usize = 4;

    /// Adds a block, unless it is full; whether there was room.
    pub fn push(&mut self, left: Seq, right: Seq) -> bool {
        let Some(slot) = self.blocks.get_mut(usize::from(self.len)) else {
            return false;
        };
        *slot = (left, right);
        self.len += 1;
        true
    }

    /// The blocks.
    pub fn as_slice(&self) -> &[(Seq, Seq)] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

/// Options that only a SYN carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SynOptions {
    /// Largest payload that its sender takes (RFC 9293 §3.7.1), in bytes.
    pub mss: Option<u16>,
    /// Shift of the window field (RFC 7323 §2.2), at most 14.
    pub window_scale: Option<u8>,
    /// SACK-permitted (RFC 2018 §2).
    pub sack_permitted: bool,
    /// AFC-permitted: its sender tells and heeds read rates (AFC §4.2.1).
    pub afc_permitted: bool,
}

/// What adaptive flow control reports about an application. On the wire it is one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadReport {
    /// How fast it reads, in kbit/s; 24 bits are sent.
    pub kbps: u32,
    /// Segments that its host has refused for want of room so far, modulo 256: the paper's alternative
    /// to guessing which losses were the buffer's (AFC §4.1.2).
    pub refused: u8,
}

impl ReadReport {
    /// The fastest rate that can be told, in kbit/s.
    pub const MOST_KBPS: u32 = (1 << 24) - 1;

    /// From the wire's word.
    pub const fn from_word(word: u32) -> Self {
        Self {
            kbps: word & Self::MOST_KBPS,
            refused: (word >> 24) as u8,
        }
    }

    /// As the wire's word.
    pub fn word(self) -> u32 {
        u32::from(self.refused) << 24 | self.kbps.min(Self::MOST_KBPS)
    }
}

/// One segment; its payload is only counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Sequence number of the first byte, or of SYN or FIN.
    pub seq: Seq,
    /// Next sequence number expected from the peer, if ACK is set.
    pub ack: Seq,
    /// Control bits.
    pub flags: Flags,
    /// Window field as it is on the wire: not yet scaled.
    pub window: u16,
    /// ECN field of the IP header in front of it.
    pub ecn: Ecn,
    /// Payload in bytes.
    pub len: u32,
    /// Timestamps, if the connection uses them.
    pub timestamps: Option<Timestamps>,
    /// How the application at the segment's sender reads (AFC §4.2.1); never in a SYN.
    pub read_rate: Option<ReadReport>,
    /// SACK blocks.
    pub sack: SackBlocks,
    /// Options of a SYN.
    pub syn: SynOptions,
}

impl Segment {
    /// Bytes of header that a read rate takes.
    pub const READ_RATE_BYTES: usize = 8;

    /// Bytes of TCP header: 20 and the options, padded to a multiple of four as Linux pads them.
    pub fn header_bytes(&self) -> usize {
        let sack = match self.sack_on_wire() {
            [] => 0,
            blocks => 4 + 8 * blocks.len(),
        };
        20 + self.options_before_sack() + sack
    }

    /// The SACK blocks that the header has room for: three beside timestamps, one less beside a read rate, and none in
    /// a SYN, which acknowledges no data. A block yields to the rate because a later ACK brings it again (RFC 2018 §4),
    /// while without the rate there is no window.
    pub fn sack_on_wire(&self) -> &[(Seq, Seq)] {
        let blocks = self.sack.as_slice();
        let room = match self.flags.has(Flags::SYN) {
            true => 0,
            false => (40 - self.options_before_sack() - 4) / 8,
        };
        &blocks[..blocks.len().min(room)]
    }

    fn options_before_sack(&self) -> usize {
        let mut options = 12 * usize::from(self.timestamps.is_some());
        if self.flags.has(Flags::SYN) {
            options += 4 * usize::from(self.syn.mss.is_some());
            options += 4 * usize::from(self.syn.window_scale.is_some());
            // Linux puts SACK-permitted into the padding of the timestamps.
            options += 4 * usize::from(self.syn.sack_permitted && self.timestamps.is_none());
            options += 4 * usize::from(self.syn.afc_permitted);
        } else {
            options += Self::READ_RATE_BYTES * usize::from(self.read_rate.is_some());
        }
        options
    }

    /// Sequence numbers that it takes: payload, SYN and FIN.
    pub fn seq_len(&self) -> u32 {
        self.len + u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN))
    }
}
