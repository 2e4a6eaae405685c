//! How a download fares after a change, read from its curves.

use super::change::{AT_S, Change};
use super::contenders::Contender;
use super::score::mean;
use tidegate_reproduce::Sample;

/// What has to be read, in bins of a tenth of a second.
pub const CURVES: [&str; 3] = ["delivered_bps", "capacity_bps", "queue_delay_ms"];
const BINS_A_SECOND: f64 = 10.0;

/// What came before is averaged over as much, in seconds.
const BEFORE_S: f64 = 10.0;

/// Throughput is taken over windows that long, in seconds: on a cell the scheduler alone moves it in
/// shorter ones.
const WINDOW_S: f64 = 0.5;
const CELL_WINDOW_S: f64 = 2.0;

/// Share of the utilisation before that counts as recovered.
const RECOVERED: f64 = 0.9;

/// A queue that is so much longer than before, or no longer than this in milliseconds, has been
/// drained.
const DRAINED: f64 = 1.5;
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
    /// Seconds until the queue is as before.
    pub drained_s: f64,
    /// What was not carried in the ten seconds after, as seconds of the link.
    pub lost_s: f64,
    /// The longest mean queueing delay in a bin, in milliseconds.
    pub peak_ms: f64,
}

impl Aftermath {
    /// What became of `contender`'s download, the mean over the seeds.
    pub fn of(sample: &Sample, contender: Contender, change: &Change) -> Self {
        let case = change.on(contender);
        let window_s = if change.kind.is_cell() {
            CELL_WINDOW_S
        } else {
            WINDOW_S
        };
        let [delivered, capacity, queue] = CURVES.map(|curve| sample.curves(&case, curve));
        let seeds: Vec<Self> = delivered
            .zip(capacity)
            .zip(queue)
            .map(|((delivered, capacity), queue)| {
                let flow = Throughput::new(&delivered, &capacity);
                Self {
                    back_s: flow.back_s(window_s),
                    drained_s: drained_s(&queue),
                    lost_s: flow.lost_s(),
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

/// What came out of a link and what it could have carried, bin by bin from the start, in any unit.
struct Throughput {
    delivered: Vec<f64>,
    capacity: Vec<f64>,
}

impl Throughput {
    fn new(delivered: &[(f64, f64)], capacity: &[(f64, f64)]) -> Self {
        let values = |curve: &[(f64, f64)]| curve.iter().map(|p| p.1).collect();
        Self {
            delivered: values(delivered),
            capacity: values(capacity),
        }
    }

    /// Share of the capacity that was used between two times in seconds; all of it where there was
    /// none.
    fn utilisation(&self, from_s: f64, to_s: f64) -> f64 {
        let sum = |values: &[f64]| -> f64 {
            let to = bin(to_s).min(values.len());
            values[bin(from_s).min(to)..to].iter().sum()
        };
        let capacity = sum(&self.capacity);
        if capacity > 0.0 {
            sum(&self.delivered) / capacity
        } else {
            1.0
        }
    }

    fn back_s(&self, window_s: f64) -> f64 {
        let enough = RECOVERED * self.utilisation(AT_S - BEFORE_S, AT_S);
        let times = (1..=bin(HORIZON_S + STAYS_S)).map(|n| n as f64 / BINS_A_SECOND);
        lasting_from_s(times.map(|t| {
            let end = AT_S + t;
            (t, self.utilisation(end - window_s, end) >= enough)
        }))
    }

    fn lost_s(&self) -> f64 {
        LOSS_S * (1.0 - self.utilisation(AT_S, AT_S + LOSS_S))
    }
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

/// Until the queue is as before; nothing is known of bins in which nothing came out.
fn drained_s(queue: &[(f64, f64)]) -> f64 {
    let before: Vec<f64> = queue
        .iter()
        .filter(|p| (AT_S - BEFORE_S..AT_S).contains(&p.0))
        .map(|p| p.1)
        .collect();
    let level = (DRAINED * mean(before.iter().copied())).max(SHORT_MS);
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
