//! What the two ends tell each other.

use std::time::Duration;

/// A path of one connection, for as long as the connection lasts: a proxy that is used again is
/// another path, so that nothing of its past is taken for news. The direct path is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u32);

impl PathId {
    /// The path without a proxy.
    pub const DIRECT: Self = Self(0);
}

/// A packet of the stream, without its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// The path that it takes.
    pub path: PathId,
    /// Its number on the path, from 0: what shows losses.
    pub path_seq: u64,
    /// Its number in the stream, from 0: what restores order. A retransmission has the same.
    pub stream: u64,
    /// τ: how long to wait for what is missing before asking for it. Whole milliseconds on the wire.
    pub patience: Duration,
    /// Whether the stream ends with it.
    pub fin: bool,
}

/// What the receiver tells the sender, always by the direct way (section 3.1.2). ACK, SNACK and PNACK
/// of the thesis are this one packet: with reports alone, with `missing`, with `lost`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Feedback {
    /// Number in the stream of the first packet that is missing.
    pub next: u64,
    /// Numbers in the stream below this one may be sent.
    pub limit: u64,
    /// Paths on which something has come.
    pub reports: Vec<PathReport>,
    /// PNACK: what is missing on paths, told once.
    pub lost: Vec<PathGap>,
    /// SNACK: what is missing of the stream and has been waited for long enough.
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
    /// Largest number on the path that has come.
    pub largest: u64,
    /// Numbers below it that have not come. A late one takes itself off again.
    pub lost: u64,
    /// How long ago the largest came. Whole microseconds on the wire.
    pub delay: Duration,
}

/// Numbers that have not come.
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

/// Numbers on a path that have not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathGap {
    /// The path.
    pub path: PathId,
    /// The numbers.
    pub gap: Gap,
}
