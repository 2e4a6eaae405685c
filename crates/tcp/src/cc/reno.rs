//! New Reno (RFC 5681 §3.1, RFC 6582): one segment a round trip, half after a loss. Recovery itself
//! is the sender's.

#[cfg(test)]
mod tests;

use super::{CongestionControl, Window};
use crate::cc::Flight;

/// Half of the window, at least 2 segments (RFC 5681 equation 4). Linux halves `cwnd`, not what is
/// in flight (`tcp_reno_ssthresh`).
pub(super) fn ssthresh(w: &Window) -> u32 {
    (w.cwnd / 2).max(2)
}

/// Slow start up to the threshold, then one segment for every window acknowledged
/// (`tcp_reno_cong_avoid`).
pub(super) fn cong_avoid(w: &mut Window, f: &Flight, mut acked: u32) {
    if !f.cwnd_limited {
        return;
    }
    if w.in_slow_start() {
        acked = w.slow_start(acked);
        if acked == 0 {
            return;
        }
    }
    w.additive_increase(w.cwnd, acked);
}

/// New Reno; all its state is the window.
#[derive(Debug)]
pub(super) struct Reno;

impl CongestionControl for Reno {
    fn ssthresh(&mut self, w: &Window, _f: &Flight) -> u32 {
        ssthresh(w)
    }

    fn cong_avoid(&mut self, w: &mut Window, f: &Flight, acked: u32) {
        cong_avoid(w, f, acked);
    }
}
