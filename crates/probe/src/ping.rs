//! Questions for the time, at a steady pace.

use crate::{Ping, Pong};
use std::time::Duration;
use tidegate_time::Instant;

/// One question and its answer: four moments by two clocks, the two of the answerer being one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// When it was asked, by the asker's clock.
    pub asked: Instant,
    /// When it was answered, by the answerer's.
    pub answered: Instant,
    /// When the answer came, by the asker's.
    pub heard: Instant,
}

impl Echo {
    /// The answer `pong` was heard at `heard`.
    pub fn of(pong: &Pong, heard: Instant) -> Self {
        Self {
            asked: pong.asked,
            answered: pong.answered,
            heard,
        }
    }

    /// The round trip, which needs one clock only.
    pub fn round_trip(&self) -> Duration {
        self.heard - self.asked
    }
}

/// Asks again and again.
#[derive(Debug)]
pub struct Pinger {
    next: Instant,
    every: Duration,
    until: Instant,
    sequence: u32,
}

impl Pinger {
    /// Asks from `start` to `until`.
    pub fn new(start: Instant, every: Duration, until: Instant) -> Self {
        Self {
            next: start,
            every,
            until,
            sequence: 0,
        }
    }

    /// When the next question is due, if there is one.
    pub fn next_event(&self) -> Option<Instant> {
        (self.next < self.until).then_some(self.next)
    }

    /// The question due by `now`; `clock` is the asker's.
    pub fn poll(&mut self, now: Instant, clock: Instant) -> Option<Ping> {
        self.next_event().filter(|&at| at <= now)?;
        self.next += self.every;
        self.sequence += 1;
        Some(Ping {
            sequence: self.sequence,
            sent: clock,
        })
    }
}
