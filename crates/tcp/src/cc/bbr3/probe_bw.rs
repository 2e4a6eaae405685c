//! The cycle of PROBE_BW: when to look for more, how far, and what the ACKs of it mean (§5.3.3).

use super::loss::is_too_high;
use super::{Bbr3, MIN_CWND, Sample, State};
use crate::cc::Flight;
use crate::cc::Window;
use crate::cc::path::{Bandwidth, Gain};
use rand::RngExt;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// A probe waits for 2 to 3 s,
const LEAST_WAIT: Duration = Duration::from_secs(2);
const RANDOM_WAIT_US: u64 = 1_000_000;

/// or for as many rounds as a Reno flow of the same window would take to fill it, up to this many.
const MOST_ROUNDS: u32 = 63;

/// `Headroom`: part of the long-term bound that is left to others, in percent.
const HEADROOM_PERCENT: u64 = 15;

/// The long-term bound grows by at most 2^30 segments a round.
const MOST_DOUBLINGS: u32 = 30;

/// What the ACKs that come in mean for the probe (§2.12, `ack_phase`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AckPhase {
    /// Nothing.
    #[default]
    Init,
    /// The pipe is being filled.
    Refilling,
    /// The probe has begun, its feedback has not.
    Starting,
    /// Feedback of the probe.
    Feedback,
    /// The probe is over, its feedback is not.
    Stopping,
}

/// The state of probing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Probe {
    pub ack_phase: AckPhase,
    /// Whether loss tells of the probe (`is_bw_probe_sample`); it is reacted to once.
    pub sampling: bool,
    /// Whether the last probe lost too much, and whether the one before this ended at the bound that resulted.
    pub too_high: bool,
    pub precautionary: bool,
    /// When the cycle began, and how long it waits at most.
    pub cycle_at: Instant,
    pub wait: Duration,
    /// Rounds since the last probe, plus 0 or 1 at random.
    pub rounds_since_up: u32,
    /// Growth of the long-term bound: rounds of it, segments acknowledged towards the next increase,
    /// and how many that takes.
    up_rounds: u32,
    up_acked: u32,
    acked_per_increase: u32,
}

impl Bbr3 {
    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn update_probe_bw(&mut self, w: &Window, f: &Flight, s: &Sample) {
        if !self.full || self.adapt_long_term(w, f, s) {
            return;
        }
        let state = self.state;
        match state {
            State::Down if self.is_time_to_probe(w, f) => self.start_refill(f),
            State::Down if self.is_time_to_cruise(f) => self.state = State::Cruise,
            State::Cruise if self.is_time_to_probe(w, f) => self.start_refill(f),
            State::Refill if self.rounds.start => {
                self.probe.sampling = true;
                self.start_up(w, f, s);
            }
            State::Up if self.is_time_to_go_down(w, f, s) => {
                self.probe.too_high = false;
                self.start_down(f);
            }
            _ => {}
        }
    }

    /// `StartProbeBW_DOWN`.
    pub(super) fn start_down(&mut self, f: &Flight) {
        self.reset_congestion_signals();
        self.pick_probe_wait();
        self.probe.cycle_at = f.now;
        self.probe.ack_phase = AckPhase::Stopping;
        self.rounds.begin(f.delivered);
        self.state = State::Down;
    }

    /// `StartProbeBW_REFILL`.
    pub(super) fn start_refill(&mut self, f: &Flight) {
        self.short_term = super::Bounds::NONE;
        self.probe.up_rounds = 0;
        self.probe.up_acked = 0;
        self.probe.precautionary = false;
        self.probe.ack_phase = AckPhase::Refilling;
        self.rounds.begin(f.delivered);
        self.state = State::Refill;
    }

    /// `StartProbeBW_UP`.
    fn start_up(&mut self, w: &Window, f: &Flight, s: &Sample) {
        self.probe.ack_phase = AckPhase::Starting;
        self.rounds.begin(f.delivered);
        self.reset_full(s.bandwidth);
        self.state = State::Up;
        self.steepen(w);
    }

    /// `PickProbeWait`.
    fn pick_probe_wait(&mut self) {
        self.probe.rounds_since_up = self.random.random_range(0..=1);
        let more = self.random.random_range(0..=RANDOM_WAIT_US);
        self.probe.wait = LEAST_WAIT + Duration::from_micros(more);
    }

    /// `IsTimeToProbeBW`: by the clock, or as often as Reno would lose something (§5.3.3.8).
    fn is_time_to_probe(&self, w: &Window, f: &Flight) -> bool {
        f.now > self.probe.cycle_at + self.probe.wait
            || self.probe.rounds_since_up >= self.target_inflight(w).min(MOST_ROUNDS)
    }

    /// `IsTimeToCruise`.
    fn is_time_to_cruise(&self, f: &Flight) -> bool {
        f.in_flight <= self.inflight_with_headroom()
            && f.in_flight <= self.inflight(self.max_bandwidth.get(), Gain::ONE)
    }

    /// `IsTimeToGoDown`. The bound also is the window, so that what is in flight after an ACK never
    /// reaches it: what was before the ACK counts, as in Linux's version 3.
    fn is_time_to_go_down(&mut self, w: &Window, f: &Flight, s: &Sample) -> bool {
        if self.probe.too_high && s.prior_in_flight >= self.inflight_long_term {
            self.probe.precautionary = true;
            return true;
        }
        if f.cwnd_limited && w.cwnd >= self.inflight_long_term {
            // The bound limits the rate, not the path.
            self.reset_full(s.bandwidth);
            return false;
        }
        self.full_now
    }

    /// `TargetInflight`.
    pub(super) fn target_inflight(&self, w: &Window) -> u32 {
        self.bdp(Gain::ONE).min(w.cwnd)
    }

    /// `InflightWithHeadroom`.
    pub(super) fn inflight_with_headroom(&self) -> u32 {
        let bound = self.inflight_long_term;
        if bound == u32::MAX {
            return bound;
        }
        let headroom = (u64::from(bound) * HEADROOM_PERCENT / 100).max(1) as u32;
        bound.saturating_sub(headroom).max(MIN_CWND)
    }

    /// `AdaptLongTermModel`; whether it has decided on a state.
    fn adapt_long_term(&mut self, w: &Window, f: &Flight, s: &Sample) -> bool {
        if self.rounds.start {
            let phase = self.probe.ack_phase;
            match phase {
                AckPhase::Starting => self.probe.ack_phase = AckPhase::Feedback,
                AckPhase::Stopping if self.end_feedback(f, s) => return true,
                _ => {}
            }
        }
        if is_too_high(s.lost, s.tx_in_flight) || self.inflight_long_term == u32::MAX {
            return false;
        }
        self.inflight_long_term = self.inflight_long_term.max(s.tx_in_flight);
        if self.state == State::Up {
            self.grow_long_term(w, f, s);
        }
        false
    }

    /// The last feedback of a probe is in. If it was broken off as a precaution, and without need,
    /// the next one follows at once.
    fn end_feedback(&mut self, f: &Flight, s: &Sample) -> bool {
        self.probe.sampling = false;
        self.probe.ack_phase = AckPhase::Init;
        if !self.state.is_probe_bw() {
            return false;
        }
        if !s.app_limited {
            self.max_bandwidth.advance();
        }
        let again = self.probe.precautionary && !self.probe.too_high;
        if again {
            self.start_refill(f);
        }
        again
    }

    /// `RaiseInflightLongtermSlope`: twice as fast as in the round before.
    fn steepen(&mut self, w: &Window) {
        self.probe.acked_per_increase = (w.cwnd >> self.probe.up_rounds).max(1);
        self.probe.up_rounds = (self.probe.up_rounds + 1).min(MOST_DOUBLINGS);
    }

    /// `ProbeInflightLongtermUpward`.
    fn grow_long_term(&mut self, w: &Window, f: &Flight, s: &Sample) {
        if !f.cwnd_limited || w.cwnd < self.inflight_long_term {
            return;
        }
        let per = self.probe.acked_per_increase;
        self.probe.up_acked += s.acked;
        self.inflight_long_term += self.probe.up_acked / per;
        self.probe.up_acked %= per;
        if self.rounds.start {
            self.steepen(w);
        }
    }

    /// `ResetFullBW`, with the rate to exceed.
    pub(super) fn reset_full(&mut self, bandwidth: Bandwidth) {
        self.full_bandwidth = bandwidth;
        self.full_rounds = 0;
        self.full_now = false;
    }
}
