//! Loss by time (RFC 8985 as Linux has it, `tcp_recovery.c`): a segment is lost once one that was
//! sent later has been delivered and the reordering window has passed.

use super::Sender;
use super::clock::micros;
use super::timer::{TIMEOUT_MIN, Timer};
use crate::cc::Recovery;
use tidegate_basics::time::Instant;

/// Recoveries for which a widened reordering window lasts (`TCP_RACK_RECOVERY_THRESH`).
const PERSIST: u8 = 16;

/// The delivered segment that was sent last, and the reordering window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rack {
    sent: Instant,
    end: u64,
    rtt: u32,
    /// Something was delivered since losses were looked for last.
    advanced: bool,
    /// A DSACK since the window was widened last.
    dsack_seen: bool,
    /// `delivered` when the window was widened last.
    last_delivered: u64,
    /// The window in quarters of the smallest round trip.
    steps: u8,
    /// Recoveries until it is narrowed again.
    persist: u8,
}

impl Rack {
    pub(super) fn new() -> Self {
        Self {
            sent: Instant::ZERO,
            end: 0,
            rtt: 0,
            advanced: false,
            dsack_seen: false,
            last_delivered: 0,
            steps: 1,
            persist: 0,
        }
    }

    /// A segment was delivered that was sent last at `sent` and ends at `end` (`tcp_rack_advance`). If it was sent more
    /// than once, an answer faster than any round trip answers an earlier transmission.
    pub(super) fn advance(
        &mut self,
        now: Instant,
        (sent, end): (Instant, u64),
        retransmitted: bool,
        min_rtt: Option<u32>,
    ) {
        let rtt = micros(sent, now);
        if retransmitted && rtt < min_rtt.unwrap_or(u32::MAX) {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        if (sent, end) > (self.sent, self.end) {
            self.sent = sent;
            self.end = end;
        }
    }

    /// Microseconds until a segment sent at `sent` is lost; None: it is.
    pub(super) fn remaining(&self, now: Instant, sent: Instant, window: u32) -> Option<u32> {
        let limit = u64::from(self.rtt) + u64::from(window);
        limit
            .checked_sub(micros(sent, now).into())
            .filter(|&left| left > 0)
            .map(|left| u32::try_from(left).unwrap_or(u32::MAX))
    }

    /// A DSACK: the reordering window is too narrow.
    pub(super) fn note_dsack(&mut self) {
        self.dsack_seen = true;
    }

    /// Losses have to be looked for, though nothing new has been delivered.
    pub(super) fn look_again(&mut self) {
        self.advanced = true;
    }

    /// Widens the reordering window after a DSACK, at most once a round trip, or narrows it again
    /// (`tcp_rack_update_reo_wnd`).
    pub(super) fn adapt(&mut self, prior_delivered: u64, delivered: u64) {
        if prior_delivered == 0 {
            return;
        }
        if prior_delivered < self.last_delivered {
            self.dsack_seen = false;
        }
        if self.dsack_seen {
            self.steps = self.steps.saturating_add(1);
            self.dsack_seen = false;
            self.last_delivered = delivered;
            self.persist = PERSIST;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// A recovery was undone by DSACK: the window stays wide for longer.
    pub(super) fn undone_by_dsack(&mut self) {
        self.persist = (self.persist + 1).min(PERSIST);
    }

    /// A recovery has succeeded.
    pub(super) fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }
}

impl Sender {
    /// How much later than its successors a segment may arrive (`tcp_rack_reo_wnd`), in
    /// microseconds. Until reordering has been seen, three segments above a hole suffice.
    pub(super) fn reordering_window(&self) -> u32 {
        if !self.reordering.seen() {
            let recovering = matches!(self.episode.state(), Recovery::Recovery | Recovery::Loss);
            if recovering || self.board.sacked() >= self.reordering.degree() {
                return 0;
            }
        }
        let quarter = self.rtt.min_us().unwrap_or(u32::MAX) / 4;
        quarter
            .saturating_mul(self.rack.steps.into())
            .min(self.rtt.srtt_us())
    }

    /// Marks the segments lost that RACK judges so; returns how long until it must look again (`tcp_rack_detect_loss`).
    fn detect_losses(&mut self) -> Option<u32> {
        let window = self.reordering_window();
        let mut longest = None;
        let mut next = self.board.oldest();
        while let Some(number) = next {
            next = self.board.later(number);
            let sent = self.board.get(number).at;
            if sent > self.rack.sent
                || (sent == self.rack.sent && self.board.end_of(number) >= self.rack.end)
            {
                break;
            }
            match self.rack.remaining(self.now, sent, window) {
                Some(left) => longest = longest.max(Some(left)),
                None => self.lose(number, false),
            }
        }
        longest
    }

    /// Looks for losses after an ACK; whether the reordering timer runs now
    /// (`tcp_rack_mark_lost`).
    pub(super) fn mark_lost_by_time(&mut self) -> bool {
        if !std::mem::take(&mut self.rack.advanced) {
            return false;
        }
        let Some(left) = self.detect_losses() else {
            return false;
        };
        let delay = u64::from(left) + TIMEOUT_MIN;
        self.set_timer(Timer::Reordering, delay.min(self.rtt.rto_us().into()));
        true
    }

    /// The reordering window has passed (`tcp_rack_reo_timeout`).
    pub(super) fn reordering_timeout(&mut self) {
        let prior = self.board.in_flight();
        let lost = self.rate.lost();
        self.detect_losses();
        if self.board.in_flight() != prior {
            if self.episode.state() != Recovery::Recovery {
                self.enter_recovery(false);
                if !self.congestion.controls_rate() {
                    self.reduce_window(1, (self.rate.lost() - lost) as u32, false);
                }
            }
            self.work.retransmit_lost();
        }
        self.work.rearm();
    }
}
