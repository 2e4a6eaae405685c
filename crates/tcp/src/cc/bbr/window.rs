//! From the model to a pacing rate and a window.

use super::{Bbr, HIGH_GAIN, INITIAL_CWND, MIN_CWND, Mode};
use crate::cc::path::{Bandwidth, Gain};
use crate::cc::{Flight, RateSample};
use crate::cc::{Recovery, Window};
use std::time::Duration;

/// The round trip that is assumed before one is known.
const NOMINAL_RTT: Duration = Duration::from_millis(1);

/// Below this rate, in bytes a second, segments leave one by one, above it at least two at a time.
const LEAST_TSO_RATE: u64 = 1_200_000 / 8;

/// Bytes that a transmission holds at most: `GSO_LEGACY_MAX_SIZE - 1 - MAX_TCP_HEADER`.
const TSO_BYTES: u64 = 65_536 - 1 - 320;

/// Bits that turn bytes a second into those of a transmission: about a millisecond's worth.
const PACING_SHIFT: u32 = 10;

/// Segments that a transmission holds at most.
const TSO_SEGMENTS: u64 = 0x7f;

impl Bbr {
    /// `bbr_init_pacing_rate_from_rtt`: the initial window in a round trip.
    pub(super) fn pace_by_rtt(&mut self, w: &mut Window, f: &Flight) {
        self.paced_by_rtt = f.srtt.is_some();
        let rtt = f.srtt.unwrap_or(NOMINAL_RTT);
        let bandwidth = Bandwidth::new(w.cwnd.into(), rtt);
        w.pacing_rate = Some(bandwidth.pacing_rate(f.mss, HIGH_GAIN));
    }

    /// `bbr_set_pacing_rate`: until the pipe was full the rate never falls.
    pub(super) fn set_pacing_rate(&mut self, w: &mut Window, f: &Flight, gain: Gain) {
        let rate = self.bandwidth().pacing_rate(f.mss, gain);
        if !self.paced_by_rtt && f.srtt.is_some() {
            self.pace_by_rtt(w, f);
        }
        if self.full || w.pacing_rate.is_none_or(|now| rate > now) {
            w.pacing_rate = Some(rate);
        }
    }

    /// `bbr_tso_segs_goal`: segments that Linux would send together.
    fn tso_segments(w: &Window, f: &Flight) -> u32 {
        let rate = w.pacing_rate.unwrap_or(u64::MAX);
        let least = if rate < LEAST_TSO_RATE { 1 } else { 2 };
        let segments = (rate >> PACING_SHIFT).min(TSO_BYTES) / u64::from(f.mss.max(1));
        segments.max(least).min(TSO_SEGMENTS) as u32
    }

    /// `bbr_quantization_budget`: room for what the ends hold of a segment train, an even number of
    /// segments, and, while probing, two more, which matter where the BDP is small.
    fn with_budget(&self, w: &Window, f: &Flight, segments: u32) -> u32 {
        let budget = segments.saturating_add(3 * Self::tso_segments(w, f));
        let even = budget.saturating_add(1) & !1;
        let probing = self.mode == Mode::ProbeBw && self.phase == 0;
        even.saturating_add(if probing { 2 } else { 0 })
    }

    /// `bbr_bdp`: segments in flight that make `bandwidth`, times `gain`.
    fn bdp(&self, bandwidth: Bandwidth, gain: Gain) -> u32 {
        // Without a round trip (no timestamps, everything retransmitted) carefully.
        self.min_rtt
            .map_or(INITIAL_CWND, |rtt| bandwidth.bdp(rtt, gain))
    }

    /// `bbr_inflight`.
    pub(super) fn inflight(&self, w: &Window, f: &Flight, bandwidth: Bandwidth, gain: Gain) -> u32 {
        self.with_budget(w, f, self.bdp(bandwidth, gain))
    }

    /// `bbr_packets_in_net_at_edt`, with a departure now: while more is being sent, the next train already counts.
    pub(super) fn segments_at_departure(&self, w: &Window, f: &Flight, in_flight: u32) -> u32 {
        if self.pacing_gain > Gain::ONE {
            in_flight + Self::tso_segments(w, f)
        } else {
            in_flight
        }
    }

    /// `bbr_save_cwnd`: the last window that nothing had made small.
    pub(super) fn save_cwnd(&mut self, w: &Window) {
        let small = self.previous >= Recovery::Recovery || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if small {
            self.prior_cwnd.max(w.cwnd)
        } else {
            w.cwnd
        };
    }

    /// `bbr_set_cwnd`: up to the target as segments are acknowledged, down to it at once.
    pub(super) fn set_cwnd(&mut self, w: &mut Window, f: &Flight, s: &RateSample) {
        let mut cwnd = w.cwnd;
        if s.acked_sacked > 0 {
            cwnd = self.recovering_cwnd(w, f, s);
            if !self.conserving {
                cwnd = self.cwnd_towards_target(w, f, cwnd, s.acked_sacked);
            }
        }
        w.cwnd = cwnd.min(w.clamp);
        if self.mode == Mode::ProbeRtt {
            w.cwnd = w.cwnd.min(MIN_CWND);
        }
    }

    fn cwnd_towards_target(&self, w: &Window, f: &Flight, cwnd: u32, acked: u32) -> u32 {
        let bandwidth = self.bandwidth();
        let mut target = self.bdp(bandwidth, self.cwnd_gain);
        if self.full {
            target = target.saturating_add(self.aggregation.allowance(bandwidth));
        }
        let target = self.with_budget(w, f, target);
        let grown = if self.full {
            (cwnd + acked).min(target)
        } else if cwnd < target || f.delivered < INITIAL_CWND.into() {
            cwnd + acked
        } else {
            cwnd
        };
        grown.max(MIN_CWND)
    }

    /// `bbr_set_cwnd_to_recover_or_restore`: what is lost is deducted; in recovery's first round as
    /// much may leave as is delivered; after it the old window is back.
    fn recovering_cwnd(&mut self, w: &Window, f: &Flight, s: &RateSample) -> u32 {
        let mut cwnd = w.cwnd.saturating_sub(s.losses).max(1);
        let (before, now) = (self.previous, f.recovery);
        if now == Recovery::Recovery && before != Recovery::Recovery {
            self.conserving = true;
            self.rounds.begin(f.delivered);
            cwnd = f.in_flight + s.acked_sacked;
        } else if before >= Recovery::Recovery && now < Recovery::Recovery {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserving = false;
        }
        self.previous = now;
        if self.conserving {
            cwnd = cwnd.max(f.in_flight + s.acked_sacked);
        }
        cwnd
    }
}
