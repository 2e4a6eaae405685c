//! ABC's sender, Accel-Brake Control (Goyal, Agarwal, Netravali, Alizadeh, Balakrishnan: "ABC: A Simple Explicit Congestion
//! Controller for Wireless Networks", NSDI 2020), which Linux does not have. Its router is `tidegate_link`'s `AbcPolicy`.
//!
//! Each packet comes back with what the router says (§3.1.1, equation 3):
//!
//! ```text
//!     w ← w + 1 + 1/w    accelerate: two packets leave for the one acknowledged
//!     w ← w − 1 + 1/w    brake: none does
//! ```
//!
//! so that within a round trip the window doubles at most, and closes at most. The 1/w, a packet a round trip, is what makes
//! flows fair. There is no slow start: a router with room accelerates everything.
//!
//! A second window follows CUBIC for bottlenecks that are no ABC routers; the smaller one counts, and neither is more than
//! twice what is in flight (§4.1).
//!
//! Where the paper leaves a choice, this does as its authors' kernel modules do (`tcp_abc.c`, `tcp_abccubic.c`): a
//! brake is CE, which the receiver echoes as for DCTCP; the window is at least five packets, and both windows may
//! exceed twice the packets in flight by five; packets are paced at twice the window a round trip. Without ECN
//! everything accelerates, and only CUBIC's window limits.

use super::cubic::Cubic;
use super::{AckSample, CongestionControl, Event, Recovery, Window};
use crate::cc::{Flight, RateSample};

/// Bits behind the point of the window.
const Q16: u32 = 16;
const ONE: u64 = 1 << Q16;

/// The least window, and by how much windows may exceed twice the packets in flight, in packets.
const LEAST: u64 = 5;

/// The pacing rate in windows a round trip.
const PACING_GAIN: u64 = 2;

/// ABC's state.
#[derive(Debug, Default)]
pub(super) struct Abc {
    /// w_abc in packets, Q16.
    window: u64,
    cubic: Cubic,
    /// w_nonabc, which CUBIC steers.
    other: Option<Window>,
}

impl Abc {
    /// Equation 3, for an ACK of `acked` packets, `braked` of which brake.
    fn heed(&mut self, acked: u32, braked: u32) {
        let braked = braked.min(acked);
        let additive = u64::from(acked) * ONE * ONE / self.window.max(ONE);
        let more = u64::from(acked - braked) * ONE + additive;
        self.window = (self.window + more).saturating_sub(u64::from(braked) * ONE);
    }

    /// §4.1: a window that limits nothing is at most twice the packets in flight.
    fn bound(&mut self, in_flight: u32) {
        let most = 2 * u64::from(in_flight) + LEAST;
        self.window = self.window.clamp(LEAST * ONE, most * ONE);
        if let Some(other) = &mut self.other {
            other.cwnd = other.cwnd.min(most as u32);
        }
    }

    /// Hands the smaller window, and its pacing rate, to the sender.
    fn apply(&self, w: &mut Window, f: &Flight) {
        let other = self.other.map_or(u32::MAX, |other| other.cwnd);
        w.cwnd = ((self.window >> Q16) as u32).min(other).min(w.clamp);
        let srtt = f.srtt.unwrap_or_default().as_micros() as u64;
        let bytes = PACING_GAIN * u64::from(w.cwnd) * u64::from(f.mss);
        if let Some(rate) = (bytes * 1_000_000).checked_div(srtt) {
            w.pacing_rate = Some(rate.max(1));
        }
    }

    /// CUBIC loses a packet: its window goes to the threshold, or begins anew.
    fn lose(&mut self, f: &Flight, timeout: bool) {
        let Some(other) = &mut self.other else { return };
        other.prior_cwnd = other.cwnd;
        other.count = 0;
        other.ssthresh = self.cubic.ssthresh(other, f);
        other.cwnd = if timeout { 1 } else { other.ssthresh };
    }
}

impl CongestionControl for Abc {
    fn init(&mut self, w: &mut Window, f: &Flight) {
        w.ssthresh = Window::NO_SSTHRESH;
        self.window = u64::from(w.cwnd) << Q16;
        self.other = Some(*w);
        self.cubic.init(w, f);
    }

    /// There is no threshold.
    fn ssthresh(&mut self, w: &Window, _f: &Flight) -> u32 {
        w.ssthresh
    }

    /// Never called: [`Self::control`] does it all.
    fn cong_avoid(&mut self, _w: &mut Window, _f: &Flight, _acked: u32) {}

    fn pkts_acked(&mut self, _w: &mut Window, f: &Flight, sample: &AckSample) {
        if let Some(other) = &mut self.other {
            self.cubic.pkts_acked(other, f, sample);
        }
    }

    fn set_state(&mut self, _w: &mut Window, f: &Flight, state: Recovery) {
        if state == Recovery::Recovery && f.recovery != state {
            self.lose(f, false);
        }
        if let Some(other) = &mut self.other {
            self.cubic.set_state(other, f, state);
        }
    }

    fn event(&mut self, _w: &mut Window, f: &Flight, event: Event) {
        if event == Event::Timeout {
            self.lose(f, true);
        }
        if let Some(other) = &mut self.other {
            self.cubic.event(other, f, event);
        }
    }

    fn undo_cwnd(&mut self, w: &Window, f: &Flight) -> u32 {
        let Some(other) = &mut self.other else {
            return w.cwnd;
        };
        other.cwnd = self.cubic.undo_cwnd(other, f);
        ((self.window >> Q16) as u32).min(other.cwnd)
    }

    fn controls_rate(&self) -> bool {
        true
    }

    fn control(&mut self, w: &mut Window, f: &Flight, sample: &RateSample) {
        if sample.acked_sacked > 0 {
            self.heed(sample.acked_sacked, sample.marked);
            if let Some(other) = self
                .other
                .as_mut()
                .filter(|_| f.recovery != Recovery::Recovery)
            {
                self.cubic.cong_avoid(other, f, sample.acked_sacked);
            }
            self.bound(sample.prior_in_flight);
        }
        self.apply(w, f);
    }
}

#[cfg(test)]
mod tests;
