//! What a time series has: a rate, and from when on it was so.

/// A row of a time series.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Where it stands: a line from 1, or another number by which it is found.
    pub line: u64,
    /// From when on, in nanoseconds.
    pub at_ns: i128,
    /// Until when, where that is written there.
    pub until_ns: Option<i128>,
    /// What was measured, in bit/s; none where nothing was.
    pub bps: Option<f64>,
    /// Which session it belongs to, where that is written there.
    pub session: String,
}
