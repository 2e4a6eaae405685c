//! Tail Loss Probe (RFC 8985 §7): when no ACK comes for two round trips, one segment is sent, so that its SACK shows
//! which segments are lost before the timeout does.

use super::clock::{later, micros};
use super::progress::Progress;
use super::rtt::RTO_MIN;
use super::timer::{TIMEOUT_MIN, Timer};
use super::{Sender, Transmission};
use crate::cc::Recovery;

/// Delay of a probe without any measurement, in microseconds (`TCP_TIMEOUT_INIT`).
const TIMEOUT_INIT: u64 = 1_000_000;

/// A probe that was sent and not answered yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct LossProbe {
    /// The end of all data sent by then (`tlp_high_seq`).
    high: u64,
    /// It was the last segment once more, not a new one.
    retransmitted: bool,
}

impl LossProbe {
    /// Whether a DSACK of a segment that ends at `right` is of this probe.
    pub(super) fn ends_at(&self, right: u64) -> bool {
        self.high == right
    }
}

impl Sender {
    /// Sets the timer for a probe; false if there can be none (`tcp_schedule_loss_probe`).
    /// `advancing`: the timeout starts anew too.
    pub(super) fn schedule_loss_probe(&mut self, advancing: bool) -> bool {
        let Some(head) = self.board.head().filter(|_| self.sack) else {
            return false;
        };
        let calm = matches!(self.episode.state(), Recovery::Open | Recovery::Cwr);
        if !calm || self.is_shut() {
            return false;
        }
        let delay = match 2 * u64::from(self.rtt.srtt_us()) {
            0 => TIMEOUT_INIT,
            // A lone segment's ACK may be delayed.
            round_trips if self.board.len() == 1 => round_trips + u64::from(RTO_MIN),
            round_trips => round_trips + TIMEOUT_MIN,
        };
        let rto = self.rtt.rto_us().into();
        let left = if advancing {
            rto
        } else {
            micros(self.now, later(head.at, rto)).into()
        };
        let delay = if left == 0 { delay } else { delay.min(left) };
        self.set_timer_paced(Timer::LossProbe, delay);
        true
    }

    /// Two round trips have passed (`tcp_send_loss_probe`).
    pub(super) fn send_loss_probe(&mut self) {
        if self.loss_probe.is_none()
            && let Some((probe, retransmitted)) = self.next_loss_probe()
        {
            self.work.send(Some(probe));
            self.loss_probe = Some(LossProbe {
                high: self.board.end(),
                retransmitted,
            });
            // The timeout starts anew.
            self.timers.stop();
        }
        self.rearm();
    }

    /// The segment that probes, and whether it is an old one: a new one if the peer's window has
    /// room for it, else the last.
    fn next_loss_probe(&mut self) -> Option<(Transmission, bool)> {
        if self.unsent() > 0 && self.next_segment_fits() {
            if self.pacing_blocks() {
                return None;
            }
            let (len, fin) = self.next_segment();
            let probe = self.send(len, fin);
            self.validate_window(!self.window_has_room());
            return Some((probe, false));
        }
        let last = self.board.after_last().wrapping_sub(1);
        Some((self.retransmit(last)?, true))
    }

    /// Whether a probe is out that was sent before.
    pub(super) fn probe_repeats(&self) -> bool {
        self.loss_probe.is_some_and(|probe| probe.retransmitted)
    }

    /// Whether an ACK answers the probe, and whether the probe repaired a loss
    /// (`tcp_process_tlp_ack`).
    pub(super) fn answer_to_loss_probe(&mut self, offset: u64, progress: &Progress) {
        let Some(probe) = self.loss_probe.filter(|probe| offset >= probe.high) else {
            return;
        };
        if !probe.retransmitted || progress.probe_duplicated() {
            self.loss_probe = None;
        } else if offset > probe.high {
            // No DSACK: the probe replaced a segment that was lost.
            self.begin_reduction();
            self.end_reduction(false);
            self.keep_open();
        } else if progress.brings_nothing() {
            // A duplicate ACK: both have arrived.
            self.loss_probe = None;
        }
    }
}
