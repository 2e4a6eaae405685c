//! STARTUP, DRAIN and PROBE_RTT (§5.3.1, §5.3.2, §5.3.4).

use super::loss::{Bounds, is_too_high};
use super::{Bbr3, MIN_CWND, MIN_RTT_WINDOW, PROBE_RTT_CWND_GAIN, PROBE_RTT_TIME, Sample, State};
use crate::cc::Flight;
use crate::cc::path::Gain;
use crate::cc::{Recovery, Window};

/// The pipe is full when the rate does not grow by this factor in this many rounds.
const FULL_GROWTH: Gain = Gain::ratio(5, 4);
const FULL_ROUNDS: u32 = 3;

/// `StartupFullLossCnt`: losses in a round that end STARTUP.
const STARTUP_LOSSES: u32 = 6;

/// Rounds after which DRAIN ends, queue or no queue.
const DRAIN_ROUNDS: u32 = 3;

impl Bbr3 {
    /// `CheckFullBWReached` (§5.3.1.2).
    pub(super) fn check_full(&mut self, s: &Sample) {
        if self.full_now || !self.rounds.start || s.app_limited {
            return;
        }
        if s.bandwidth >= self.full_bandwidth.scaled(FULL_GROWTH) {
            return self.reset_full(s.bandwidth);
        }
        self.full_rounds += 1;
        self.full_now = self.full_rounds >= FULL_ROUNDS;
        self.full |= self.full_now;
    }

    /// `CheckStartupDone`.
    pub(super) fn check_startup_done(&mut self, f: &Flight, s: &Sample) {
        self.check_startup_loss(f, s);
        if self.state == State::Startup && self.full {
            self.state = State::Drain;
            self.drain_round = self.rounds.count;
        }
    }

    /// `CheckStartupHighLoss` (§5.3.1.3), at the end of a round of recovery.
    fn check_startup_loss(&mut self, f: &Flight, s: &Sample) {
        if !self.loss_round_start {
            return;
        }
        let losses = std::mem::take(&mut self.loss_events);
        if !self.full
            && f.recovery == Recovery::Recovery
            && losses >= STARTUP_LOSSES
            && is_too_high(s.lost, s.tx_in_flight)
        {
            self.end_startup_by_loss();
        }
    }

    /// `CheckDrainDone`.
    pub(super) fn check_drain_done(&mut self, f: &Flight) {
        if self.state == State::Drain
            && (f.in_flight <= self.inflight(self.bandwidth, Gain::ONE)
                || self.rounds.count.wrapping_sub(self.drain_round) > DRAIN_ROUNDS)
        {
            self.start_down(f);
        }
    }

    /// `UpdateMinRTT` (§5.3.4.3).
    pub(super) fn update_min_rtt(&mut self, f: &Flight, s: &Sample) {
        self.min_rtt_expired = f.now > self.min_rtt_at + MIN_RTT_WINDOW;
        if self.min_rtt_expired && self.state != State::ProbeRtt {
            // From the old round trip, before one with a queue takes its place.
            self.probe_rtt_cwnd = self.bdp(PROBE_RTT_CWND_GAIN).max(MIN_CWND);
        }
        if let Some(rtt) = s.rtt
            && (self.min_rtt_expired || self.min_rtt.is_none_or(|min| rtt < min))
        {
            self.min_rtt = Some(rtt);
            self.min_rtt_at = f.now;
        }
    }

    /// `CheckProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, w: &mut Window, f: &Flight, s: &Sample) {
        if self.state != State::ProbeRtt && self.min_rtt_expired && !self.restarting {
            self.save_cwnd(w, f);
            self.state = State::ProbeRtt;
            self.probe_rtt_until = None;
            self.probe.ack_phase = super::probe_bw::AckPhase::Stopping;
            self.rounds.begin(f.delivered);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(w, f);
        }
        if s.acked > 0 {
            self.restarting = false;
        }
    }

    /// `HandleProbeRTT`.
    fn handle_probe_rtt(&mut self, w: &mut Window, f: &Flight) {
        self.bubble.mark(f.delivered, f.in_flight);
        if self.probe_rtt_until.is_none() {
            if f.in_flight <= self.probe_rtt_cwnd {
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

    /// `CheckProbeRTTDone` and `ExitProbeRTT` (§5.3.4.4).
    pub(super) fn check_probe_rtt_done(&mut self, w: &mut Window, f: &Flight) {
        if self.probe_rtt_until.is_none_or(|until| f.now <= until) {
            return;
        }
        self.min_rtt_at = f.now;
        w.cwnd = w.cwnd.max(self.prior_cwnd);
        self.short_term = Bounds::NONE;
        if self.full {
            // The cycle begins anew, but the queue is gone already.
            self.start_down(f);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
