//! What happened in some seconds of a run.

use tidegate_reproduce::Sample;

/// Curves have a point each so many seconds.
pub const BIN_S: f64 = 0.1;

/// From when to when, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Span(pub f64, pub f64);

impl Span {
    /// How long it is, in seconds.
    pub fn length_s(self) -> f64 {
        self.1 - self.0
    }

    /// The largest value of a curve, mean over the seeds.
    pub fn peak(self, sample: &Sample, case: &str, quantity: &'static str) -> f64 {
        over_seeds(self.values(sample, case, quantity), |values| {
            values.into_iter().fold(0.0, f64::max)
        })
    }

    /// The value of a curve that 95 % of the points do not exceed, mean over the seeds.
    pub fn p95(self, sample: &Sample, case: &str, quantity: &'static str) -> f64 {
        over_seeds(self.values(sample, case, quantity), |mut values| {
            values.sort_by(f64::total_cmp);
            let rank = (values.len() as f64 * 0.95).ceil() as usize;
            values.get(rank.max(1) - 1).copied().unwrap_or(0.0)
        })
    }

    /// In percent of what the downlink could have carried, all seeds together.
    pub fn utilisation(self, sample: &Sample, case: &str) -> f64 {
        let sum = |quantity| -> f64 { self.values(sample, case, quantity).flatten().sum() };
        100.0 * sum("delivered_bps") / sum("capacity_bps")
    }

    /// A curve of each seed in the span.
    fn values(
        self,
        sample: &Sample,
        case: &str,
        quantity: &'static str,
    ) -> impl Iterator<Item = Vec<f64>> {
        // A bin that begins before the end lies in the span; times are sums of fractions.
        let Self(from, to) = self;
        let within = move |t: f64| t > from - BIN_S / 2.0 && t < to - BIN_S / 2.0;
        sample.curves(case, quantity).map(move |curve| {
            let inside = curve.into_iter().filter(|point| within(point.0));
            inside.map(|point| point.1).collect()
        })
    }
}

fn over_seeds(curves: impl Iterator<Item = Vec<f64>>, read: impl Fn(Vec<f64>) -> f64) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for curve in curves {
        sum += read(curve);
        count += 1.0;
    }
    sum / count
}
