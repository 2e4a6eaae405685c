//! CUBIC (RFC 9438) as Linux has it (`tcp_cubic.c`; Ha, Rhee, Xu: "CUBIC: A New TCP-Friendly
//! High-Speed TCP Variant", SIGOPS 2008).
//!
//! After a loss at `W_max` the window follows
//!
//! ```text
//!     W(t) = C·(t − K)³ + W_max,    K = ∛((W_max − cwnd) / C),    C = 0.4 segments/s³
//! ```
//!
//! or Reno's with the same mean, whichever is larger. Linux differs from the RFC:
//!
//! * C is 410/1024, β is 717/1024; the clock ticks in [jiffies](super::jiffies), `t` and K are
//!   counted in 1/1024 s.
//! * The target is W one *minimum* round trip ahead, and is looked up when the window has changed or
//!   31 jiffies have passed, once a jiffy at most; the RFC looks one smoothed round trip ahead and
//!   caps the target at 1.5·cwnd, Linux lets the window grow by half a segment for every segment
//!   acknowledged.
//! * At `W_max` exactly it grows by 1 % of a segment a round trip, where the RFC has nothing.
//! * Before the first loss, out of slow start, it grows by at least 5 % a round trip.
//! * W_est, Reno's window, grows with α = 3(1−β)/(1+β) also above `W_max`, where the RFC's α is 1.

mod hystart;

#[cfg(test)]
mod tests;

use super::jiffies::{HZ, from_micros, jiffies, micros_of};
use super::{AckSample, CongestionControl, Event, Recovery, Window};
use crate::cc::Flight;
use hystart::HyStart;

/// β = 0.7 over `BETA_SCALE` (RFC 9438 §4.6).
const BETA: u64 = 717;
const BETA_SCALE: u64 = 1024;

/// C over 1024 (RFC 9438 §5; `bic_scale`·10).
const C: u64 = 410;

/// Time in the cubic function: 1/1024 s (`BICTCP_HZ`).
const TIME_SHIFT: u32 = 10;

/// Segments to acknowledge for one of Reno's, over 8 windows: 8/α, α = 3(1−β)/(1+β)
/// (RFC 9438 §4.3; `beta_scale`).
const FRIENDLY: u64 = 8 * (BETA_SCALE + BETA) / 3 / (BETA_SCALE - BETA);

/// CUBIC's state (`struct bictcp`).
#[derive(Debug, Default)]
pub(super) struct Cubic {
    curve: Curve,
    hystart: HyStart,
}

/// The cubic function's state, all of it forgotten after a timeout.
#[derive(Debug, Default)]
struct Curve {
    /// Segments to acknowledge before the window grows by one.
    per: u32,
    /// `W_max` in segments; 0 before the first loss.
    last_max: u32,
    /// The window, and the jiffy, of the last look-up.
    last_cwnd: u32,
    last_time: u64,
    /// Since when, in jiffies, the window follows this curve; None since the last loss.
    epoch: Option<u64>,
    /// Where the curve is flat: the window in segments, and K in 1/1024 s.
    origin: u32,
    k: u64,
    /// Smallest round trip in µs; 0: none yet.
    delay_min: u64,
    /// Reno's window in segments, and segments acknowledged towards its next increase.
    reno_cwnd: u64,
    reno_acked: u64,
}

impl Curve {
    /// Sets `per` (`bictcp_update`).
    fn update(&mut self, now: u64, cwnd: u32, acked: u32) {
        self.reno_acked += u64::from(acked);
        if self.last_cwnd == cwnd && now - self.last_time <= HZ / 32 {
            return;
        }
        if self.epoch.is_none() || now != self.last_time {
            self.last_cwnd = cwnd;
            self.last_time = now;
            self.per = self.per_cubic(now, cwnd, acked);
        }
        self.per = self.per.min(self.per_reno(cwnd)).max(2);
    }

    /// Segments to acknowledge for one, so that the window meets the curve in a round trip.
    fn per_cubic(&mut self, now: u64, cwnd: u32, acked: u32) -> u32 {
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.start_epoch(now, cwnd, acked),
        };
        let target = self.target(now - epoch);
        let per = if target > cwnd {
            cwnd / (target - cwnd)
        } else {
            cwnd.saturating_mul(100)
        };
        // Before the first loss, where the pipe may be far from full: 5 % a round trip.
        if self.last_max == 0 { per.min(20) } else { per }
    }

    /// Lays the curve through `cwnd` (RFC 9438 §4.2), and Reno's window with it.
    fn start_epoch(&mut self, now: u64, cwnd: u32, acked: u32) -> u64 {
        self.epoch = Some(now);
        self.reno_acked = acked.into();
        self.reno_cwnd = cwnd.into();
        self.origin = self.last_max.max(cwnd);
        self.k = cube_root((1 << (10 + 3 * TIME_SHIFT)) / C * u64::from(self.origin - cwnd));
        now
    }

    /// W one minimum round trip ahead (RFC 9438 equation 1).
    fn target(&self, elapsed: u64) -> u32 {
        let t = ((elapsed + from_micros(self.delay_min)) << TIME_SHIFT) / HZ;
        let offset = t.abs_diff(self.k);
        // Linux's product of 64 bits wraps when six minutes have passed without a loss.
        let cube = u128::from(C) * u128::from(offset).pow(3);
        let delta = u32::try_from(cube >> (10 + 3 * TIME_SHIFT)).unwrap_or(u32::MAX);
        if t < self.k {
            self.origin.saturating_sub(delta)
        } else {
            self.origin.saturating_add(delta)
        }
    }

    /// The same for Reno's window, if it is larger (RFC 9438 §4.3).
    fn per_reno(&mut self, cwnd: u32) -> u32 {
        let per = (u64::from(cwnd) * FRIENDLY) >> 3;
        if self.reno_acked > per {
            let grown = (self.reno_acked - 1) / per;
            self.reno_acked -= grown * per;
            self.reno_cwnd += grown;
        }
        match self.reno_cwnd.checked_sub(cwnd.into()) {
            None | Some(0) => u32::MAX,
            Some(ahead) => (u64::from(cwnd) / ahead) as u32,
        }
    }

    /// Time in which nothing was sent does not count (`cubictcp_cwnd_event`; RFC 9438 §4.2,
    /// §5.8).
    fn skip_idle(&mut self, now: u64, last_sent: u64) {
        if let Some(epoch) = &mut self.epoch {
            *epoch = (*epoch + now.saturating_sub(last_sent)).min(now);
        }
    }
}

/// ∛a rounded down. Linux's `cubic_root` makes one Newton step from a table and is off by 0.2 % on
/// average, which moves K, the time at which the window is flat, by the same share.
fn cube_root(a: u64) -> u64 {
    let mut root = 0;
    for bit in (0..=21).rev() {
        let candidate: u64 = root | 1 << bit;
        if candidate.checked_pow(3).is_some_and(|cube| cube <= a) {
            root = candidate;
        }
    }
    root
}

impl CongestionControl for Cubic {
    fn init(&mut self, _w: &mut Window, f: &Flight) {
        self.hystart.start_round(f);
    }

    /// β·cwnd; and fast convergence: a window that did not reach the last `W_max` makes room
    /// (RFC 9438 §4.6, §4.7).
    fn ssthresh(&mut self, w: &Window, _f: &Flight) -> u32 {
        let (cwnd, curve) = (u64::from(w.cwnd), &mut self.curve);
        curve.epoch = None;
        curve.last_max = if w.cwnd < curve.last_max {
            (cwnd * (BETA_SCALE + BETA) / (2 * BETA_SCALE)) as u32
        } else {
            w.cwnd
        };
        ((cwnd * BETA / BETA_SCALE) as u32).max(2)
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
        self.curve.update(jiffies(f.now), w.cwnd, acked);
        w.additive_increase(self.curve.per, acked);
    }

    fn pkts_acked(&mut self, w: &mut Window, f: &Flight, sample: &AckSample) {
        let Some(rtt) = sample.rtt else { return };
        let curve = &mut self.curve;
        // The first second after a loss still sees the queue that led to it.
        if curve.epoch.is_some_and(|e| jiffies(f.now) - e < HZ) {
            return;
        }
        let delay = micros_of(rtt).max(1);
        if curve.delay_min == 0 || delay < curve.delay_min {
            curve.delay_min = delay;
        }
        if w.in_slow_start() {
            self.hystart.update(w, f, delay, curve.delay_min);
        }
    }

    fn set_state(&mut self, _w: &mut Window, f: &Flight, state: Recovery) {
        if state == Recovery::Loss {
            self.curve = Curve::default();
            self.hystart = HyStart::default();
            self.hystart.start_round(f);
        }
    }

    fn event(&mut self, _w: &mut Window, f: &Flight, event: Event) {
        if event == Event::TransmitStart {
            self.curve.skip_idle(jiffies(f.now), jiffies(f.last_sent));
        }
    }
}
