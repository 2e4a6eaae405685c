//! From the model to a pacing rate and a window (§5.6).

use super::{Bbr3, MIN_CWND, Sample, State};
use crate::cc::Flight;
use crate::cc::path::{Bandwidth, Gain};
use crate::cc::{Recovery, Window};
use std::time::Duration;

/// The round trip that is assumed before one is known.
const NOMINAL_RTT: Duration = Duration::from_millis(1);

impl Bbr3 {
    /// `InitPacingRate` (§5.6.2): the initial window in a round trip, with the margin that Linux
    /// keeps even here.
    pub(super) fn pace_by_rtt(&mut self, w: &mut Window, f: &Flight) {
        self.paced_by_rtt = f.srtt.is_some();
        let rtt = f.srtt.unwrap_or(NOMINAL_RTT);
        let (gain, _) = State::Startup.gains();
        let bandwidth = Bandwidth::new(self.initial_cwnd.into(), rtt);
        w.pacing_rate = Some(bandwidth.pacing_rate(f.mss, gain));
    }

    /// `SetPacingRateWithGain`: until the pipe was full the rate never falls.
    pub(super) fn set_pacing_rate(&mut self, w: &mut Window, f: &Flight, gain: Gain) {
        let rate = self.bandwidth.pacing_rate(f.mss, gain);
        if !self.paced_by_rtt && f.srtt.is_some() {
            self.pace_by_rtt(w, f);
        }
        if self.full || w.pacing_rate.is_none_or(|now| rate > now) {
            w.pacing_rate = Some(rate);
        }
    }

    /// `BDPMultiple` (§5.6.4.2).
    pub(super) fn bdp(&self, gain: Gain) -> u32 {
        self.bdp_of(self.bandwidth, gain)
    }

    fn bdp_of(&self, bandwidth: Bandwidth, gain: Gain) -> u32 {
        self.min_rtt
            .map_or(self.initial_cwnd, |rtt| bandwidth.bdp(rtt, gain))
    }

    /// `Inflight`.
    pub(super) fn inflight(&self, bandwidth: Bandwidth, gain: Gain) -> u32 {
        self.with_budget(self.bdp_of(bandwidth, gain))
    }

    /// `QuantizationBudget`.
    fn with_budget(&self, segments: u32) -> u32 {
        let probing = if self.state == State::Up { 2 } else { 0 };
        segments.max(MIN_CWND).saturating_add(probing)
    }

    /// `SaveCwnd` (§5.6.4.4): the last window that nothing had made small.
    pub(super) fn save_cwnd(&mut self, w: &Window, f: &Flight) {
        let recovering = self.previous.max(f.recovery) >= Recovery::Recovery;
        self.prior_cwnd = if recovering || self.state == State::ProbeRtt {
            self.prior_cwnd.max(w.cwnd)
        } else {
            w.cwnd
        };
    }

    /// `SetCwnd` (§5.6.4.6), after recovery with the window from before it.
    pub(super) fn set_cwnd(&mut self, w: &mut Window, f: &Flight, s: &Sample) {
        if self.previous >= Recovery::Recovery && f.recovery < Recovery::Recovery {
            w.cwnd = w.cwnd.max(self.prior_cwnd);
        }
        self.previous = f.recovery;
        let (_, gain) = self.state.gains();
        let most = self.bdp(gain).saturating_add(self.extra_acked.get());
        let most = self.with_budget(most);
        if self.full {
            w.cwnd = (w.cwnd + s.acked).min(most);
        } else if w.cwnd < most || f.delivered < self.initial_cwnd.into() {
            w.cwnd += s.acked;
        }
        w.cwnd = w.cwnd.max(MIN_CWND).min(self.cap()).min(w.clamp);
    }

    /// `BoundCwndForProbeRTT` and `BoundCwndForModel` (§5.6.4.5, §5.6.4.7).
    fn cap(&self) -> u32 {
        let cap = match self.state {
            State::Startup | State::Drain => u32::MAX,
            State::Down | State::Refill | State::Up => self.inflight_long_term,
            State::Cruise => self.inflight_with_headroom(),
            State::ProbeRtt => self.inflight_with_headroom().min(self.probe_rtt_cwnd),
        };
        cap.min(self.short_term.inflight).max(MIN_CWND)
    }
}
