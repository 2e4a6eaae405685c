//! H-TCP (Shorten, Leith: "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004;
//! draft-leith-tcp-htcp) as Linux has it (`tcp_htcp.c`).
//!
//! A round trip adds α segments, a loss leaves β of the window. With Δ the time since the last loss:
//!
//! ```text
//!     α = 2·(1 − β)·f(Δ)·s,   f(Δ) = 1 within the first second, then 1 + 10·(Δ−1) + ((Δ−1)/2)²
//!     β = RTTmin / RTTmax, between 0.5 and 0.8; 0.5 where throughput has changed by more than 20 %
//! ```
//!
//! s = RTTmin / 100 ms, between 0.1 and 2, makes the growth in a second independent of the round
//! trip (`use_rtt_scaling`). Times are in [jiffies](super::jiffies), α and β in 1/128.

#[cfg(test)]
mod tests;

use super::jiffies::{HZ, from_micros, jiffies, micros_of};
use super::{AckSample, CongestionControl, Recovery, Window};
use crate::cc::Flight;

/// 1 of α and β.
const ONE: u64 = 1 << 7;
const BETA_MIN: u64 = 1 << 6;
const BETA_MAX: u64 = 102;

/// RTTmax ignores a step larger than this, in jiffies.
const MAX_RTT_STEP: u64 = 20 * HZ / 1000;

/// Below this RTTmin, in jiffies, β does not adapt.
const ADAPTIVE_RTT: u64 = 10 * HZ / 1000;

/// H-TCP's state (`struct htcp`).
#[derive(Debug)]
pub(super) struct Htcp {
    alpha: u64,
    beta: u64,
    /// β adapts only from the second loss at the same throughput on.
    mode_switch: bool,
    /// Segments that the last ACK acknowledged.
    pkts_acked: u32,
    /// Jiffies; 0: none yet.
    min_rtt: u64,
    max_rtt: u64,
    /// When the last loss was over.
    last_cong: u64,
    undo: Option<Undo>,
    throughput: Throughput,
}

/// What a spurious loss would have changed.
#[derive(Debug)]
struct Undo {
    last_cong: u64,
    max_rtt: u64,
    old_max: u64,
}

/// Segments a second, once a window.
#[derive(Debug, Default)]
struct Throughput {
    /// Segments acknowledged since `since`.
    packets: u64,
    since: u64,
    smoothed: u64,
    /// The largest since the last loss, and since the one before.
    max: u64,
    old_max: u64,
}

impl Default for Htcp {
    fn default() -> Self {
        Self {
            alpha: ONE,
            beta: BETA_MIN,
            mode_switch: false,
            pkts_acked: 1,
            min_rtt: 0,
            max_rtt: 0,
            last_cong: 0,
            undo: None,
            throughput: Throughput::default(),
        }
    }
}

impl Htcp {
    /// `measure_rtt`.
    fn measure_rtt(&mut self, rtt: u64, state: Recovery) {
        if self.min_rtt == 0 || rtt < self.min_rtt {
            self.min_rtt = rtt;
        }
        if state == Recovery::Open {
            self.max_rtt = self.max_rtt.max(self.min_rtt);
            if rtt > self.max_rtt && rtt <= self.max_rtt + MAX_RTT_STEP {
                self.max_rtt = rtt;
            }
        }
    }

    /// `measure_achieved_throughput`.
    fn measure_throughput(&mut self, now: u64, cwnd: u32, acked: u32) {
        let t = &mut self.throughput;
        t.packets += u64::from(acked);
        let window = u64::from(cwnd).checked_sub((self.alpha / ONE).max(1));
        let elapsed = now - t.since;
        if self.min_rtt == 0
            || elapsed < self.min_rtt
            || window.is_none_or(|window| t.packets < window)
        {
            return;
        }
        let current = t.packets * HZ / elapsed;
        if (now - self.last_cong) / self.min_rtt <= 3 {
            // Just after the back-off.
            t.smoothed = current;
            t.max = current;
        } else {
            t.smoothed = (3 * t.smoothed + current) / 4;
            t.max = t.max.max(t.smoothed);
        }
        t.packets = 0;
        t.since = now;
    }

    /// `htcp_beta_update`.
    fn update_beta(&mut self) {
        let t = &mut self.throughput;
        let steady = (4 * t.old_max..=6 * t.old_max).contains(&(5 * t.max));
        t.old_max = t.max;
        if !steady {
            self.beta = BETA_MIN;
            self.mode_switch = false;
        } else if self.mode_switch && self.min_rtt > ADAPTIVE_RTT && self.max_rtt > 0 {
            self.beta = (self.min_rtt * ONE / self.max_rtt).clamp(BETA_MIN, BETA_MAX);
        } else {
            self.beta = BETA_MIN;
            self.mode_switch = true;
        }
    }

    /// `htcp_alpha_update`.
    fn update_alpha(&mut self, now: u64) {
        let mut factor = 1;
        if let Some(late @ 1..) = (now - self.last_cong).checked_sub(HZ) {
            factor += (10 * late + (late / 2) * (late / 2) / HZ) / HZ;
        }
        if self.min_rtt > 0 {
            // In eighths.
            let scale = (8 * HZ / (10 * self.min_rtt)).clamp(8 / 2, 8 * 10);
            factor = (8 * factor / scale).max(1);
        }
        self.alpha = 2 * factor * (ONE - self.beta);
    }
}

impl CongestionControl for Htcp {
    /// Linux's first measurement of throughput begins when the machine has started; ours begins
    /// here.
    fn init(&mut self, _w: &mut Window, f: &Flight) {
        self.last_cong = jiffies(f.now);
        self.throughput.since = self.last_cong;
    }

    fn ssthresh(&mut self, w: &Window, f: &Flight) -> u32 {
        self.update_beta();
        self.update_alpha(jiffies(f.now));
        // RTTmax fades, so that it follows changes of route.
        if self.min_rtt > 0 && self.max_rtt > self.min_rtt {
            self.max_rtt = self.min_rtt + (self.max_rtt - self.min_rtt) * 95 / 100;
        }
        ((u64::from(w.cwnd) * self.beta / ONE) as u32).max(2)
    }

    fn cong_avoid(&mut self, w: &mut Window, f: &Flight, acked: u32) {
        if !f.cwnd_limited {
            return;
        }
        if w.in_slow_start() {
            w.slow_start(acked);
            return;
        }
        if u64::from(w.count) * self.alpha / ONE >= w.cwnd.into() {
            w.cwnd = (w.cwnd + 1).min(w.clamp);
            w.count = 0;
            self.update_alpha(jiffies(f.now));
        } else {
            w.count += self.pkts_acked;
        }
        self.pkts_acked = 1;
    }

    fn pkts_acked(&mut self, w: &mut Window, f: &Flight, sample: &AckSample) {
        if f.recovery == Recovery::Open {
            self.pkts_acked = sample.acked;
        }
        if let Some(rtt) = sample.rtt.map(micros_of).filter(|&us| us > 0) {
            self.measure_rtt(from_micros(rtt), f.recovery);
        }
        let now = jiffies(f.now);
        if matches!(f.recovery, Recovery::Open | Recovery::Disorder) {
            self.measure_throughput(now, w.cwnd, sample.acked);
        } else {
            self.throughput.packets = 0;
            self.throughput.since = now;
        }
    }

    fn set_state(&mut self, _w: &mut Window, f: &Flight, state: Recovery) {
        let now = jiffies(f.now);
        match state {
            Recovery::Open => {
                if self.undo.take().is_some() {
                    self.last_cong = now;
                }
            }
            Recovery::Recovery | Recovery::Loss => {
                self.undo = Some(Undo {
                    last_cong: self.last_cong,
                    max_rtt: self.max_rtt,
                    old_max: self.throughput.old_max,
                });
                self.last_cong = now;
            }
            Recovery::Disorder | Recovery::Cwr => {}
        }
    }

    fn undo_cwnd(&mut self, w: &Window, _f: &Flight) -> u32 {
        if let Some(undo) = self.undo.take() {
            self.last_cong = undo.last_cong;
            self.max_rtt = undo.max_rtt;
            self.throughput.old_max = undo.old_max;
        }
        w.cwnd.max(w.prior_cwnd)
    }
}
