//! The one timer for the segments in flight, in its four roles, and the retransmission timeout.

use super::Sender;
use super::clock::{later, micros};
use super::rtt::RTO_MAX;
use crate::ticks::{Ticks, run_out};
use tidegate_basics::time::{Instant, earlier};

/// Least delay of a timer that waits for an ACK, in microseconds (`TCP_TIMEOUT_MIN`: two ticks of
/// a millisecond).
pub(super) const TIMEOUT_MIN: u64 = 2000;

/// What the timer is for (`icsk_pending`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    /// Nothing was heard for a whole RTO: the window is believed lost (RFC 6298).
    Retransmission,
    /// Nothing was heard for two round trips: a probe asks for news (RFC 8985 §7).
    LossProbe,
    /// Segments that may only be late have had enough time (RFC 8985 §6.2 step 5).
    Reordering,
    /// The peer's window is closed: asks whether it still is (RFC 9293 §3.8.6.1).
    WindowProbe,
}

/// The timer, if it runs: its role, and its time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timers {
    ticks: Option<Ticks>,
    running: Option<(Timer, Instant)>,
}

impl Timers {
    /// None runs.
    pub(super) fn new(ticks: Option<Ticks>) -> Self {
        Self {
            ticks,
            running: None,
        }
    }

    /// When it runs out.
    pub(super) fn at(&self) -> Option<Instant> {
        self.running.map(|(_, at)| at)
    }

    /// The role of the timer, if it has run out.
    fn due(&self, now: Instant) -> Option<Timer> {
        let (timer, _) = self.running.filter(|&(_, at)| at <= now)?;
        Some(timer)
    }

    /// Whether it runs.
    pub(super) fn any(&self) -> bool {
        self.running.is_some()
    }

    /// Whether it runs in that role.
    pub(super) fn runs(&self, timer: Timer) -> bool {
        self.running.is_some_and(|(kind, _)| kind == timer)
    }

    /// Sets it at `now`, `delay` microseconds from `from`.
    fn set(&mut self, timer: Timer, now: Instant, from: Instant, delay: u64) {
        let at = later(from, delay.min(RTO_MAX.into()));
        self.running = Some((timer, run_out(self.ticks, now, at)));
    }

    pub(super) fn stop(&mut self) {
        self.running = None;
    }
}

impl Sender {
    /// When [`Self::expire`] wants to be called: RTO, TLP, RACK's reordering timer, pacing, window
    /// probe, a step of the congestion control.
    pub fn timeout(&self) -> Option<Instant> {
        let steps = self.congestion.step_at();
        earlier(earlier(self.timers.at(), self.pacing.wake_up()), steps)
    }

    /// The time of [`Self::timeout`] has come.
    pub fn expire(&mut self, now: Instant) {
        self.now = now;
        if self.congestion.step_at().is_some_and(|at| at <= now) {
            self.step();
        }
        if self.pacing.wake(now) {
            self.work.push();
            if self.board.any_to_resend() {
                self.work.retransmit_lost();
            }
        }
        match self.timers.due(now) {
            Some(Timer::Reordering) => self.reordering_timeout(),
            Some(Timer::LossProbe) => self.send_loss_probe(),
            Some(Timer::Retransmission) => {
                self.timers.stop();
                self.retransmission_timeout();
            }
            Some(Timer::WindowProbe) => {
                self.timers.stop();
                self.probe_window();
            }
            None => {}
        }
    }

    /// A step of the congestion control, which may open the window. Once all data are acknowledged there is nothing to
    /// steer.
    fn step(&mut self) {
        let flight = self.flight();
        let over = self.finished();
        self.congestion.step(&flight, over);
        self.work.push();
    }

    /// Sets the timer `delay` microseconds from now.
    pub(super) fn set_timer(&mut self, timer: Timer, delay: u64) {
        self.timers.set(timer, self.now, self.now, delay);
    }

    /// The same, counted from when pacing lets the next segment leave.
    pub(super) fn set_timer_paced(&mut self, timer: Timer, delay: u64) {
        let from = self.now.max(self.pacing.next());
        self.timers.set(timer, self.now, from, delay);
    }

    /// Starts the retransmission timer anew, or stops it (`tcp_rearm_rto`).
    pub(super) fn rearm(&mut self) {
        let Some(head) = self.board.head() else {
            return self.timers.stop();
        };
        let rto = self.rtt.rto_us().into();
        let delay = if self.timers.runs(Timer::Reordering) || self.timers.runs(Timer::LossProbe) {
            // The timeout has been running meanwhile.
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
        let since = micros(self.episode.first_resent().unwrap_or(head.at), self.now);
        if self.peer.is_closed() {
            // The peer has withdrawn its window: the retransmission is only a probe of it.
            let silence = self.retries.silence(self.now);
            self.retries.judge_silence(silence.min(since));
        } else {
            self.retries.judge_timeout(since);
            self.counters.timed_out();
        }
        if self.retries.given_up() {
            return;
        }
        self.enter_loss();
        if !self.peer.is_closed() {
            self.retries.timed_out();
        }
        let head = self.resend(self.board.first());
        self.work.send(head);
        self.rtt.back_off();
        self.set_timer(Timer::Retransmission, self.rtt.rto_us().into());
    }
}
