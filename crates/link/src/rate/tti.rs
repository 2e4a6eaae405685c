//! Opportunities at the end of every transmission time interval.

use super::fluid::NANOBITS_PER_BYTE;
use super::{Burst, Meter, Opportunities};
use crate::Instant;
use std::fmt::Debug;
use std::time::Duration;

/// The capacity of one transmission time interval (TTI) after another.
pub(super) trait Intervals: Clone + Debug + Send + Sync {
    /// How long each interval is.
    fn tti(&self) -> Duration;

    /// Nanobits that the next interval carries, at most 10¹⁹. They do not stay 0 for ever.
    fn next_nanobits(&mut self) -> u64;
}

/// Walks through the opportunities: at the end of every interval, what the rate gave during it
/// leaves as one burst.
#[derive(Clone, Debug)]
pub(super) struct Cursor<R> {
    rate: R,
    /// The next opportunity.
    next: Burst,
    /// Nanobits that did not make a whole byte yet.
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
        cursor.step();
        cursor
    }

    /// Goes on to the opportunity after the next.
    fn step(&mut self) {
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

    /// Bytes of all opportunities before `t`, which lies after the last one passed.
    fn bytes_before(&mut self, t: Instant) -> u64 {
        self.skip_past(t - Duration::from_nanos(1));
        self.carried
    }

    /// Bytes of all opportunities passed.
    #[cfg(test)]
    pub(super) fn carried(&self) -> u64 {
        self.carried
    }

    /// When the last opportunity was passed.
    #[cfg(test)]
    pub(super) fn passed(&self) -> Instant {
        self.passed
    }
}

impl<R: Intervals> Opportunities for Cursor<R> {
    fn peek(&self) -> Burst {
        self.next
    }

    fn advance(&mut self) -> Burst {
        self.step();
        self.next
    }

    fn skip_past(&mut self, now: Instant) -> Burst {
        while self.next.at <= now {
            self.step();
        }
        self.next
    }
}

/// Counts what the opportunities carry by walking through them; starts again for a question about the past.
#[derive(Debug)]
pub(super) struct Replay<R> {
    start: Cursor<R>,
    cursor: Cursor<R>,
}

impl<R: Intervals> Replay<R> {
    /// `start` is at the start of the run.
    pub(super) fn new(start: Cursor<R>) -> Self {
        Self {
            cursor: start.clone(),
            start,
        }
    }
}

impl<R: Intervals> Meter for Replay<R> {
    fn bytes_before(&mut self, t: Instant) -> u64 {
        if self.cursor.passed >= t {
            self.cursor = self.start.clone();
        }
        self.cursor.bytes_before(t)
    }
}
