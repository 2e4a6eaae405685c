//! How a download recovers from a change, read from its curves.

use super::change::{AT_S, Change};
use super::contenders::Contender;
use crate::means::mean;
use crate::spans::{BIN_S, Span};
use tidegate_measure::quantiles;
use tidegate_study::Sample;

/// Window of the throughput, in seconds: over shorter windows a cell's scheduler alone moves it.
const WINDOW_S: f64 = 0.5;
const CELL_WINDOW_S: f64 = 2.0;

/// Share of the reference's throughput that counts as recovered.
const RECOVERED: f64 = 0.9;

/// A queue counts as drained if its delay is at most this multiple of the reference's 95th percentile, or at most this
/// in milliseconds.
const DRAINED: f64 = 1.5;
const SHORT_MS: f64 = 20.0;

/// How long a recovery must last, in seconds.
const STAYS_S: f64 = 2.0;

/// Longest recovery that is told apart, in seconds: a longer one counts as this.
pub const HORIZON_S: f64 = 20.0;

/// Capacity lost is counted over the ten seconds after the change.
const LOSS: Span = Span(AT_S, AT_S + 10.0);

/// A later minute: whatever a law has begun by then, such as competing with a queue that is its own, still goes on.
const LATER: Span = Span(AT_S + 60.0, AT_S + 120.0);

/// The seconds compared with the reference; and those needed to see that a recovery lasts.
const COUNTED: Span = Span(AT_S, AT_S + HORIZON_S);
const SEEN: Span = Span(AT_S, AT_S + HORIZON_S + STAYS_S);

/// A download's recovery from a change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aftermath {
    /// Seconds until throughput is back.
    pub back_s: f64,
    /// Seconds until the queue is drained.
    pub drained_s: f64,
    /// Capacity not used in the ten seconds after the change, in seconds of the link.
    pub lost_s: f64,
    /// The longest mean queueing delay in a bin, in milliseconds.
    pub peak_ms: f64,
    /// Mean queueing delay of the second minute after the change, minus the reference's, in milliseconds.
    pub left_ms: f64,
}

impl Aftermath {
    /// The recovery of `contender`'s download, mean over the seeds.
    pub fn of(sample: &Sample, contender: Contender, change: &Change) -> Self {
        let window_s = if change.kind.is_cell() {
            CELL_WINDOW_S
        } else {
            WINDOW_S
        };
        let (case, reference) = (change.by(contender), change.reference(contender));
        let pairs = |quantity| {
            let ours = sample.curves(&case, quantity);
            ours.zip(sample.curves(&reference, quantity))
        };
        let throughput = pairs("delivered_bps");
        let queue = pairs("queue_delay_ms");
        Self {
            back_s: mean(throughput.map(|(ours, wanted)| back_s(&ours, &wanted, window_s))),
            drained_s: mean(queue.map(|(ours, usual)| drained_s(&ours, &usual))),
            lost_s: LOSS.lost_s(sample, &case),
            peak_ms: COUNTED.peak(sample, &case, "queue_delay_ms"),
            left_ms: mean(
                pairs("queue_delay_ms")
                    .map(|(ours, usual)| mean(LATER.values(&ours)) - mean(LATER.values(&usual))),
            ),
        }
    }
}

/// Seconds until nearly as much is delivered as `wanted`.
fn back_s(delivered: &[(f64, f64)], wanted: &[(f64, f64)], window_s: f64) -> f64 {
    let bins = (SEEN.length_s() / BIN_S).round() as usize;
    lasting_from_s((1..=bins).map(|n| {
        let t = n as f64 * BIN_S;
        let window = Span(AT_S + t - window_s, AT_S + t);
        let sum = |curve| window.values(curve).sum::<f64>();
        (t, sum(delivered) >= RECOVERED * sum(wanted))
    }))
}

/// Seconds until the queue is as short as the reference's `usual` one. Bins without a delivery say nothing.
fn drained_s(queue: &[(f64, f64)], usual: &[(f64, f64)]) -> f64 {
    let usual = quantiles(COUNTED.values(usual).collect());
    let level = (DRAINED * usual.p95).max(SHORT_MS);
    let delays = SEEN.points(queue);
    lasting_from_s(delays.map(|(t, ms)| (t - AT_S + BIN_S, ms <= level)))
}

/// From when on everything is well for as long as a recovery must last. `ends` are the times at which bins end, in
/// order, and whether each bin was well. 0 if nothing was ever wrong.
fn lasting_from_s(ends: impl Iterator<Item = (f64, bool)>) -> f64 {
    let mut from_s = 0.0;
    for (end_s, well) in ends {
        if !well {
            from_s = end_s;
        } else if end_s - from_s > STAYS_S - BIN_S / 2.0 {
            break;
        }
    }
    from_s.min(HORIZON_S)
}

#[cfg(test)]
mod tests;
