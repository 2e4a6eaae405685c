//! How far the validation has come.

use std::sync::atomic::{AtomicU64, Ordering};
use tidegate_lab::Progress;
use tidegate_terminal::Bar;

/// A bar over the real time of the laboratory; the simulator's is nothing beside it.
pub struct Shown {
    bar: Bar,
    /// Seconds of the repetitions that are over.
    behind: AtomicU64,
}

impl Shown {
    /// For so many seconds of laboratory. Drawn to standard error, and not at all where that is no
    /// terminal.
    pub fn new(seconds: f64) -> Self {
        Self {
            bar: Bar::new(seconds.round() as u64, "{msg:20} {wide_bar} {pos}/{len} s"),
            behind: AtomicU64::new(0),
        }
    }

    /// A run of the laboratory goes on.
    pub fn laboratory(&self, scenario: &str, p: &Progress) {
        let elapsed = p.duration.as_secs() * p.index as u64 + p.elapsed.as_secs();
        self.bar
            .position(self.behind.load(Ordering::Relaxed) + elapsed);
        self.bar.message(scenario);
    }

    /// A repetition of so many seconds is over.
    pub fn done(&self, seconds: f64) {
        self.behind
            .fetch_add(seconds.round() as u64, Ordering::Relaxed);
    }

    /// Everything is over, or nothing more will come.
    pub fn clear(&self) {
        self.bar.end();
    }
}
