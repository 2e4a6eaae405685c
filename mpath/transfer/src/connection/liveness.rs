//! Whether the peer is there: keep-alive and idle timeout (RFC 9000 §10.1).

use crate::Config;
use std::time::Duration;
use tidegate_mpath::Instant;

/// What to do after a time without a received packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Nothing yet.
    Shortly,
    /// A ping has to be sent.
    KeepAlive,
    /// The connection has to be aborted.
    TimedOut,
}

/// When something was received, and when a ping was sent.
#[derive(Debug)]
pub struct Liveness {
    received: Instant,
    pinged: Instant,
    idle_timeout: Duration,
    keep_alive: Duration,
}

impl Liveness {
    /// Received at `now`.
    pub fn new(now: Instant, config: &Config) -> Self {
        Self {
            received: now,
            pinged: now,
            idle_timeout: config.idle_timeout,
            keep_alive: config.keep_alive.min(config.idle_timeout / 3),
        }
    }

    /// An authentic packet has been received.
    pub fn receive(&mut self, now: Instant) {
        self.received = now;
    }

    /// When to call [`Self::check`].
    pub fn timeout(&self) -> Instant {
        let ping = self.received.max(self.pinged) + self.keep_alive;
        ping.min(self.received + self.idle_timeout)
    }

    /// Checks the time; a ping that it asks for counts as sent.
    pub fn check(&mut self, now: Instant) -> Idle {
        if now >= self.received + self.idle_timeout {
            return Idle::TimedOut;
        }
        if now < self.timeout() {
            return Idle::Shortly;
        }
        self.pinged = now;
        Idle::KeepAlive
    }

    /// The time without a packet after which the connection is aborted.
    pub fn idle_timeout(&self) -> Duration {
        self.idle_timeout
    }
}

#[cfg(test)]
mod tests;
