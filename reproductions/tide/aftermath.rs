//! How a download fares after a change, read from its curves.

use super::change::{AT_S, Change};
use super::contenders::Contender;
use super::score::mean;
use tidegate_reproduce::Sample;

/// What has to be read, in bins of a tenth of a second.
pub const CURVES: [&str; 3] = ["delivered_bps", "capacity_bps", "queue_delay_ms"];
const BINS_A_SECOND: f64 = 10.0;

/// Throughput is taken over windows that long, in seconds: on a cell the scheduler alone moves it in
/// shorter ones.
const WINDOW_S: f64 = 0.5;
const CELL_WINDOW_S: f64 = 2.0;

/// Share of what the reference carries that counts as recovered.
const RECOVERED: f64 = 0.9;

/// A queue that is at most so much longer than the reference's at this quantile, or no longer than
/// this in milliseconds, has been drained.
const DRAINED: f64 = 1.5;
const QUANTILE: f64 = 0.95;
const SHORT_MS: f64 = 20.0;

/// What is over has to stay over for that long, in seconds.
const STAYS_S: f64 = 2.0;

/// What takes longer is called that long, in seconds.
const HORIZON_S: f64 = 20.0;

/// The capacity lost is that of so many seconds after the change.
const LOSS_S: f64 = 10.0;

/// How a download fares after a change.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aftermath {
    /// Seconds until throughput is back.
    pub back_s: f64,
    /// Seconds until the queue is drained.
    pub drained_s: f64,
    /// What was not carried in the ten seconds after, as seconds of the link.
    pub lost_s: f64,
    /// The longest mean queueing delay in a bin, in milliseconds.
    pub peak_ms: f64,
}

impl Aftermath {
    /// What became of `contender`'s download, the mean over the seeds.
    pub fn of(sample: &Sample, contender: Contender, change: &Change) -> Self {
        let window_s = if change.kind.is_cell() {
            CELL_WINDOW_S
        } else {
            WINDOW_S
        };
        let curves = |case: &str| {
            let [delivered, capacity, queue] = CURVES.map(|curve| sample.curves(case, curve));
            delivered.zip(capacity).zip(queue)
        };
        let references = curves(&change.reference(contender));
        let seeds: Vec<Self> = curves(&change.on(contender))
            .zip(references)
            .map(|(ours, reference)| {
                let ((delivered, capacity), queue) = ours;
                let ((wanted, _), usual) = reference;
                Self {
                    back_s: back_s(&delivered, &wanted, window_s),
                    drained_s: drained_s(&queue, &usual),
                    lost_s: lost_s(&delivered, &capacity),
                    peak_ms: after(&queue, HORIZON_S).map(|p| p.1).fold(0.0, f64::max),
                }
            })
            .collect();
        let of = |read: fn(&Self) -> f64| mean(seeds.iter().map(read));
        Self {
            back_s: of(|a| a.back_s),
            drained_s: of(|a| a.drained_s),
            lost_s: of(|a| a.lost_s),
            peak_ms: of(|a| a.peak_ms),
        }
    }
}

/// The sum of a curve's values between two times in seconds; it has a point for every bin from the
/// start.
fn sum(curve: &[(f64, f64)], from_s: f64, to_s: f64) -> f64 {
    let to = bin(to_s).min(curve.len());
    curve[bin(from_s).min(to)..to].iter().map(|p| p.1).sum()
}

/// Seconds of the link that were not used of those that count.
fn lost_s(delivered: &[(f64, f64)], capacity: &[(f64, f64)]) -> f64 {
    let [used, there] = [delivered, capacity].map(|curve| sum(curve, AT_S, AT_S + LOSS_S));
    LOSS_S * (1.0 - used / there)
}

/// Until as much is delivered as `wanted`, nearly.
fn back_s(delivered: &[(f64, f64)], wanted: &[(f64, f64)], window_s: f64) -> f64 {
    let times = (1..=bin(HORIZON_S + STAYS_S)).map(|n| n as f64 / BINS_A_SECOND);
    lasting_from_s(times.map(|t| {
        let end_s = AT_S + t;
        let window = |curve| sum(curve, end_s - window_s, end_s);
        (t, window(delivered) >= RECOVERED * window(wanted))
    }))
}

/// The bin that begins at that time in seconds.
fn bin(at_s: f64) -> usize {
    (at_s * BINS_A_SECOND).round() as usize
}

/// The points of the `seconds` after the change, in seconds after it.
fn after(curve: &[(f64, f64)], seconds: f64) -> impl Iterator<Item = (f64, f64)> {
    curve
        .iter()
        .map(|&(t, value)| (t - AT_S, value))
        .filter(move |p| (0.0..seconds).contains(&p.0))
}

/// Until the queue is as the reference's is `usual`ly; nothing is known of bins in which nothing came
/// out.
fn drained_s(queue: &[(f64, f64)], usual: &[(f64, f64)]) -> f64 {
    let mut usual: Vec<f64> = after(usual, HORIZON_S).map(|p| p.1).collect();
    usual.sort_by(f64::total_cmp);
    let quantile = usual[(QUANTILE * (usual.len() - 1) as f64).round() as usize];
    let level = (DRAINED * quantile).max(SHORT_MS);
    let delays = after(queue, HORIZON_S + STAYS_S);
    lasting_from_s(delays.map(|(t, ms)| (t + 1.0 / BINS_A_SECOND, ms <= level)))
}

/// From when on everything is well for as long as it has to stay so; `ends` are seconds at which
/// something ended, in order, and whether it was well. 0 if nothing was ever wrong.
fn lasting_from_s(ends: impl Iterator<Item = (f64, bool)>) -> f64 {
    let mut from_s = 0.0;
    for (end_s, well) in ends {
        if !well {
            from_s = end_s;
        } else if end_s - from_s >= STAYS_S {
            break;
        }
    }
    from_s.min(HORIZON_S)
}

#[cfg(test)]
mod tests;
