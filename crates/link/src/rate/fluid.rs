//! Serialisation at a rate that is constant or piecewise so.
//!
//! Work is counted in *nanobits*: 1 bit/s for 1 ns. Everything is an integer, so that a
//! thousand million packets take exactly as long as their sum.

use crate::Instant;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

/// Nanobits in a byte.
pub(crate) const NANOBITS_PER_BYTE: u64 = 8_000_000_000;

/// A rate that is constant from one instant until another.
pub(crate) trait Piecewise: Debug + Send + Sync {
    /// The rate in force at `t`, in bit/s, and when it ends; 0 at times, but not for ever.
    fn at(&self, t: Instant) -> (u64, Instant);

    /// Its period, and what one period carries in nanobits; none if it does not repeat.
    fn cycle(&self) -> Option<(Duration, u128)> {
        None
    }
}

/// A transmitter that serialises one packet after another.
#[derive(Clone, Debug)]
pub(crate) struct Fluid {
    /// Rate in force, in bit/s.
    bits_per_second: u64,
    /// When that rate ends.
    until: Instant,
    /// Gives the rates that follow.
    rate: Arc<dyn Piecewise>,
    /// When the last packet has been sent.
    free_at: Instant,
    /// Nanobits left over in the last, partly used nanosecond before `free_at`: for the next packet, if it follows at
    /// once.
    spare: u64,
}

impl Fluid {
    /// A transmitter whose rate follows `rate`.
    pub(crate) fn new(rate: Arc<dyn Piecewise>) -> Self {
        let (bits_per_second, until) = rate.at(Instant::ZERO);
        Self {
            bits_per_second,
            until,
            rate,
            free_at: Instant::ZERO,
            spare: 0,
        }
    }

    /// The same transmitter, unused so far, with its rate wrapped by `made`.
    pub(super) fn of(self, made: impl FnOnce(Arc<dyn Piecewise>) -> Arc<dyn Piecewise>) -> Self {
        Self::new(made(self.rate))
    }

    /// Follows `rate` from `now` on; the packet in transmission ends as planned.
    pub(crate) fn follow(&mut self, now: Instant, rate: Arc<dyn Piecewise>) {
        (self.bits_per_second, self.until) = rate.at(now);
        self.rate = rate;
        self.spare = 0;
    }

    /// When the transmitter has sent everything that it was given.
    #[inline]
    pub(crate) fn free_at(&self) -> Instant {
        self.free_at
    }

    /// Sends `bytes` from `start` on, which is not before [`Self::free_at`]. Says when the last
    /// byte has left.
    #[inline]
    pub(crate) fn send(&mut self, start: Instant, bytes: usize) -> Instant {
        if start > self.free_at {
            self.spare = 0;
        }
        let work = bytes as u64 * NANOBITS_PER_BYTE;
        let spared = work.min(self.spare);
        self.spare -= spared;
        self.free_at = self.work_off(start, work - spared);
        self.free_at
    }

    /// When `work` begun at `start` is done, rounded up to a nanosecond; the rest of that nanosecond becomes spare.
    #[inline]
    fn work_off(&mut self, start: Instant, mut work: u64) -> Instant {
        let mut at = start;
        while work > 0 {
            self.seek(at);
            let room = self.bits_per_second.saturating_mul(nanos(self.until - at));
            if work <= room {
                let time = work.div_ceil(self.bits_per_second);
                self.spare = time * self.bits_per_second - work;
                return at + Duration::from_nanos(time);
            }
            work -= room;
            at = self.until;
            self.skip_cycles(&mut at, &mut work);
        }
        at
    }

    /// Skips whole periods, as long as one carries less than the work. A series that carries next to nothing has too
    /// many of them to walk through.
    fn skip_cycles(&mut self, at: &mut Instant, work: &mut u64) {
        let Some((period, carried)) = self.rate.cycle() else {
            return;
        };
        let cycles = u128::from(work.saturating_sub(1)) / carried;
        if cycles > 0 {
            *at += Duration::from_nanos(nanos(period).saturating_mul(cycles as u64));
            *work -= (cycles * carried) as u64;
            self.until = *at;
        }
    }

    /// Makes the rate at `at` the one in force.
    fn seek(&mut self, at: Instant) {
        if at >= self.until {
            (self.bits_per_second, self.until) = self.rate.at(at);
        }
    }
}

fn nanos(d: Duration) -> u64 {
    d.as_nanos() as u64
}

#[cfg(test)]
mod tests;
