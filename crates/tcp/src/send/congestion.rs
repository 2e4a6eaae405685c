//! The congestion window and the algorithm that steers it, called as Linux calls its own. The sender's own changes of
//! the window are here, too: reductions, timeouts, idling.

use crate::cc::{
    AckSample, CongestionControl, Event, Flight, LostSegment, Manual, RateSample, Recovery, Window,
};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// Least time from one step of an algorithm to the next.
const STEP_MIN: Duration = Duration::from_micros(1);

/// An algorithm with its window.
#[derive(Debug)]
pub(super) struct Congestion {
    algorithm: Box<dyn CongestionControl>,
    window: Window,
    /// When the algorithm wants to be called, whatever happens.
    step_at: Option<Instant>,
}

impl Congestion {
    /// Before the handshake; the window is `initial` segments.
    pub(super) fn new(algorithm: Box<dyn CongestionControl>, initial: u32) -> Self {
        Self {
            algorithm,
            window: Window {
                cwnd: initial.max(1),
                ssthresh: Window::NO_SSTHRESH,
                count: 0,
                clamp: u32::MAX,
                prior_cwnd: 0,
                pacing_rate: None,
            },
            step_at: None,
        }
    }

    /// Congestion window in segments.
    pub(super) fn cwnd(&self) -> u32 {
        self.window.cwnd
    }

    /// Slow-start threshold in segments.
    pub(super) fn ssthresh(&self) -> u32 {
        self.window.ssthresh
    }

    pub(super) fn in_slow_start(&self) -> bool {
        self.window.in_slow_start()
    }

    /// Bytes a second, where the algorithm asks for a rate.
    pub(super) fn pacing_rate(&self) -> Option<u64> {
        self.window.pacing_rate
    }

    /// The most segments that leave together, where the algorithm sets this.
    pub(super) fn train_segments(&self) -> Option<u32> {
        self.algorithm.train_segments()
    }

    /// Whether the algorithm sets the window on every ACK, in place of PRR and of the reactions to timeouts and idling.
    pub(super) fn controls_rate(&self) -> bool {
        self.algorithm.controls_rate()
    }

    /// The threshold to return to: while it is not reduced, three quarters of the window at least
    /// (`tcp_current_ssthresh`).
    pub(super) fn current_ssthresh(&self, reducing: bool) -> u32 {
        let Window { cwnd, ssthresh, .. } = self.window;
        if reducing {
            ssthresh
        } else {
            ssthresh.max(cwnd / 2 + cwnd / 4)
        }
    }

    /// The connection is established.
    pub(super) fn establish(&mut self, flight: &Flight) {
        self.algorithm.init(&mut self.window, flight);
        self.step_at = self.algorithm.next_step();
    }

    /// The SYN was lost: one segment is left (RFC 5681 §3.1).
    pub(super) fn lose_syn(&mut self) {
        self.window.cwnd = 1;
    }

    /// The caller sets window and rate from now on.
    pub(super) fn tell(&mut self, manual: Manual) {
        self.algorithm = Box::new(manual);
        self.step_at = None;
        manual.apply(&mut self.window);
    }

    /// When [`Self::step`] is to be called.
    pub(super) fn step_at(&self) -> Option<Instant> {
        self.step_at
    }

    /// A step of the algorithm; `over`: the last one, since there is nothing to steer any more.
    pub(super) fn step(&mut self, flight: &Flight, over: bool) {
        self.algorithm.step(&mut self.window, flight);
        self.cap();
        let next = self.algorithm.next_step().filter(|_| !over);
        self.step_at = next.map(|at| at.max(flight.now + STEP_MIN));
    }

    pub(super) fn event(&mut self, flight: &Flight, event: Event) {
        self.algorithm.event(&mut self.window, flight, event);
    }

    pub(super) fn set_state(&mut self, flight: &Flight, state: Recovery) {
        self.algorithm.set_state(&mut self.window, flight, state);
    }

    pub(super) fn segment_lost(&mut self, flight: &Flight, lost: &LostSegment) {
        self.algorithm.segment_lost(&mut self.window, flight, lost);
    }

    pub(super) fn segments_acked(&mut self, flight: &Flight, sample: &AckSample) {
        self.algorithm.pkts_acked(&mut self.window, flight, sample);
    }

    /// An ACK, for an algorithm that controls its rate.
    pub(super) fn control(&mut self, flight: &Flight, sample: &RateSample) {
        self.algorithm.control(&mut self.window, flight, sample);
    }

    /// An ACK that delivered `delivered` segments may raise the window.
    pub(super) fn avoid(&mut self, flight: &Flight, delivered: u32) {
        self.algorithm
            .cong_avoid(&mut self.window, flight, delivered);
    }

    /// The window is never larger than the algorithm's clamp.
    pub(super) fn cap(&mut self) {
        self.window.cwnd = self.window.cwnd.min(self.window.clamp);
    }

    /// A reduction begins (`tcp_init_cwnd_reduction`): the threshold is set, the window follows under PRR.
    pub(super) fn begin_reduction(&mut self, flight: &Flight) {
        self.window.count = 0;
        self.reduce_threshold(flight);
    }

    /// The algorithm reduces its threshold, and the window is remembered.
    pub(super) fn reduce_threshold(&mut self, flight: &Flight) {
        self.window.prior_cwnd = self.window.cwnd;
        self.window.ssthresh = self.algorithm.ssthresh(&self.window, flight);
    }

    /// The window during a reduction, as PRR has it; see [`Prr::window`](super::prr::Prr::window).
    pub(super) fn reduce(&mut self, prr: impl FnOnce(&Window) -> u32) {
        self.window.cwnd = prr(&self.window);
    }

    /// A reduction is complete: the window is the threshold; whether there is one.
    pub(super) fn complete_reduction(&mut self) -> bool {
        let reduced = self.window.ssthresh < Window::NO_SSTHRESH;
        if reduced {
            self.window.cwnd = self.window.ssthresh;
        }
        reduced
    }

    /// A timeout: one segment more than those in flight (RFC 5681 §3.1, equation 4).
    pub(super) fn collapse(&mut self, in_flight: u32) {
        self.window.cwnd = in_flight + 1;
        self.window.count = 0;
    }

    /// Undoes a needless reduction: restores the window before it, and the threshold `prior` if that is higher than the
    /// present one. Returns whether it was higher.
    pub(super) fn undo(&mut self, flight: &Flight, prior: u32) -> bool {
        self.window.cwnd = self.algorithm.undo_cwnd(&self.window, flight);
        let raised = prior > self.window.ssthresh;
        if raised {
            self.window.ssthresh = prior;
        }
        raised
    }

    /// The window falls halfway to the part of it that was `used`; the threshold remembers it.
    pub(super) fn decay(&mut self, used: u32, ssthresh: u32) {
        if used < self.window.cwnd {
            self.window.ssthresh = ssthresh;
            self.window.cwnd = self.window.cwnd.midpoint(used);
        }
    }

    /// After a pause of `idle` timeouts the window is halved for each one, down to `initial` segments
    /// (`tcp_cwnd_restart`); the threshold remembers it.
    pub(super) fn restart(&mut self, idle: u32, initial: u32, ssthresh: u32) {
        self.window.ssthresh = ssthresh;
        let least = initial.min(self.window.cwnd);
        let halved = self.window.cwnd.checked_shr(idle).unwrap_or(0);
        self.window.cwnd = halved.max(least);
    }
}

#[cfg(test)]
impl Congestion {
    /// The window, for scripts to set.
    pub(super) fn window_mut(&mut self) -> &mut Window {
        &mut self.window
    }

    /// Another algorithm takes over.
    pub(super) fn replace(&mut self, algorithm: Box<dyn CongestionControl>) {
        self.algorithm = algorithm;
    }
}
