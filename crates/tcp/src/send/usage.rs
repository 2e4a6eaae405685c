//! How much of the congestion window was used recently (RFC 7661 §4, Linux's `tcp_cwnd_validate`).

use super::clock::micros;
use tidegate_basics::time::Instant;

/// What was sent, compared with what the window allowed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    /// The window limited what was sent in this round trip (`is_cwnd_limited`).
    limited: bool,
    /// Most segments outstanding in this round trip, while the window did not limit it.
    most_out: u32,
    /// The round trip ends when this offset is acknowledged.
    until: u64,
    /// Most segments outstanding since the window was full last.
    used: u32,
    /// When the window was full, or changed, last (`snd_cwnd_stamp`).
    full_at: Instant,
    /// When data were sent last (`lsndtime`).
    sent_at: Instant,
}

impl Usage {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            limited: false,
            most_out: 0,
            until: 0,
            used: 0,
            full_at: now,
            sent_at: now,
        }
    }

    /// `tcp_is_cwnd_limited`: slow start may go on as long as half the window is used.
    pub(super) fn is_window_limited(&self, cwnd: u32, in_slow_start: bool) -> bool {
        self.limited || (in_slow_start && cwnd < 2 * self.most_out)
    }

    /// `out` segments are outstanding, from `una` to `nxt`, after some were sent or none could be; `full`: for want of
    /// window.
    pub(super) fn note(&mut self, una: u64, nxt: u64, out: u32, full: bool) {
        if una >= self.until || full || (!self.limited && out > self.most_out) {
            self.limited = full;
            self.most_out = out;
            self.until = nxt;
        }
    }

    /// The window limits what is sent.
    pub(super) fn window_is_used(&mut self, now: Instant) {
        self.used = 0;
        self.full_at = now;
    }

    /// The window does not limit what is sent. Returns the microseconds since it did.
    pub(super) fn window_is_unused(&mut self, now: Instant, out: u32) -> u32 {
        self.used = self.used.max(out);
        micros(self.full_at, now)
    }

    /// Most segments outstanding since the window was full last, which are counted anew.
    pub(super) fn take_used(&mut self) -> u32 {
        std::mem::take(&mut self.used)
    }

    /// The window has changed.
    pub(super) fn window_changed(&mut self, now: Instant) {
        self.full_at = now;
    }

    /// Data are sent.
    pub(super) fn data_sent(&mut self, now: Instant) {
        self.sent_at = now;
    }

    /// When data were sent last.
    pub(super) fn sent_at(&self) -> Instant {
        self.sent_at
    }
}
