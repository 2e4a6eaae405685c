//! Pings at a steady pace.

use crate::{Ping, Pong};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// A ping and its pong: three moments by two clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// When the ping was sent, by the sender's clock.
    pub asked: Instant,
    /// When it was answered, by the other end's clock.
    pub answered: Instant,
    /// When the pong arrived, by the sender's clock.
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

    /// The round trip, which needs only one clock.
    pub fn round_trip(&self) -> Duration {
        self.heard - self.asked
    }
}

/// Pings again and again.
#[derive(Debug)]
pub struct Pinger {
    next: Instant,
    every: Duration,
    until: Instant,
    sequence: u32,
}

impl Pinger {
    /// Pings from `start` to `until`.
    pub fn new(start: Instant, every: Duration, until: Instant) -> Self {
        Self {
            next: start,
            every,
            until,
            sequence: 0,
        }
    }

    /// When the next ping is due, if there is one.
    pub fn next_event(&self) -> Option<Instant> {
        (self.next < self.until).then_some(self.next)
    }

    /// The ping due by `now`; `clock` is the sender's.
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
