//! A distribution in a few numbers.

use hdrhistogram::Histogram;
use std::time::Duration;
use tidegate_scenario::Quantiles;

/// Durations from a microsecond to an hour, to three digits.
#[derive(Clone, Debug)]
pub struct Durations(Histogram<u64>);

impl Default for Durations {
    fn default() -> Self {
        Self::new()
    }
}

impl Durations {
    const LONGEST: Duration = Duration::from_secs(3600);

    /// No durations yet.
    #[expect(clippy::missing_panics_doc, reason = "the bounds are in order")]
    pub fn new() -> Self {
        let longest_us = Self::LONGEST.as_micros() as u64;
        Self(Histogram::new_with_bounds(1, longest_us, 3).expect("the bounds are in order"))
    }

    /// Counts `duration`; one of more than an hour counts as an hour.
    pub fn record(&mut self, duration: Duration) {
        self.0.saturating_record(duration.as_micros() as u64);
    }

    /// Adds the counts of `other`.
    #[expect(clippy::missing_panics_doc, reason = "the bounds are equal")]
    pub fn add(&mut self, other: &Self) {
        self.0.add(&other.0).expect("the bounds are equal");
    }

    /// In milliseconds.
    pub fn quantiles_ms(&self) -> Quantiles {
        let at = |q| self.0.value_at_quantile(q) as f64 / 1e3;
        Quantiles {
            mean: self.0.mean() / 1e3,
            p50: at(0.50),
            p95: at(0.95),
            p99: at(0.99),
            max: self.0.max() as f64 / 1e3,
        }
    }
}

/// Exact quantiles of a few values: the smallest value with at least that share at or below it.
pub fn quantiles(mut values: Vec<f64>) -> Quantiles {
    if values.is_empty() {
        return Quantiles::default();
    }
    values.sort_by(f64::total_cmp);
    let at = |q: f64| values[((q * values.len() as f64).ceil() as usize).max(1) - 1];
    Quantiles {
        mean: values.iter().sum::<f64>() / values.len() as f64,
        p50: at(0.50),
        p95: at(0.95),
        p99: at(0.99),
        max: at(1.0),
    }
}

/// The value below which `part` of the values lie, interpolated linearly; none without values.
pub fn quantile(values: &[f64], part: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = part * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (place as usize, (place as usize + 1).min(sorted.len() - 1));
    let between = place - below as f64;
    Some(sorted[below] + (sorted[above] - sorted[below]) * between)
}

/// The median.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

#[cfg(test)]
mod tests;
