//! Which of our timestamps ACKs echo (RFC 7323).

use crate::Timestamps;
use tidegate_basics::time::Instant;

/// A tick of our clock in microseconds.
const TICK_US: u32 = 1000;

/// Our clock, and the timestamps of the last ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Echoes {
    in_use: bool,
    offset: u32,
    last: Option<Timestamps>,
}

impl Echoes {
    /// Before the handshake; `offset` is our clock's.
    pub(super) fn new(offset: u32) -> Self {
        Self {
            in_use: false,
            offset,
            last: None,
        }
    }

    /// The handshake has agreed on timestamps, or has not.
    pub(super) fn agree(&mut self, in_use: bool) {
        self.in_use = in_use;
    }

    /// An ACK carries `option`.
    pub(super) fn heed(&mut self, option: Option<Timestamps>) {
        self.last = option.filter(|_| self.in_use);
    }

    /// The timestamps of the last ACK.
    pub(super) fn last(&self) -> Option<Timestamps> {
        self.last
    }

    /// Whether the ACK answers something sent before `at` (`tcp_tsopt_ecr_before`).
    pub(super) fn is_before(&self, at: Instant) -> bool {
        self.echo()
            .is_some_and(|echo| (echo.wrapping_sub(self.tick(at)) as i32) < 0)
    }

    /// Microseconds since the segment left that the ACK answers, in whole ticks and at least one.
    pub(super) fn age_us(&self, now: Instant) -> Option<u32> {
        let echo = self.echo()?;
        let ticks = self.tick(now).wrapping_sub(echo);
        Some(ticks.max(1).saturating_mul(TICK_US))
    }

    fn echo(&self) -> Option<u32> {
        self.last.map(|option| option.ecr).filter(|&ecr| ecr != 0)
    }

    /// Our clock, as segments carry it.
    fn tick(&self, at: Instant) -> u32 {
        Timestamps::tick(at).wrapping_add(self.offset)
    }
}
