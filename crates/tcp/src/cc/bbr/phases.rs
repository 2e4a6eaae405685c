//! Changes of mode, and of phase within PROBE_BW.

use super::long_term::Totals;
use super::{Bbr, CWND_GAIN, CYCLE, DRAIN_GAIN, HIGH_GAIN, MIN_CWND, Mode, PROBE_RTT_TIME};
use crate::cc::Window;
use crate::cc::path::Gain;
use crate::cc::{Flight, RateSample};
use rand::RngExt;

/// The pipe is full when the rate does not grow by this factor
const FULL_GROWTH: Gain = Gain::ratio(5, 4);

/// in this many rounds: one for the receive window to grow, one to fill it, one to see it delivered.
const FULL_ROUNDS: u32 = 3;

impl Bbr {
    /// `bbr_update_cycle_phase`.
    pub(super) fn update_phase(&mut self, w: &Window, f: &Flight, s: &RateSample) {
        if self.mode == Mode::ProbeBw && self.is_phase_over(w, f, s) {
            self.next_phase();
        }
    }

    /// `bbr_is_next_cycle_phase`.
    fn is_phase_over(&self, w: &Window, f: &Flight, s: &RateSample) -> bool {
        let full_length = self
            .min_rtt
            .is_some_and(|rtt| self.delivered_at - self.phase_at > rtt);
        if self.pacing_gain == Gain::ONE {
            return full_length;
        }
        let bandwidth = self.max_bandwidth.get();
        if self.pacing_gain > Gain::ONE {
            // Until that much is in flight, which may take longer where the round trip is short; or until a loss shows
            // that it does not fit.
            let probed = self.segments_at_departure(w, f, s.prior_in_flight)
                >= self.inflight(w, f, bandwidth, self.pacing_gain);
            return full_length && (s.losses > 0 || probed);
        }
        full_length || s.prior_in_flight <= self.inflight(w, f, bandwidth, Gain::ONE)
    }

    fn next_phase(&mut self) {
        self.phase = (self.phase + 1) % CYCLE.len();
        self.phase_at = self.delivered_at;
    }

    /// `bbr_reset_probe_bw_mode`: begins in any phase but that of 3/4.
    fn enter_probe_bw(&mut self) {
        self.mode = Mode::ProbeBw;
        self.phase = CYCLE.len() - 1 - self.random.random_range(0..CYCLE.len() - 1);
        self.next_phase();
    }

    /// `bbr_lt_bw_sampling`.
    pub(super) fn sample_long_term(&mut self, f: &Flight, losses: u32, app_limited: bool) {
        let totals = self.totals(f);
        if self.long_term.rate().is_some() {
            let round = self.mode == Mode::ProbeBw && self.rounds.start;
            if round && self.long_term.used_up() {
                self.long_term.reset(totals);
                self.enter_probe_bw();
            }
        } else if self
            .long_term
            .sample(totals, self.rounds.start, losses, app_limited, f.mss)
        {
            self.pacing_gain = Gain::ONE;
        }
    }

    /// The counts that the detection of policers needs.
    pub(super) fn totals(&self, f: &Flight) -> Totals {
        Totals {
            at: self.delivered_at,
            delivered: f.delivered,
            lost: f.lost,
        }
    }

    /// `bbr_check_full_bw_reached`.
    pub(super) fn check_full(&mut self, s: &RateSample) {
        if self.full || !self.rounds.start || s.app_limited {
            return;
        }
        let bandwidth = self.max_bandwidth.get();
        if bandwidth >= self.full_bandwidth.scaled(FULL_GROWTH) {
            self.full_bandwidth = bandwidth;
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.full = self.full_rounds >= FULL_ROUNDS;
    }

    /// `bbr_check_drain`.
    pub(super) fn check_drain(&mut self, w: &mut Window, f: &Flight) {
        if self.mode == Mode::Startup && self.full {
            self.mode = Mode::Drain;
            w.ssthresh = self.inflight(w, f, self.max_bandwidth.get(), Gain::ONE);
        }
        if self.mode == Mode::Drain
            && self.segments_at_departure(w, f, f.in_flight)
                <= self.inflight(w, f, self.max_bandwidth.get(), Gain::ONE)
        {
            self.enter_probe_bw();
        }
    }

    /// `bbr_update_min_rtt`, which also enters and leaves PROBE_RTT.
    pub(super) fn update_min_rtt(&mut self, w: &mut Window, f: &Flight, s: &RateSample) {
        let expired = f.now > self.min_rtt_at + self.memory.min_rtt;
        if let Some(rtt) = s.rtt
            && (self.min_rtt.is_none_or(|min| rtt <= min) || (expired && !s.ack_delayed))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_at = f.now;
        }
        // A flow that was idle has emptied its queue by that.
        if expired && !self.restarting && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(w);
            self.probe_rtt_until = None;
        }
        if self.mode == Mode::ProbeRtt {
            self.probe_rtt(w, f);
        }
        if s.acked_sacked > 0 {
            self.restarting = false;
        }
    }

    fn probe_rtt(&mut self, w: &mut Window, f: &Flight) {
        self.bubble.mark(f.delivered, f.in_flight);
        if self.probe_rtt_until.is_none() {
            if f.in_flight <= MIN_CWND {
                self.probe_rtt_until = Some(f.now + PROBE_RTT_TIME);
                self.probe_rtt_round = false;
                self.rounds.begin(f.delivered);
            }
            return;
        }
        self.probe_rtt_round |= self.rounds.start;
        if self.probe_rtt_round {
            self.check_probe_rtt_done(w, f);
        }
    }

    /// `bbr_check_probe_rtt_done`.
    pub(super) fn check_probe_rtt_done(&mut self, w: &mut Window, f: &Flight) {
        if self.probe_rtt_until.is_none_or(|until| f.now <= until) {
            return;
        }
        // Not again for a while, whatever was measured.
        self.min_rtt_at = f.now;
        w.cwnd = w.cwnd.max(self.prior_cwnd);
        if self.full {
            self.enter_probe_bw();
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// `bbr_update_gains`.
    pub(super) fn update_gains(&mut self) {
        (self.pacing_gain, self.cwnd_gain) = match self.mode {
            Mode::Startup => (HIGH_GAIN, HIGH_GAIN),
            Mode::Drain => (DRAIN_GAIN, HIGH_GAIN),
            Mode::ProbeBw if self.long_term.rate().is_some() => (Gain::ONE, CWND_GAIN),
            Mode::ProbeBw => (CYCLE[self.phase], CWND_GAIN),
            Mode::ProbeRtt => (Gain::ONE, Gain::ONE),
        };
    }
}
