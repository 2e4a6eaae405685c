//! Whether the congestion window is made use of: one that is not proves nothing about the path
//! (RFC 2861 as Linux has it, `tcp_cwnd_validate`).

use super::Sender;
use super::clock::micros;
use crate::cc::{Event, Recovery};
use tidegate_time::Instant;

/// How the window was used of late.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    /// The window limited what was sent in this round trip (`is_cwnd_limited`).
    limited: bool,
    /// Most segments outstanding in this round trip, as long as it did not.
    most_out: u32,
    /// The round trip ends when this offset is acknowledged.
    until: u64,
    /// Most segments outstanding since the window was full last.
    used: u32,
    /// When the window was full, or changed, last (`snd_cwnd_stamp`).
    pub(super) full_at: Instant,
    /// When data were sent last (`lsndtime`).
    pub(super) sent_at: Instant,
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
}

impl Sender {
    /// `tcp_is_cwnd_limited`: slow start may go on as long as half the window is used.
    pub(super) fn is_window_limited(&self) -> bool {
        self.usage.limited
            || (self.window.in_slow_start() && self.window.cwnd < 2 * self.usage.most_out)
    }

    /// Segments have been sent, or none could be; `full`: for want of window.
    pub(super) fn validate_window(&mut self, full: bool) {
        let out = self.board.len();
        if self.una >= self.usage.until
            || full
            || (!self.usage.limited && out > self.usage.most_out)
        {
            self.usage.limited = full;
            self.usage.most_out = out;
            self.usage.until = self.next();
        }
        if self.is_window_limited() {
            self.usage.used = 0;
            self.usage.full_at = self.now;
            return;
        }
        self.usage.used = self.usage.used.max(out);
        let unused = micros(self.usage.full_at, self.now) >= self.rtt.rto_us();
        if unused && self.slow_start_after_idle && !self.cc.controls_rate() {
            self.decay_window();
        }
    }

    /// The window was not full for a whole timeout: it falls halfway to what was used
    /// (`tcp_cwnd_application_limited`).
    fn decay_window(&mut self) {
        if self.episode.state == Recovery::Open && !self.buffer_was_full {
            let used = self.usage.used.max(self.initial_window);
            if used < self.window.cwnd {
                self.window.ssthresh = self.current_ssthresh();
                self.window.cwnd = self.window.cwnd.midpoint(used);
            }
            self.usage.used = 0;
        }
        self.usage.full_at = self.now;
    }

    /// Something is to be sent with nothing in flight: after a pause longer than a timeout, the
    /// window is halved for each one, down to the initial window (`tcp_slow_start_after_idle`,
    /// `tcp_cwnd_restart`; RFC 5681 §4.1 would restart at once).
    pub(super) fn restart_after_idle(&mut self) {
        let (rto, idle) = (self.rtt.rto_us(), micros(self.usage.sent_at, self.now));
        let may = self.slow_start_after_idle && !self.cc.controls_rate();
        if !self.board.is_empty() || !may || idle <= rto {
            return;
        }
        self.cc_event(Event::WindowRestart);
        self.window.ssthresh = self.current_ssthresh();
        let least = self.initial_window.min(self.window.cwnd);
        let mut left = idle - rto;
        while left > 0 && self.window.cwnd > least {
            self.window.cwnd /= 2;
            left = left.saturating_sub(rto);
        }
        self.window.cwnd = self.window.cwnd.max(least);
        self.usage.full_at = self.now;
        self.usage.used = 0;
    }
}
