//! When there was demand: the base of utilisation.

use crate::{Capacity, Instant, Rate};
use std::time::Duration;

/// Sums up what a link could have carried while packets waited or were being sent.
#[derive(Debug)]
pub(crate) struct Demand {
    capacity: Capacity,
    /// Up to here demand is accounted for.
    from: Instant,
    bytes: u64,
}

impl Demand {
    pub(crate) fn new(rate: &Rate) -> Self {
        Self {
            capacity: Capacity::new(rate),
            from: Instant::ZERO,
            bytes: 0,
        }
    }

    /// A packet has come at `now` to a link that had none waiting or being sent.
    pub(crate) fn begin(&mut self, now: Instant) {
        // A fluid transmitter counts a packet until its end, which may lie ahead.
        self.from = self.from.max(now);
    }

    /// There was demand until a packet's last byte left, `at` that instant.
    pub(crate) fn extend(&mut self, at: Instant) {
        // The opportunity at that instant was used, and intervals do not hold their end.
        let until = at + Duration::from_nanos(1);
        self.bytes += self.capacity.bytes(self.from, until);
        self.from = self.from.max(until);
    }

    /// Bytes that the link could have carried while there was demand. An opportunity used in part
    /// counts whole.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests;
