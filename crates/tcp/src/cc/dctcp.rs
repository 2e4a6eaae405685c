//! DCTCP (RFC 8257) as Linux has it (`tcp_dctcp.c`): the window is reduced by half of the share of segments that were
//! marked. Names are the RFC's.

use super::{AckSample, CongestionControl, Event, Recovery, Window};
use crate::cc::Flight;

/// Bits behind the point of [`Dctcp::alpha`].
const ALPHA_BITS: u32 = 10;
/// All segments marked.
const MAX_ALPHA: u32 = 1 << ALPHA_BITS;
/// g = 1/16, as a shift: the weight of the last round trip (§3.3).
const SHIFT_G: u32 = 4;
/// The least window.
const LEAST: u32 = 2;

/// DCTCP's state.
#[derive(Debug)]
pub struct Dctcp {
    /// DCTCP.Alpha: the estimated share of segments that are marked.
    alpha: u32,
    /// DCTCP.WindowEnd: the round trip ends when this offset is acknowledged.
    window_end: u64,
    /// Segments delivered and marked when it began.
    delivered: u64,
    delivered_ce: u64,
    /// The window when the last reduction began.
    prior: u32,
}

impl Default for Dctcp {
    /// While nothing is known, everything counts as marked (§4.1: the first reaction is Reno's).
    fn default() -> Self {
        Self {
            alpha: MAX_ALPHA,
            window_end: 0,
            delivered: 0,
            delivered_ce: 0,
            prior: 0,
        }
    }
}

impl Dctcp {
    /// A round trip begins.
    fn begin_round(&mut self, f: &Flight) {
        self.window_end = f.snd_nxt;
        self.delivered = f.delivered;
        self.delivered_ce = f.delivered_ce;
    }

    /// §3.3, steps 5 to 8: α ← (1 − g) α + g M, in whole numbers, so that without marks it reaches 0.
    fn update_alpha(&mut self, f: &Flight) {
        let decay = self.alpha >> SHIFT_G;
        self.alpha -= if decay == 0 { self.alpha } else { decay };
        let marked = f.delivered_ce - self.delivered_ce;
        let delivered = (f.delivered - self.delivered).max(1);
        let share = (marked << (ALPHA_BITS - SHIFT_G)) / delivered;
        self.alpha = (self.alpha + share as u32).min(MAX_ALPHA);
    }

    /// A loss is answered as Reno does (§3.5).
    fn react_to_loss(&mut self, w: &mut Window) {
        self.prior = w.cwnd;
        w.ssthresh = (w.cwnd / 2).max(LEAST);
    }
}

impl CongestionControl for Dctcp {
    fn init(&mut self, _w: &mut Window, f: &Flight) {
        self.begin_round(f);
    }

    /// §3.3, step 9: cwnd × (1 − α/2).
    fn ssthresh(&mut self, w: &Window, _f: &Flight) -> u32 {
        self.prior = w.cwnd;
        let reduction = (u64::from(w.cwnd) * u64::from(self.alpha)) >> (ALPHA_BITS + 1);
        (w.cwnd - reduction as u32).max(LEAST)
    }

    fn cong_avoid(&mut self, w: &mut Window, f: &Flight, acked: u32) {
        super::reno::cong_avoid(w, f, acked);
    }

    fn pkts_acked(&mut self, _w: &mut Window, f: &Flight, _sample: &AckSample) {
        if f.snd_una >= self.window_end {
            self.update_alpha(f);
            self.begin_round(f);
        }
    }

    fn set_state(&mut self, w: &mut Window, f: &Flight, state: Recovery) {
        if state == Recovery::Recovery && f.recovery != state {
            self.react_to_loss(w);
        }
    }

    fn event(&mut self, w: &mut Window, _f: &Flight, event: Event) {
        if event == Event::Timeout {
            self.react_to_loss(w);
        }
    }

    fn undo_cwnd(&mut self, w: &Window, _f: &Flight) -> u32 {
        w.cwnd.max(self.prior)
    }
}

#[cfg(test)]
mod tests;
