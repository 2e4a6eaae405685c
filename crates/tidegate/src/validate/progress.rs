//! Shows how far the validation has come.

use std::sync::atomic::{AtomicU64, Ordering};
use tidegate_lab::Progress;
use tidegate_terminal::Bar;

/// A bar over the laboratory's real time; the simulator's is negligible.
pub struct Shown {
    bar: Bar,
    /// Seconds of the finished repetitions.
    behind: AtomicU64,
}

impl Shown {
    /// A bar for this many seconds of laboratory time; on standard error, and hidden if that is no terminal.
    pub fn new(seconds: f64) -> Self {
        Self {
            bar: Bar::new(seconds.round() as u64, "{msg:20} {wide_bar} {pos}/{len} s"),
            behind: AtomicU64::new(0),
        }
    }

    /// Shows the progress of a laboratory run.
    pub fn laboratory(&self, scenario: &str, p: &Progress) {
        let elapsed = p.duration.as_secs() * p.index as u64 + p.elapsed.as_secs();
        self.bar
            .position(self.behind.load(Ordering::Relaxed) + elapsed);
        self.bar.message(scenario);
    }

    /// Adds a finished repetition of this length.
    pub fn done(&self, seconds: f64) {
        self.behind
            .fetch_add(seconds.round() as u64, Ordering::Relaxed);
    }

    /// Removes the bar.
    pub fn clear(&self) {
        self.bar.end();
    }
}
