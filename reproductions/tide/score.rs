//! What a contender did on a path, and on all of them.

use super::contenders::Contender;
use super::paths::Path;
use crate::means::{geometric_mean, mean};
use tidegate_study::Sample;

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
        Self::read(sample, &contender.on(path))
    }

    /// What was done in a case.
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

    /// What `contender` did on all of `paths`.
    pub fn over(sample: &Sample, contender: Contender, paths: &[Path]) -> Self {
        Self::together(paths.iter().map(|path| Self::of(sample, contender, path)))
    }

    /// The mean of utilisations, geometric means of delays.
    pub fn together(scores: impl Iterator<Item = Self>) -> Self {
        let scores: Vec<Self> = scores.collect();
        Self {
            utilisation: mean(scores.iter().map(|s| s.utilisation)),
            mean_ms: geometric_mean(scores.iter().map(|s| s.mean_ms)),
            p95_ms: geometric_mean(scores.iter().map(|s| s.p95_ms)),
        }
    }
}
