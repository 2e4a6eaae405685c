//! What a contender did on a path, and on all of them.

use super::contenders::Contender;
use super::paths::Path;
use tidegate_reproduce::Sample;

/// A shorter delay in milliseconds counts as this: below the resolution of a recording it means
/// nothing, and a ratio cannot be taken of zero.
const FLOOR_MS: f64 = 0.5;

/// What a contender did on a path.
#[derive(Clone, Copy, Debug)]
pub struct Score {
    /// In percent of what the link could have carried.
    pub utilisation: f64,
    /// Mean queueing delay in milliseconds.
    pub mean_ms: f64,
    /// 95th percentile of the queueing delay in milliseconds.
    pub p95_ms: f64,
}

impl Score {
    /// What `contender` did on `path`.
    pub fn of(sample: &Sample, contender: Contender, path: &Path) -> Self {
        let case = contender.on(path);
        let delay = |read: fn(&tidegate_scenario::Quantiles) -> f64| {
            sample.mean(&case, |run| read(&run.link.queue_delay_ms).max(FLOOR_MS))
        };
        Self {
            utilisation: sample.mean(&case, |run| run.link.utilisation * 100.0),
            mean_ms: delay(|q| q.mean),
            p95_ms: delay(|q| q.p95),
        }
    }

    /// What `contender` did on all of `paths`: the mean of utilisations, geometric means of delays.
    pub fn over(sample: &Sample, contender: Contender, paths: &[Path]) -> Self {
        let scores: Vec<Self> = paths
            .iter()
            .map(|path| Self::of(sample, contender, path))
            .collect();
        Self {
            utilisation: mean(scores.iter().map(|s| s.utilisation)),
            mean_ms: geometric_mean(scores.iter().map(|s| s.mean_ms)),
            p95_ms: geometric_mean(scores.iter().map(|s| s.p95_ms)),
        }
    }
}

/// The mean.
pub fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// The geometric mean of positive values.
pub fn geometric_mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    mean(values.map(f64::ln)).exp()
}
