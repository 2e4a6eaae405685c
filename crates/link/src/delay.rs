//! Propagation delay that may step.

use crate::Instant;
use std::time::Duration;

/// Propagation delay over time: an initial value and later ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DelayProfile {
    initial: Duration,
    /// In order of time.
    steps: Vec<(Instant, Duration)>,
}

impl DelayProfile {
    /// `initial` from the start, then from each step's instant on that step's delay. The steps may
    /// come in any order; of several at one instant the last one counts.
    pub fn new(initial: Duration, mut steps: Vec<(Instant, Duration)>) -> Self {
        steps.sort_by_key(|&(at, _)| at);
        Self { initial, steps }
    }

    /// The delay in force at `at`.
    pub fn at(&self, at: Instant) -> Duration {
        match self.steps.partition_point(|&(from, _)| from <= at) {
            0 => self.initial,
            n => self.steps[n - 1].1,
        }
    }
}

/// A delay that never changes.
impl From<Duration> for DelayProfile {
    fn from(delay: Duration) -> Self {
        Self::new(delay, Vec::new())
    }
}

/// The way from the link's near end to its far end, which nothing overtakes.
#[derive(Debug)]
pub(crate) struct Propagation {
    profile: DelayProfile,
    /// Steps already in force.
    passed: usize,
    /// When the last packet arrives.
    last_due: Instant,
}

impl Propagation {
    pub(crate) fn new(profile: DelayProfile) -> Self {
        Self {
            profile,
            passed: 0,
            last_due: Instant::ZERO,
        }
    }

    /// When a packet whose last byte leaves `at` arrives; `at` never decreases.
    #[inline]
    pub(crate) fn due(&mut self, at: Instant) -> Instant {
        let steps = &self.profile.steps;
        while steps.get(self.passed).is_some_and(|&(from, _)| from <= at) {
            self.passed += 1;
        }
        let delay = match self.passed {
            0 => self.profile.initial,
            n => steps[n - 1].1,
        };
        self.last_due = self.last_due.max(at + delay);
        self.last_due
    }
}

#[cfg(test)]
mod tests;
