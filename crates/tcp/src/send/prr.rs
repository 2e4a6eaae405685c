//! Proportional Rate Reduction (RFC 6937bis; `tcp_cwnd_reduction` of Linux 6.18): during fast
//! recovery the window follows what is delivered, and ends at the threshold.

use super::Sender;
use crate::cc::{Event, Recovery, Window};

/// Segments delivered and sent since the recovery began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Prr {
    delivered: u32,
    pub(super) out: u32,
}

impl Prr {
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
        self.episode.high = self.next();
        self.tlp = None;
        self.window.count = 0;
        self.window.prior_cwnd = self.window.cwnd;
        self.prr = Prr::default();
        let flight = self.flight();
        self.window.ssthresh = self.cc.ssthresh(&self.window, &flight);
        self.marks.queue_cwr();
    }

    /// The window in recovery after `delivered` more segments were delivered and `lost` more
    /// found lost.
    pub(super) fn reduce_window(&mut self, delivered: u32, lost: u32, advanced: bool) {
        if delivered == 0 {
            return;
        }
        let in_flight = self.in_flight();
        let safe = advanced && lost == 0;
        self.window.cwnd = self.prr.window(&self.window, in_flight, delivered, safe);
    }

    /// A reduction is complete: the window is the threshold, unless it was `undone`
    /// (`tcp_end_cwnd_reduction`).
    pub(super) fn end_reduction(&mut self, undone: bool) {
        if self.cc.controls_rate() {
            return;
        }
        if self.window.ssthresh < Window::NO_SSTHRESH && !undone {
            self.window.cwnd = self.window.ssthresh;
            self.usage.full_at = self.now;
        }
        self.cc_event(Event::CompleteRecovery);
    }

    /// Whether PRR steers the window (`tcp_in_cwnd_reduction`).
    pub(super) fn is_reducing(&self) -> bool {
        matches!(self.episode.state, Recovery::Cwr | Recovery::Recovery)
    }
}
