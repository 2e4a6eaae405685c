//! The one timer of what is in flight, in its four roles, and the retransmission timeout.

use super::Sender;
use super::clock::{later, micros};
use super::rtt::{RTO_MAX, RTO_MIN};
use std::time::Duration;
use tidegate_time::{Instant, earlier};

/// Least delay of a timer that waits for an ACK, in microseconds (`TCP_TIMEOUT_MIN`: two ticks of
/// a millisecond).
pub(super) const TIMEOUT_MIN: u64 = 2000;

/// Timeouts in a row, reckoned from [`RTO_MIN`], before giving up (`tcp_retries2`).
pub(super) const RETRIES: u32 = 15;

/// Least time from one step of a congestion control to the next.
const STEP_MIN: Duration = Duration::from_micros(1);

/// What the timer is for (`icsk_pending`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// Nothing was heard for a whole RTO: the window is believed lost (RFC 6298).
    Retransmission,
    /// Nothing was heard for two round trips: a probe asks for news (RFC 8985 §7).
    LossProbe,
    /// Segments that might only be late have had their time (RFC 8985 §6.2 step 5).
    Reordering,
    /// The peer's window is closed: asks whether it still is (RFC 9293 §3.8.6.1).
    WindowProbe,
}

impl Sender {
    /// When [`Self::expire`] wants to be called: RTO, TLP, RACK's reordering timer, pacing, window
    /// probe, a step of the congestion control.
    pub fn timeout(&self) -> Option<Instant> {
        let timer = self.timer.map(|(_, at)| at);
        earlier(earlier(timer, self.pacing.wake_up()), self.step_at)
    }

    /// The time of [`Self::timeout`] has come.
    pub fn expire(&mut self, now: Instant) {
        self.now = now;
        if self.step_at.is_some_and(|at| at <= now) {
            self.step();
        }
        if self.pacing.wake(now) {
            self.work.push = true;
            if self.board.lost() > self.board.retrans() {
                self.work.retransmit_lost();
            }
        }
        let Some((timer, _)) = self.timer.filter(|&(_, at)| at <= now) else {
            return;
        };
        match timer {
            Timer::Reordering => self.reordering_timeout(),
            Timer::LossProbe => self.send_loss_probe(),
            Timer::Retransmission => {
                self.timer = None;
                self.retransmission_timeout();
            }
            Timer::WindowProbe => {
                self.timer = None;
                self.probe_window();
            }
        }
    }

    /// A step of the congestion control, which may have opened the window. Once all is over there is nothing to steer.
    fn step(&mut self) {
        let flight = self.flight();
        self.cc.step(&mut self.window, &flight);
        self.window.cwnd = self.window.cwnd.min(self.window.clamp);
        let next = self.cc.next_step().filter(|_| !self.finished());
        self.step_at = next.map(|at| at.max(self.now + STEP_MIN));
        self.work.push = true;
    }

    /// Sets the timer `delay` microseconds from now.
    pub(super) fn set_timer(&mut self, timer: Timer, delay: u64) {
        self.timer = Some((timer, later(self.now, delay.min(RTO_MAX.into()))));
    }

    /// The same, reckoned from when pacing lets the next segment leave.
    pub(super) fn set_timer_paced(&mut self, timer: Timer, delay: u64) {
        let from = self.now.max(self.pacing.next());
        self.timer = Some((timer, later(from, delay.min(RTO_MAX.into()))));
    }

    pub(super) fn timer_is(&self, timer: Timer) -> bool {
        self.timer.is_some_and(|(kind, _)| kind == timer)
    }

    /// Starts the retransmission timer anew, or stops it (`tcp_rearm_rto`).
    pub(super) fn rearm(&mut self) {
        let Some(head) = self.board.head() else {
            self.timer = None;
            return;
        };
        let rto = self.rtt.rto_us().into();
        let delay = if self.timer_is(Timer::Reordering) || self.timer_is(Timer::LossProbe) {
            // It has been running underneath.
            micros(self.now, later(head.at, rto)).max(1).into()
        } else {
            rto
        };
        self.set_timer_paced(Timer::Retransmission, delay);
    }

    /// After an ACK: a loss probe if there may be one, else the timeout (`tcp_set_xmit_timer`).
    pub(super) fn set_transmission_timer(&mut self) {
        if self.board.is_empty() || !self.schedule_loss_probe(true) {
            self.rearm();
        }
    }

    /// `tcp_retransmit_timer`.
    fn retransmission_timeout(&mut self) {
        let Some(head) = self.board.head() else {
            return;
        };
        if self.is_shut() {
            return self.probe_shut_window();
        }
        let since = micros(self.episode.first_resent.unwrap_or(head.at), self.now);
        if self.peer_window == 0 {
            // The peer has taken its window back: the retransmission is but a probe of it.
            let silent = micros(self.heard_at, self.now);
            self.given_up = silent.min(since) > 2 * RTO_MAX;
        } else {
            // Linux counts no retries but waits as long as they would have taken.
            self.given_up = self.timeouts_in_row > 0 && since >= patience(RETRIES);
            self.timeouts += 1;
        }
        if self.given_up {
            return;
        }
        self.enter_loss();
        if self.peer_window > 0 {
            self.timeouts_in_row += 1;
        }
        let head = self.board.first();
        self.work.outbox = self.resend(head);
        self.rtt.back_off();
        self.set_timer(Timer::Retransmission, self.rtt.rto_us().into());
    }
}

/// How many microseconds `retries` timeouts take that start from [`RTO_MIN`] and double
/// (`tcp_model_timeout`).
const fn patience(retries: u32) -> u32 {
    let doublings = (RTO_MAX / RTO_MIN).ilog2();
    if retries <= doublings {
        ((2 << retries) - 1) * RTO_MIN
    } else {
        ((2 << doublings) - 1) * RTO_MIN + (retries - doublings) * RTO_MAX
    }
}
