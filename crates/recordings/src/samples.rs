//! Samples of a time series: a rate, and when it began.

/// A row of a time series.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Its position: a line from 1, or another number by which it can be found.
    pub line: u64,
    /// When it begins, in nanoseconds.
    pub at_ns: i128,
    /// When it ends, if the file says so.
    pub until_ns: Option<i128>,
    /// The rate in bit/s; none if nothing was measured.
    pub bps: Option<f64>,
    /// Its session, if the file says so.
    pub session: String,
}
