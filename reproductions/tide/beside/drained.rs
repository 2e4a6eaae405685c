//! When the queue that the other leaves behind has drained.

use super::{DURATION_S, END_S};
use crate::means::mean;
use crate::spans::Span;

/// The queue has drained when its delay, over a second, is back at this multiple of the delay without the other, or at
/// this many milliseconds.
const MULTIPLE: f64 = 2.0;
const LEAST_MS: f64 = 20.0;

/// The delay in milliseconds of a drained queue, from the mean delay without the other.
pub fn level_ms(alone_ms: f64) -> f64 {
    LEAST_MS.max(MULTIPLE * alone_ms)
}

/// Seconds from when the other's last packet leaves the queue until the queue has drained, from the curve of queueing
/// delays in ms. If it never does, or if no later packet ever leaves: until the end.
pub fn drained_s(curve: &[(f64, f64)], level_ms: f64) -> f64 {
    let sent_after_end = |&(at, delay): &(f64, f64)| at - delay / 1e3 >= END_S;
    let left = curve.iter().position(sent_after_end);
    let after = &curve[left.unwrap_or(curve.len())..];
    let is_low = |from: f64| mean(Span(from, from + 1.0).values(after)) <= level_ms;
    let from = after.first().map_or(END_S, |p| p.0);
    let drained = after.iter().map(|p| p.0).find(|&at| is_low(at));
    drained.unwrap_or(DURATION_S) - from
}

#[cfg(test)]
mod tests;
