//! Rate from n bursts (thesis §4.2.2): the first one is ignored, and the bytes of the other n − 1 are divided by the
//! time from its end to the last one's.

use super::bursts::{Burst, split_or_packets};
use crate::Arrival;
use serde::{Deserialize, Serialize};

/// The number of bursts that trades accuracy for data best (Fig. 4.4).
pub const BURSTS: usize = 50;

/// Rates in bit/s of every window of `n` successive bursts, with the seconds at which it ends.
pub fn rates(bursts: &[Burst], n: usize) -> Vec<(f64, f64)> {
    if n < 2 {
        return Vec::new();
    }
    bursts
        .windows(n)
        .filter_map(|window| {
            let bytes: u64 = window[1..].iter().map(|b| b.bytes).sum();
            let end = window[n - 1].last;
            let seconds = (end - window[0].last).as_secs_f64();
            (seconds > 0.0).then(|| (end.as_secs_f64(), bytes as f64 * 8.0 / seconds))
        })
        .collect()
}

/// Rates over a train, from 50 bursts each.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct RateSummary {
    /// The median, in bit/s.
    pub median_bps: f64,
    /// The least.
    pub least_bps: f64,
    /// The largest.
    pub most_bps: f64,
}

/// The rates of arrivals while the queue stood; none if there were too few bursts.
pub fn summary(arrivals: &[Arrival]) -> Option<RateSummary> {
    let bursts = split_or_packets(arrivals);
    let n = BURSTS.min(bursts.len());
    let mut values: Vec<f64> = rates(&bursts, n).into_iter().map(|r| r.1).collect();
    if values.is_empty() {
        return None;
    }
    Some(RateSummary {
        least_bps: super::quantile(&mut values, 0.0),
        median_bps: super::quantile(&mut values, 0.5),
        most_bps: super::quantile(&mut values, 1.0),
    })
}

/// How far rates from n bursts are from the long-run mean, as shares of it (Fig. 4.4).
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Accuracy {
    /// Bursts in a window.
    pub bursts: usize,
    /// Mean of the absolute differences.
    pub error: f64,
    /// Standard deviation.
    pub deviation: f64,
}

/// The accuracy for each of the `numbers` of bursts.
pub fn accuracy(bursts: &[Burst], numbers: &[usize]) -> Vec<Accuracy> {
    let whole = rates(bursts, bursts.len());
    let Some(&(_, mean)) = whole.first() else {
        return Vec::new();
    };
    let of = |&n: &usize| {
        let shares: Vec<f64> = rates(bursts, n).iter().map(|r| r.1 / mean - 1.0).collect();
        let count = shares.len() as f64;
        let centre = shares.iter().sum::<f64>() / count;
        let square = |s: &f64| (s - centre) * (s - centre);
        (!shares.is_empty()).then(|| Accuracy {
            bursts: n,
            error: shares.iter().map(|s| s.abs()).sum::<f64>() / count,
            deviation: (shares.iter().map(square).sum::<f64>() / count).sqrt(),
        })
    };
    numbers.iter().filter_map(of).collect()
}
