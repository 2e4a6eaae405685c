//! Whether the peer is there, and how the two part.

use crate::Config;
use std::time::Duration;
use tidegate_mpath::Instant;

/// First time between two close messages; it doubles.
const FAREWELL: Duration = Duration::from_millis(50);

/// Close messages at most: 1.5 s in all.
const FAREWELLS: u32 = 5;

/// How long a closed connection stays to answer repeated close messages.
const LINGER: Duration = Duration::from_secs(3);

/// What a silence asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// Nothing yet.
    Short,
    /// Asking the peer.
    Long,
    /// Giving it up.
    TooLong,
}

/// When something was heard, and when the peer was asked.
#[derive(Debug)]
pub struct Liveness {
    heard: Instant,
    asked: Instant,
    idle_timeout: Duration,
    keep_alive: Duration,
}

impl Liveness {
    /// Heard at `now`.
    pub fn new(now: Instant, config: &Config) -> Self {
        Self {
            heard: now,
            asked: now,
            idle_timeout: config.idle_timeout,
            keep_alive: config.keep_alive.min(config.idle_timeout / 3),
        }
    }

    /// Something authentic has come.
    pub fn hear(&mut self, now: Instant) {
        self.heard = now;
    }

    /// When to look.
    pub fn timeout(&self) -> Instant {
        let ask = self.heard.max(self.asked) + self.keep_alive;
        ask.min(self.heard + self.idle_timeout)
    }

    /// Looks; that it asks is noted.
    pub fn look(&mut self, now: Instant) -> Silence {
        if now >= self.heard + self.idle_timeout {
            return Silence::TooLong;
        }
        if now < self.timeout() {
            return Silence::Short;
        }
        self.asked = now;
        Silence::Long
    }

    /// How long a silence may be.
    pub fn idle_timeout(&self) -> Duration {
        self.idle_timeout
    }
}

/// The end of a connection.
#[derive(Debug)]
pub enum Parting {
    /// This end closes: it repeats that until it is acknowledged, or often enough.
    Going { said: u32, next: Instant },
    /// The peer has gone, or is taken to have: answers until then.
    Gone { until: Instant },
}

impl Parting {
    /// This end goes.
    pub fn going(now: Instant) -> Self {
        Self::Going { said: 0, next: now }
    }

    /// The peer has gone.
    pub fn gone(now: Instant) -> Self {
        Self::Gone {
            until: now + LINGER,
        }
    }

    /// Nothing more is to be said.
    pub fn over() -> Self {
        Self::Gone {
            until: Instant::ZERO,
        }
    }

    /// The peer goes, too.
    pub fn hear(&mut self, now: Instant) {
        if matches!(self, Self::Going { .. }) {
            *self = Self::gone(now);
        }
    }

    /// Whether farewell is to be said at `now`.
    pub fn says(&mut self, now: Instant) -> bool {
        match self {
            Self::Going { said, next } if *next <= now && *said < FAREWELLS => {
                *next = now + FAREWELL * (1 << *said);
                *said += 1;
                true
            }
            _ => false,
        }
    }

    /// Whether the connection can be forgotten.
    pub fn is_over(&self, now: Instant) -> bool {
        self.timeout() <= now
            && match self {
                Self::Going { said, .. } => *said == FAREWELLS,
                Self::Gone { .. } => true,
            }
    }

    /// When to look again.
    pub fn timeout(&self) -> Instant {
        match self {
            Self::Going { next, .. } => *next,
            Self::Gone { until } => *until,
        }
    }
}

#[cfg(test)]
mod tests;
