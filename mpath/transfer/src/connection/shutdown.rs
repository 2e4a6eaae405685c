//! The end of a connection: closing and draining, as QUIC has them (RFC 9000 §10.2).

use std::time::Duration;
use tidegate_mpath::Instant;

/// First time between two close messages; it doubles.
const FIRST_INTERVAL: Duration = Duration::from_millis(50);

/// The most close messages: 1.5 s in all.
const MOST_CLOSES: u32 = 5;

/// How long a closed connection stays to answer repeated close messages.
const DRAINING_TIME: Duration = Duration::from_secs(3);

/// How far a connection's end has come.
#[derive(Debug)]
pub enum Shutdown {
    /// This end closes: it repeats its message until it is acknowledged, or has been sent often enough.
    Closing { sent: u32, next: Instant },
    /// The peer has closed, or is assumed to have: this end answers until then.
    Draining { until: Instant },
}

impl Shutdown {
    /// This end closes.
    pub fn closing(now: Instant) -> Self {
        Self::Closing { sent: 0, next: now }
    }

    /// The peer has closed.
    pub fn draining(now: Instant) -> Self {
        Self::Draining {
            until: now + DRAINING_TIME,
        }
    }

    /// Nothing more has to be sent.
    pub fn done() -> Self {
        Self::Draining {
            until: Instant::ZERO,
        }
    }

    /// The peer closes, too.
    pub fn peer_closed(&mut self, now: Instant) {
        if matches!(self, Self::Closing { .. }) {
            *self = Self::draining(now);
        }
    }

    /// Whether a close message has to be sent at `now`; it is counted.
    pub fn sends_close(&mut self, now: Instant) -> bool {
        match self {
            Self::Closing { sent, next } if *next <= now && *sent < MOST_CLOSES => {
                *next = now + FIRST_INTERVAL * (1 << *sent);
                *sent += 1;
                true
            }
            _ => false,
        }
    }

    /// Whether the connection can be removed.
    pub fn is_over(&self, now: Instant) -> bool {
        self.timeout() <= now
            && match self {
                Self::Closing { sent, .. } => *sent == MOST_CLOSES,
                Self::Draining { .. } => true,
            }
    }

    /// When to call [`Self::sends_close`] or [`Self::is_over`] again.
    pub fn timeout(&self) -> Instant {
        match self {
            Self::Closing { next, .. } => *next,
            Self::Draining { until } => *until,
        }
    }
}

#[cfg(test)]
mod tests;
