//! The clocks that the agent goes by.

use nix::time::{ClockId, clock_gettime};

/// µs of CLOCK_MONOTONIC, the kernel program's clock.
pub fn now_us() -> u64 {
    now_of(ClockId::CLOCK_MONOTONIC)
}

/// µs of CLOCK_BOOTTIME, which runs on while the machine sleeps.
pub fn now_with_sleep_us() -> u64 {
    now_of(ClockId::CLOCK_BOOTTIME)
}

fn now_of(clock: ClockId) -> u64 {
    let now = clock_gettime(clock).expect("every Linux has this clock");
    now.tv_sec() as u64 * 1_000_000 + now.tv_nsec() as u64 / 1_000
}
