//! Linux's coarse clock.
//!
//! Several algorithms count time in jiffies, and their integers depend on how long one is. It is
//! 1 ms here (`CONFIG_HZ=1000`); a kernel with 250 Hz truncates to 4 ms. Ours starts at 0 and never
//! wraps, so what Linux marks with jiffy 0 is an `Option` here.

use std::time::Duration;
use tidegate_basics::time::Instant;

/// Jiffies in a second.
pub(super) const HZ: u64 = 1000;

const NANOS: u64 = 1_000_000_000 / HZ;

/// The clock at `now` (`tcp_jiffies32`).
pub(super) const fn jiffies(now: Instant) -> u64 {
    now.as_nanos() / NANOS
}

/// Microseconds of the clock at `now` (`tcp_mstamp`).
pub(super) const fn micros(now: Instant) -> u64 {
    now.as_nanos() / 1000
}

/// A duration in whole microseconds, as Linux keeps round trips.
pub(super) fn micros_of(d: Duration) -> u64 {
    u64::try_from(d.as_micros()).unwrap_or(u64::MAX)
}

/// Microseconds in jiffies, rounded up (`usecs_to_jiffies`).
pub(super) const fn from_micros(us: u64) -> u64 {
    us.div_ceil(1_000_000 / HZ)
}
