//! Opportunities at the end of every transmission time interval.

use super::burst::Burst;
use super::fluid::NANOBITS_PER_BYTE;
use crate::Instant;
use std::time::Duration;

/// What is carried in one transmission time interval (TTI) after another.
pub(crate) trait Intervals {
    /// How long each interval is.
    fn tti(&self) -> Duration;

    /// Nanobits that the next interval carries, at most 10¹⁹. They are above 0 again and again.
    fn next_nanobits(&mut self) -> u64;
}

/// Walks through the opportunities: at the end of every interval, what the rate gave during it
/// leaves as one burst.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<R> {
    rate: R,
    /// The next opportunity.
    next: Burst,
    /// Nanobits left over by the whole bytes so far.
    remainder: u64,
    /// When the last opportunity was passed.
    passed: Instant,
    /// Bytes of all opportunities passed.
    carried: u64,
}

impl<R: Intervals> Cursor<R> {
    pub(super) fn new(rate: R) -> Self {
        let mut cursor = Self {
            rate,
            next: Burst::default(),
            remainder: 0,
            passed: Instant::ZERO,
            carried: 0,
        };
        cursor.advance();
        cursor
    }

    pub(super) fn peek(&self) -> Burst {
        self.next
    }

    pub(super) fn advance(&mut self) {
        let Burst { mut at, bytes } = self.next;
        self.passed = at;
        self.carried += bytes;
        let tti = self.rate.tti();
        // An interval without a whole byte is no opportunity.
        while self.remainder < NANOBITS_PER_BYTE {
            at += tti;
            self.remainder += self.rate.next_nanobits();
        }
        self.next = Burst {
            at,
            bytes: self.remainder / NANOBITS_PER_BYTE,
        };
        self.remainder %= NANOBITS_PER_BYTE;
    }

    pub(super) fn skip_past(&mut self, now: Instant) {
        while self.next.at <= now {
            self.advance();
        }
    }

    /// Bytes of all opportunities before `t`, which lies after the last one passed.
    pub(super) fn bytes_before(&mut self, t: Instant) -> u64 {
        self.skip_past(t - Duration::from_nanos(1));
        self.carried
    }

    /// Bytes of all opportunities passed.
    #[cfg(test)]
    pub(super) fn carried(&self) -> u64 {
        self.carried
    }

    /// When the last opportunity was passed.
    pub(super) fn passed(&self) -> Instant {
        self.passed
    }
}
