//! New Reno (RFC 5681, RFC 6582; `tcp_reno` of Linux's `tcp_cong.c`).

use super::{CongestionControl, Window};
use crate::send::Flight;

/// Halves the window on a loss and adds a segment a round trip.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reno;

impl CongestionControl for Reno {
    fn ssthresh(&mut self, w: &Window, _f: &Flight) -> u32 {
        (w.cwnd / 2).max(2)
    }

    fn cong_avoid(&mut self, w: &mut Window, f: &Flight, acked: u32) {
        if !f.cwnd_limited {
            return;
        }
        let acked = if w.in_slow_start() {
            w.slow_start(acked)
        } else {
            acked
        };
        if acked > 0 {
            w.additive_increase(w.cwnd, acked);
        }
    }
}
