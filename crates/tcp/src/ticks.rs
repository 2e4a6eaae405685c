//! The ticks at which a kernel's timers run out.

use std::time::Duration;
use tidegate_basics::time::Instant;

/// Timers below this many ticks are exact to one; each further level of the wheel has eight times as many and is as much
/// coarser (`LVL_START`, `LVL_CLK_SHIFT` in Linux's `kernel/time/timer.c`).
const EXACT: u64 = 63;
const LEVEL_SHIFT: u32 = 3;
const LEVELS: u32 = 9;

/// A kernel's ticks (`jiffies`), and the wheel of its timers. Without them a timer runs out to the nanosecond; Linux's are
/// late by up to a tick, those of more than 63 ticks by up to eight, those of more than 504 by up to 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    /// From one to the next, more than zero: 4 ms where `CONFIG_HZ` is 250.
    pub period: Duration,
    /// When the first tick was, as a time before the start of the clock.
    pub since: Duration,
}

impl Ticks {
    /// When a timer runs out that is set at `now` for `at` (`calc_wheel_index`): at a tick, and never early.
    pub fn run_out(&self, now: Instant, at: Instant) -> Instant {
        let period = self.period.as_nanos() as u64;
        let since = self.since.as_nanos() as u64;
        let tick = (now.as_nanos() + since) / period;
        let ticks = (at - now).as_nanos().div_ceil(period.into()) as u64;
        let shift = LEVEL_SHIFT * level(ticks);
        let expires = (((tick + ticks) >> shift) + 1) << shift;
        Instant::from_nanos((expires * period).saturating_sub(since))
    }
}

/// The wheel's level for a timer of `ticks` ticks.
fn level(ticks: u64) -> u32 {
    let coarser = |level: &u32| ticks < EXACT << (LEVEL_SHIFT * level);
    (0..LEVELS - 1).find(coarser).unwrap_or(LEVELS - 1)
}

/// When a timer runs out that is set at `now` for `at`, with ticks or without.
pub(crate) fn run_out(ticks: Option<Ticks>, now: Instant, at: Instant) -> Instant {
    ticks.map_or(at, |ticks| ticks.run_out(now, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn timers_run_out_at_the_wheels_ticks() {
        let ticks = Ticks {
            period: Duration::from_millis(4),
            since: Duration::from_millis(1),
        };
        let at = |now_ms: u64, delay_us: u64| {
            let now = Instant::from_nanos(now_ms * MS);
            let at = now + Duration::from_micros(delay_us);
            ticks.run_out(now, at).as_nanos() as f64 / MS as f64
        };
        // Ticks are at 3, 7, 11 … ms.
        assert_eq!(at(0, 40_000), 43.0);
        assert_eq!(at(2, 40_000), 43.0);
        assert_eq!(at(3, 40_000), 47.0);
        assert_eq!(at(3, 39_999), 47.0);
        assert_eq!(at(3, 1), 11.0);
        // From 63 ticks on every eighth: at 31, 63, 95 … ms.
        assert_eq!(at(0, 248_000), 251.0);
        assert_eq!(at(0, 252_000), 255.0);
        assert_eq!(at(3, 252_000), 287.0);
        // From 504 on every 64th: at 255, 511 … ms.
        assert_eq!(at(0, 3_000_000), 3071.0);
    }

    #[test]
    fn none_is_early_and_none_later_than_its_level() {
        let ticks = Ticks {
            period: Duration::from_millis(4),
            since: Duration::from_micros(1234),
        };
        for n in 0..20_000_u64 {
            let now = Instant::from_nanos(n * 777_777);
            let delay = Duration::from_micros(n * 331);
            let late = ticks.run_out(now, now + delay) - (now + delay);
            let ticks = (delay.as_micros() as u64).div_ceil(4000);
            let coarse = 1 << (3 * level(ticks));
            assert!(
                late <= Duration::from_millis(4 * (coarse + 1)),
                "{n}: {late:?}"
            );
        }
    }
}
