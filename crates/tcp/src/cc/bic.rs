//! BIC (Xu, Harfoush, Rhee: "Binary Increase Congestion Control for Fast Long-Distance Networks",
//! INFOCOM 2004) as Linux has it (`tcp_bic.c`).
//!
//! The window at which a loss happened is searched for. A round trip adds, with `d` the distance to
//! it and B = 4:
//!
//! ```text
//!  growth                    ┌── linear: S_max
//!    16 ─────────┐           │
//!                 \         /    binary search: d/B          beyond: d/(B−1), from B on
//!                  \__   __/
//!                     \_/        close to it: B/20 segments
//!        cwnd ──▶   last_max
//! ```
//!
//! Linux differs from the paper: B is 4 where the paper halves, the smallest steps are B/20
//! (`smooth_part`) in place of S_min, below 15 segments it is Reno, and all growth is doubled: it was
//! made up for delayed ACKs, which count fully since 5.7 and are still made up for.

#[cfg(test)]
mod tests;

use super::jiffies::{HZ, jiffies};
use super::{AckSample, CongestionControl, Recovery, Window};
use crate::cc::Flight;

/// 1 − β of the paper over `BETA_SCALE`: 0.8 of the window is left.
const BETA: u64 = 819;
const BETA_SCALE: u64 = 1024;

/// The search goes a fourth of the distance in a round trip (`BICTCP_B`).
const B: u32 = 4;

/// Largest increase in a round trip, in segments (S_max, `max_increment`).
const MAX_INCREMENT: u32 = 16;

/// Up to this window, in segments, it is Reno (`low_window`).
const LOW_WINDOW: u32 = 14;

/// Round trips for the last B segments up to the maximum, and the first beyond (`smooth_part`).
const SMOOTH_PART: u32 = 20;

/// BIC's state (`struct bictcp`).
#[derive(Debug)]
pub(super) struct Bic {
    /// Segments to acknowledge before the window grows by one.
    per: u32,
    /// The window searched for, in segments; 0 before the first loss.
    last_max: u32,
    /// The window, and the jiffy, of the last look-up.
    last_cwnd: u32,
    last_time: u64,
    /// Segments that an ACK acknowledges, in 1/16, smoothed by 1/16.
    delayed_ack: u32,
}

impl Default for Bic {
    fn default() -> Self {
        Self {
            per: 0,
            last_max: 0,
            last_cwnd: 0,
            last_time: 0,
            delayed_ack: 2 << 4,
        }
    }
}

impl Bic {
    /// Sets `per`, when the window has changed or 31 jiffies have passed (`bictcp_update`).
    fn update(&mut self, now: u64, cwnd: u32) {
        if self.last_cwnd == cwnd && now - self.last_time <= HZ / 32 {
            return;
        }
        self.last_cwnd = cwnd;
        self.last_time = now;
        self.per = if cwnd <= LOW_WINDOW {
            cwnd
        } else {
            ((self.per_search(cwnd) << 4) / self.delayed_ack).max(1)
        };
    }

    fn per_search(&self, cwnd: u32) -> u32 {
        let per = if cwnd < self.last_max {
            match (self.last_max - cwnd) / B {
                0 | 1 => cwnd * SMOOTH_PART / B,
                step => cwnd / step.min(MAX_INCREMENT),
            }
        } else {
            match cwnd - self.last_max {
                ..B => cwnd * SMOOTH_PART / B,
                beyond if beyond < MAX_INCREMENT * (B - 1) => cwnd * (B - 1) / beyond,
                _ => cwnd / MAX_INCREMENT,
            }
        };
        // Before the first loss, where the pipe may be far from full: 5 % a round trip.
        if self.last_max == 0 { per.min(20) } else { per }
    }
}

impl CongestionControl for Bic {
    /// 0.8 of the window; and fast convergence: a window that did not reach the last maximum makes
    /// room (`bictcp_recalc_ssthresh`).
    fn ssthresh(&mut self, w: &Window, _f: &Flight) -> u32 {
        let cwnd = u64::from(w.cwnd);
        self.last_max = if w.cwnd < self.last_max {
            (cwnd * (BETA_SCALE + BETA) / (2 * BETA_SCALE)) as u32
        } else {
            w.cwnd
        };
        if w.cwnd <= LOW_WINDOW {
            (w.cwnd / 2).max(2)
        } else {
            ((cwnd * BETA / BETA_SCALE) as u32).max(2)
        }
    }

    fn cong_avoid(&mut self, w: &mut Window, f: &Flight, mut acked: u32) {
        if !f.cwnd_limited {
            return;
        }
        if w.in_slow_start() {
            acked = w.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        self.update(jiffies(f.now), w.cwnd);
        w.additive_increase(self.per, acked);
    }

    fn pkts_acked(&mut self, _w: &mut Window, f: &Flight, sample: &AckSample) {
        if f.recovery == Recovery::Open {
            self.delayed_ack += sample.acked;
            self.delayed_ack -= (self.delayed_ack - sample.acked) >> 4;
        }
    }

    fn set_state(&mut self, _w: &mut Window, _f: &Flight, state: Recovery) {
        if state == Recovery::Loss {
            *self = Self::default();
        }
    }
}
