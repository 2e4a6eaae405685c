//! Proportional Rate Reduction (RFC 6937bis; `tcp_cwnd_reduction` of Linux 6.18): during fast recovery the window
//! follows the deliveries, and ends at the threshold.

use super::Sender;
use crate::cc::{Event, Window};

/// Segments delivered and sent since the recovery began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    delivered: u32,
    out: u32,
}

impl Prr {
    /// A segment is sent, new or once more.
    pub(super) fn sent(&mut self) {
        self.out += 1;
    }

    /// The window after `newly_delivered` more segments. `safe`: the ACK advanced and nothing more
    /// was lost, so the reduction bound may grow by slow start.
    pub(super) fn window(
        &mut self,
        w: &Window,
        in_flight: u32,
        newly_delivered: u32,
        safe: bool,
    ) -> u32 {
        self.delivered += newly_delivered;
        let (delivered, out) = (i64::from(self.delivered), i64::from(self.out));
        let room = i64::from(w.ssthresh) - i64::from(in_flight);
        let send = if room < 0 {
            // Above the threshold: send ssthresh / prior_cwnd of what is delivered.
            let prior = i64::from(w.prior_cwnd.max(1));
            (i64::from(w.ssthresh) * delivered + prior - 1) / prior - out
        } else {
            // Below: conserve packets, or catch up (PRR-CRB, PRR-SSRB).
            let conserve = (delivered - out).max(newly_delivered.into());
            (conserve + i64::from(safe)).min(room)
        };
        // The fast retransmit leaves in any case.
        let least = i64::from(self.out == 0);
        in_flight + send.max(least) as u32
    }
}

impl Sender {
    /// A reduction begins (`tcp_init_cwnd_reduction`).
    pub(super) fn begin_reduction(&mut self) {
        self.episode.extend(self.board.end());
        self.loss_probe = None;
        self.prr = Prr::default();
        let flight = self.flight();
        self.congestion.begin_reduction(&flight);
        self.marks.queue_cwr();
    }

    /// The window in recovery after `delivered` more segments were delivered and `lost` more
    /// found lost.
    pub(super) fn reduce_window(&mut self, delivered: u32, lost: u32, advanced: bool) {
        if delivered == 0 {
            return;
        }
        let in_flight = self.board.in_flight();
        let safe = advanced && lost == 0;
        let prr = &mut self.prr;
        self.congestion
            .reduce(|window| prr.window(window, in_flight, delivered, safe));
    }

    /// A segment is sent while PRR counts departures.
    pub(super) fn count_for_prr(&mut self) {
        if self.episode.is_reducing() {
            self.prr.sent();
        }
    }

    /// A reduction is complete: the window is the threshold, unless it was `undone`
    /// (`tcp_end_cwnd_reduction`).
    pub(super) fn end_reduction(&mut self, undone: bool) {
        if self.congestion.controls_rate() {
            return;
        }
        if !undone && self.congestion.complete_reduction() {
            self.usage.window_changed(self.now);
        }
        self.tell_congestion(Event::CompleteRecovery);
    }
}
