//! Propagation delay that may change.

mod trace;

pub use trace::DelayTrace;

use crate::Instant;
use std::sync::Arc;
use std::time::Duration;

/// Propagation delay over time: an initial value and later ones, and what a recording adds to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DelayProfile {
    initial: Duration,
    /// In order of time.
    steps: Vec<(Instant, Duration)>,
    /// A recording, and how far into it the run begins. The delay grows by what the recording has above its smallest
    /// value.
    trace: Option<(Arc<DelayTrace>, Duration)>,
}

impl DelayProfile {
    /// `initial` from the start, then from each step's instant on that step's delay. The steps may
    /// come in any order; of several at one instant the last one counts.
    pub fn new(initial: Duration, mut steps: Vec<(Instant, Duration)>) -> Self {
        steps.sort_by_key(|&(at, _)| at);
        Self {
            initial,
            steps,
            trace: None,
        }
    }

    /// The same delays, each longer by how much `trace`, entered at `ahead`, exceeds its smallest value: what is given
    /// stays the least delay.
    pub fn above(self, trace: Arc<DelayTrace>, ahead: Duration) -> Self {
        Self {
            trace: Some((trace, ahead)),
            ..self
        }
    }

    /// The delay in force at `at`.
    pub fn at(&self, at: Instant) -> Duration {
        let passed = self.steps.partition_point(|&(from, _)| from <= at);
        self.after(passed) + self.excess(at)
    }

    /// The delay after that many steps, without the recording.
    #[inline]
    fn after(&self, passed: usize) -> Duration {
        match passed {
            0 => self.initial,
            n => self.steps[n - 1].1,
        }
    }

    /// What the recording adds at `at`.
    #[inline]
    fn excess(&self, at: Instant) -> Duration {
        self.trace
            .as_ref()
            .map_or(Duration::ZERO, |(trace, ahead)| trace.excess(at + *ahead))
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
        let delay = self.profile.after(self.passed) + self.profile.excess(at);
        self.last_due = self.last_due.max(at + delay);
        self.last_due
    }
}

#[cfg(test)]
mod tests;
