//! The protocol's time on the machine's clock.

use tidegate_mpath::Instant;

/// Time since an endpoint began.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: tokio::time::Instant,
}

impl Clock {
    /// A clock that starts now.
    pub fn new() -> Self {
        Self {
            start: tokio::time::Instant::now(),
        }
    }

    /// Now.
    pub fn now(&self) -> Instant {
        Instant::ZERO + self.start.elapsed()
    }

    /// The same time on Tokio's clock.
    pub fn at(&self, instant: Instant) -> tokio::time::Instant {
        self.start + (instant - Instant::ZERO)
    }
}
