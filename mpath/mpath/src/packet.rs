//! The packets that the two ends exchange.

use std::time::Duration;

/// A path of one connection, for as long as the connection lasts: a proxy that is used again becomes another path, so
/// that packets from its past are not taken for new ones. The direct path is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u32);

impl PathId {
    /// The path without a proxy.
    pub const DIRECT: Self = Self(0);
}

/// A packet of the stream, without its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// The path on which it is sent.
    pub path: PathId,
    /// Its number on the path, from 0: it shows losses.
    pub path_seq: u64,
    /// Its number in the stream, from 0: it restores order. A retransmission has the same.
    pub stream: u64,
    /// τ: how long to wait for missing packets before asking for them. Whole milliseconds on the wire.
    pub patience: Duration,
    /// Whether the stream ends with it.
    pub fin: bool,
}

/// The receiver's message to the sender, always on the direct path (section 3.1.2). ACK, SNACK and PNACK of the thesis
/// are this one packet: with reports alone, with `missing`, with `lost`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    /// Number in the stream of the first packet that is missing.
    pub next: u64,
    /// Numbers in the stream below this one may be sent.
    pub limit: u64,
    /// Paths on which a packet has arrived.
    pub reports: Vec<PathReport>,
    /// PNACK: numbers missing on paths, each told once.
    pub lost: Vec<PathGap>,
    /// SNACK: numbers missing in the stream that the receiver has awaited long enough.
    pub missing: Vec<Gap>,
}

impl Feedback {
    /// Most reports, and most gaps of either kind, in one packet: with all of them it still fits into
    /// 1280 bytes, which every IPv6 link carries.
    pub const REPORTS: usize = 16;
    /// See [`Self::REPORTS`].
    pub const GAPS: usize = 16;
}

/// The state of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathReport {
    /// Which one.
    pub path: PathId,
    /// Largest number on the path that has arrived.
    pub largest: u64,
    /// Numbers below it that have not arrived. When a late one arrives it is subtracted again.
    pub lost: u64,
    /// How long ago the packet with the largest number arrived. Whole microseconds on the wire.
    pub delay: Duration,
}

/// Numbers that have not arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The first of them.
    pub first: u64,
    /// How many.
    pub count: u32,
}

impl Gap {
    /// The number after the last.
    pub fn end(&self) -> u64 {
        self.first.saturating_add(self.count.into())
    }
}

/// Numbers on a path that have not arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathGap {
    /// The path.
    pub path: PathId,
    /// The numbers.
    pub gap: Gap,
}
