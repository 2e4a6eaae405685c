//! A distribution of durations for callers that have thousands of distributions.

use std::collections::BTreeMap;
use std::time::Duration;
use tidegate_scenario::Quantiles;

/// Bits that a value keeps: three and a half digits, as in [`crate::Durations`].
const BITS: u32 = 11;

/// Durations in microseconds to one part in 2048, in memory that grows with the number of different values, not with
/// the number of durations. Mean and largest are exact.
///
/// [`crate::Durations`] is faster, but takes a hundred kilobytes even if it is empty.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    counts: BTreeMap<u64, u64>,
    count: u64,
    sum_us: u128,
    max_us: u64,
}

impl Distribution {
    /// Counts `duration`.
    pub fn record(&mut self, duration: Duration) {
        let us = duration.as_micros() as u64;
        *self.counts.entry(floor(us)).or_default() += 1;
        self.count += 1;
        self.sum_us += u128::from(us);
        self.max_us = self.max_us.max(us);
    }

    /// The number of durations.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// In milliseconds: each quantile is the smallest value with at least that share at or below it.
    pub fn quantiles_ms(&self) -> Quantiles {
        if self.count == 0 {
            return Quantiles::default();
        }
        Quantiles {
            mean: self.sum_us as f64 / self.count as f64 / 1e3,
            p50: self.quantile_ms(50),
            p95: self.quantile_ms(95),
            p99: self.quantile_ms(99),
            max: self.max_us as f64 / 1e3,
        }
    }

    fn quantile_ms(&self, percent: u64) -> f64 {
        let rank = (self.count * percent).div_ceil(100);
        let mut below = 0;
        let bucket = self.counts.iter().find(|&(_, &count)| {
            below += count;
            below >= rank
        });
        // A bucket's middle may be beyond the largest value in it.
        bucket.map_or(0.0, |(&us, _)| middle(us).min(self.max_us) as f64 / 1e3)
    }
}

/// How many low bits `us` loses.
fn shift(us: u64) -> u32 {
    (u64::BITS - us.leading_zeros()).saturating_sub(BITS)
}

fn floor(us: u64) -> u64 {
    us >> shift(us) << shift(us)
}

/// The middle of the bucket that begins at `us`.
fn middle(us: u64) -> u64 {
    us + ((1 << shift(us)) >> 1)
}

#[cfg(test)]
mod tests;
