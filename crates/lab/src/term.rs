//! The time limit of a task.

use crate::clock::Clock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tidegate_link::Instant;

/// From now until `end`, or until the run is halted.
#[derive(Clone, Copy, Debug)]
pub struct Term<'a> {
    /// The run's clock.
    pub clock: Clock,
    /// When the task has to stop.
    pub end: Instant,
    /// Set when the run ends early.
    pub halt: &'a AtomicBool,
}

impl Term<'_> {
    /// Whether the task has to stop.
    pub fn is_over(&self) -> bool {
        self.halt.load(Ordering::Relaxed) || self.clock.now() >= self.end
    }

    /// Sleeps until `time`; `false` if the term ended first.
    pub fn sleep_until(&self, time: Instant) -> bool {
        // In slices, so that a halt is soon seen.
        const SLICE: Duration = Duration::from_millis(20);
        while !self.is_over() {
            let now = self.clock.now();
            if now >= time {
                return true;
            }
            self.clock.sleep_until(time.min(now + SLICE).min(self.end));
        }
        false
    }
}
