//! How long the sender waits for a peer that does not answer (RFC 9293 §3.8.3's R2; Linux's `tcp_retries2`).

use super::clock::micros;
use super::rtt::{RTO_MAX, RTO_MIN};
use tidegate_basics::time::Instant;

/// Timeouts in a row, counted from [`RTO_MIN`], before giving up (`tcp_retries2`).
pub(super) const RETRIES: u32 = 15;

/// Attempts that stayed without an answer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retries {
    /// When the last ACK came.
    heard_at: Instant,
    timeouts_in_row: u32,
    probes_unanswered: u32,
    given_up: bool,
}

impl Retries {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            heard_at: now,
            timeouts_in_row: 0,
            probes_unanswered: 0,
            given_up: false,
        }
    }

    /// An ACK has come that is not an old one.
    pub(super) fn heard(&mut self, now: Instant) {
        self.heard_at = now;
        self.probes_unanswered = 0;
    }

    /// Data were acknowledged, or the timeouts came too early: the row of timeouts is over.
    pub(super) fn end_row(&mut self) {
        self.timeouts_in_row = 0;
    }

    /// The retransmission timer has run out once more.
    pub(super) fn timed_out(&mut self) {
        self.timeouts_in_row += 1;
    }

    /// Whether the timer has run out before without any data acknowledged since.
    pub(super) fn in_row(&self) -> bool {
        self.timeouts_in_row > 0
    }

    /// A timeout, `since` microseconds after the first transmission that stayed unanswered. Linux does not count the
    /// retries, but waits as long as they would have taken.
    pub(super) fn judge_timeout(&mut self, since: u32) {
        self.given_up = self.in_row() && since >= patience(RETRIES);
    }

    /// Microseconds since the last ACK.
    pub(super) fn silence(&self, now: Instant) -> u32 {
        micros(self.heard_at, now)
    }

    /// A timeout after `silence` microseconds without an ACK, while the segments sent only probe a closed window.
    pub(super) fn judge_silence(&mut self, silence: u32) {
        self.given_up = silence > 2 * RTO_MAX;
    }

    /// A probe of a closed window is due; whether there have been too many.
    pub(super) fn judge_probes(&mut self) -> bool {
        self.given_up |= self.probes_unanswered >= RETRIES;
        self.given_up
    }

    /// A window probe was sent that carries no data.
    pub(super) fn probed(&mut self) {
        self.probes_unanswered += 1;
    }

    /// There is nothing to probe any more.
    pub(super) fn end_probes(&mut self) {
        self.probes_unanswered = 0;
    }

    /// Whether the sender has given up.
    pub(super) fn given_up(&self) -> bool {
        self.given_up
    }
}

/// Microseconds that `retries` timeouts take that start from [`RTO_MIN`] and double (`tcp_model_timeout`).
const fn patience(retries: u32) -> u32 {
    let doublings = (RTO_MAX / RTO_MIN).ilog2();
    if retries <= doublings {
        ((2 << retries) - 1) * RTO_MIN
    } else {
        ((2 << doublings) - 1) * RTO_MIN + (retries - doublings) * RTO_MAX
    }
}
