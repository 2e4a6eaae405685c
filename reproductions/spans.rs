//! Parts of a run, and numbers read from them.

use crate::means::mean;
use tidegate_measure::{BIN, quantiles};
use tidegate_study::Sample;

/// Seconds between the points of a curve.
pub const BIN_S: f64 = BIN.as_secs_f64();

/// Start and end, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Span(pub f64, pub f64);

impl Span {
    /// Its length in seconds.
    pub fn length_s(self) -> f64 {
        self.1 - self.0
    }

    /// Values of the curve's bins that begin in it.
    pub fn values(self, curve: &[(f64, f64)]) -> impl Iterator<Item = f64> {
        self.points(curve).map(|point| point.1)
    }

    /// The curve's bins that begin in it.
    pub fn points(self, curve: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
        // Times are sums of fractions, so compare with a margin.
        let Self(from, to) = self;
        let within = move |t: f64| t > from - BIN_S / 2.0 && t < to - BIN_S / 2.0;
        curve.iter().copied().filter(move |point| within(point.0))
    }

    /// The largest value of a curve, mean over the seeds.
    pub fn peak(self, sample: &Sample, case: &str, quantity: &'static str) -> f64 {
        let curves = sample.curves(case, quantity);
        mean(curves.map(|curve| self.values(&curve).fold(0.0, f64::max)))
    }

    /// The 95th percentile of a curve's values, mean over the seeds.
    pub fn p95(self, sample: &Sample, case: &str, quantity: &'static str) -> f64 {
        let curves = sample.curves(case, quantity);
        mean(curves.map(|curve| quantiles(self.values(&curve).collect()).p95))
    }

    /// Use of the downlink in percent of its capacity, mean over the seeds.
    pub fn utilisation(self, sample: &Sample, case: &str) -> f64 {
        let [delivered, capacity] =
            ["delivered_bps", "capacity_bps"].map(|quantity| sample.curves(case, quantity));
        let sum = |curve: Vec<(f64, f64)>| self.values(&curve).sum::<f64>();
        mean(
            delivered
                .zip(capacity)
                .map(|(came, could)| 100.0 * sum(came) / sum(could)),
        )
    }

    /// Unused capacity, in seconds of the downlink, mean over the seeds.
    pub fn lost_s(self, sample: &Sample, case: &str) -> f64 {
        (1.0 - self.utilisation(sample, case) / 100.0) * self.length_s()
    }
}

/// A curve of bit/s second by second, in Mbit/s.
pub fn seconds(curve: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let bins = (1.0 / BIN_S).round() as usize;
    let second = |points: &[(f64, f64)]| (points[0].0, 1e-6 * mean(points.iter().map(|p| p.1)));
    curve.chunks(bins).map(second).collect()
}

#[cfg(test)]
mod tests;
