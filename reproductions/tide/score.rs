//! A contender's score on a path, and on all of them.

use super::contenders::Contender;
use super::paths::Path;
use crate::means::{geometric_mean, mean};
use tidegate_study::Sample;

/// Lower bound for delays in milliseconds: below the resolution of a recording a delay means nothing, and a ratio to
/// zero does not exist.
const FLOOR_MS: f64 = 0.5;

/// A contender's score on a path.
#[derive(Clone, Copy, Debug)]
pub struct Score {
    /// Use of the link in percent of its capacity.
    pub utilisation: f64,
    /// Mean queueing delay in milliseconds.
    pub mean_ms: f64,
    /// 95th percentile of the queueing delay in milliseconds.
    pub p95_ms: f64,
}

impl Score {
    /// The score of `contender` on `path`.
    pub fn of(sample: &Sample, contender: Contender, path: &Path) -> Self {
        Self::read(sample, &contender.on(path))
    }

    /// The score of a case.
    pub fn read(sample: &Sample, case: &str) -> Self {
        let delay = |read: fn(&tidegate_scenario::Quantiles) -> f64| {
            sample.mean(case, |run| read(&run.link.queue_delay_ms).max(FLOOR_MS))
        };
        Self {
            utilisation: sample.mean(case, |run| run.link.utilisation * 100.0),
            mean_ms: delay(|q| q.mean),
            p95_ms: delay(|q| q.p95),
        }
    }

    /// The score of `contender` over all of `paths`.
    pub fn over(sample: &Sample, contender: Contender, paths: &[Path]) -> Self {
        Self::together(paths.iter().map(|path| Self::of(sample, contender, path)))
    }

    /// The mean of utilisations, and geometric means of delays.
    pub fn together(scores: impl Iterator<Item = Self>) -> Self {
        let scores: Vec<Self> = scores.collect();
        Self {
            utilisation: mean(scores.iter().map(|s| s.utilisation)),
            mean_ms: geometric_mean(scores.iter().map(|s| s.mean_ms)),
            p95_ms: geometric_mean(scores.iter().map(|s| s.p95_ms)),
        }
    }
}
