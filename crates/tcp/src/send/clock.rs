//! Time in whole microseconds, as Linux reckons it.

use tidegate_basics::time::Instant;

/// Microseconds from one time to a later one.
pub(super) fn micros(from: Instant, to: Instant) -> u32 {
    let nanos = to.as_nanos().saturating_sub(from.as_nanos());
    u32::try_from(nanos / 1000).unwrap_or(u32::MAX)
}

/// The time `micros` microseconds after `at`.
pub(super) fn later(at: Instant, micros: u64) -> Instant {
    Instant::from_nanos(at.as_nanos().saturating_add(micros * 1000))
}

/// The time `micros` microseconds before `at`.
pub(super) fn earlier(at: Instant, micros: u32) -> Instant {
    Instant::from_nanos(at.as_nanos().saturating_sub(u64::from(micros) * 1000))
}
