//! Whether the congestion window is used: an unused one proves nothing about the path (RFC 2861 as Linux has it,
//! `tcp_cwnd_validate`).

use super::Sender;
use super::clock::micros;
use crate::cc::{Event, Recovery};

/// Whether, and how far, the window falls while it is not used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Validation {
    /// `tcp_slow_start_after_idle`.
    enabled: bool,
    /// Segments to which the window falls at most.
    initial_window: u32,
}

impl Validation {
    pub(super) fn new(enabled: bool, initial_window: u32) -> Self {
        Self {
            enabled,
            initial_window,
        }
    }
}

impl Sender {
    /// `tcp_is_cwnd_limited`.
    pub(super) fn is_window_limited(&self) -> bool {
        self.usage
            .is_window_limited(self.congestion.cwnd(), self.congestion.in_slow_start())
    }

    /// Whether the unused part of the window is taken away.
    fn validates(&self) -> bool {
        self.validation.enabled && !self.congestion.controls_rate()
    }

    /// Segments have been sent, or none could be; `full`: for want of window.
    pub(super) fn validate_window(&mut self, full: bool) {
        let out = self.board.len();
        let (una, nxt) = (self.board.una(), self.board.end());
        self.usage.note(una, nxt, out, full);
        if self.is_window_limited() {
            return self.usage.window_is_used(self.now);
        }
        let unused = self.usage.window_is_unused(self.now, out);
        if unused >= self.rtt.rto_us() && self.validates() {
            self.decay_window();
        }
    }

    /// The window was not full for a whole timeout: it falls halfway to the part that was used
    /// (`tcp_cwnd_application_limited`).
    fn decay_window(&mut self) {
        if self.episode.state() == Recovery::Open && !self.outbox.was_full() {
            let used = self.usage.take_used().max(self.validation.initial_window);
            self.congestion.decay(used, self.current_ssthresh());
        }
        self.usage.window_changed(self.now);
    }

    /// Something is to be sent with nothing in flight: after a pause longer than a timeout, the
    /// window is halved for each one, down to the initial window (`tcp_slow_start_after_idle`,
    /// `tcp_cwnd_restart`; RFC 5681 §4.1 would restart at once).
    pub(super) fn restart_after_idle(&mut self) {
        let (rto, idle) = (self.rtt.rto_us(), micros(self.usage.sent_at(), self.now));
        if !self.board.is_empty() || !self.validates() || idle <= rto {
            return;
        }
        self.tell_congestion(Event::WindowRestart);
        let timeouts = (idle - rto).div_ceil(rto);
        let ssthresh = self.current_ssthresh();
        self.congestion
            .restart(timeouts, self.validation.initial_window, ssthresh);
        self.usage.window_is_used(self.now);
    }
}
