//! Pacing by a timer of our own, for congestion controls that ask for a rate (Linux's internal
//! pacing, `tcp_update_skb_after_send`) and for AFC's bursts.

use super::Sender;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// The segments that leave before pacing begins: the initial window is a burst.
const UNPACED: u64 = 10;

/// When the next segment may leave.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pacing {
    next: Instant,
    /// A segment waits for that time.
    waiting: bool,
    /// If the congestion control gives no rate, the window's is used.
    by_window: bool,
}

impl Pacing {
    /// `by_window`: also where congestion control asks for no rate.
    pub(super) fn new(by_window: bool) -> Self {
        Self {
            next: Instant::ZERO,
            waiting: false,
            by_window,
        }
    }

    /// When to look again, if a segment waits.
    pub(super) fn wake_up(&self) -> Option<Instant> {
        self.waiting.then_some(self.next)
    }

    /// Whether the time has come for the segment that waits.
    pub(super) fn wake(&mut self, now: Instant) -> bool {
        let due = self.waiting && self.next <= now;
        self.waiting &= !due;
        due
    }

    /// When the next segment may leave.
    pub(super) fn next(&self) -> Instant {
        self.next
    }
}

impl Sender {
    /// Bytes a second: the congestion control's, AFC's for a burst, or the window's.
    fn pacing_rate(&self) -> Option<u64> {
        let rate = self.congestion.pacing_rate();
        let rate = rate.or_else(|| self.burst_rate());
        rate.or_else(|| self.pacing.by_window.then(|| self.window_rate())?)
    }

    /// The window in a smoothed round trip, and a quarter more, so that all of it is used (RFC 9002 §7.7).
    fn window_rate(&self) -> Option<u64> {
        let srtt = u64::from(self.rtt.srtt_us());
        let window = u64::from(self.congestion.cwnd()) * u64::from(self.mss.full());
        (srtt > 0).then(|| window * 1_250_000 / srtt)
    }

    /// Whether nothing may leave yet; then the pacing timer runs.
    pub(super) fn pacing_blocks(&mut self) -> bool {
        let blocks = self.pacing.next > self.now && self.pacing_rate().is_some();
        self.pacing.waiting |= blocks;
        blocks
    }

    /// The time at which `len` bytes leave together; the next departure counts from it.
    pub(super) fn leave(&mut self, len: u64) -> Instant {
        let Some(rate) = self.pacing_rate().filter(|&rate| rate > 0) else {
            return self.now;
        };
        let planned = self.pacing.next;
        let at = planned.max(self.now);
        self.pacing.next = at;
        let segments = len.div_ceil(u64::from(self.mss.full()));
        if self.counters.segments_sent() + segments >= UNPACED {
            let gap = Duration::from_nanos(len * 1_000_000_000 / rate);
            // Half a gap of a late start is made up for, at most.
            self.pacing.next = at + (gap - (gap / 2).min(at - planned));
        }
        at
    }
}

#[cfg(test)]
impl Pacing {
    /// As in [`Pacing::new`].
    pub(super) fn set_by_window(&mut self, by_window: bool) {
        self.by_window = by_window;
    }
}
