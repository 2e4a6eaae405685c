//! Vegas (Brakmo, Peterson: "TCP Vegas: End to End Congestion Avoidance on a Global Internet", IEEE
//! JSAC 13(8), 1995) as Linux has it (`tcp_vegas.c`).
//!
//! Once a round trip it estimates how many of its segments wait in queues,
//!
//! ```text
//!     diff = cwnd · (RTT − baseRTT) / baseRTT
//! ```
//!
//! and keeps them between α = 2 and β = 4; slow start ends when they exceed γ = 1. Linux differs from
//! the paper: it divides by baseRTT where the paper's expected less actual rate divides by RTT, RTT
//! is the smallest of the round, slow start doubles in every round trip, not in every other, its end
//! sets the window to the pipe, and losses are recovered from as ever.

#[cfg(test)]
mod tests;

use super::jiffies::micros_of;
use super::{AckSample, CongestionControl, Event, Recovery, Window, reno};
use crate::cc::Flight;

/// Segments in the network's queues: at least, at most, and at most in slow start.
const ALPHA: u64 = 2;
const BETA: u64 = 4;
const GAMMA: u64 = 1;

/// With fewer RTTs in a round, all of them may have come from delayed ACKs.
const MIN_SAMPLES: u32 = 3;

/// Vegas's state (`struct vegas`). Round trips are in µs, `u64::MAX`: none yet.
#[derive(Debug)]
pub(super) struct Vegas {
    /// Off in disorder and recovery, where it is Reno.
    enabled: bool,
    /// The round ends when this offset is acknowledged.
    end_seq: u64,
    /// Smallest round trip since the connection was last idle.
    base_rtt: u64,
    round: Round,
}

/// The round trips of one round.
#[derive(Debug)]
struct Round {
    samples: u32,
    min_rtt: u64,
}

impl Default for Round {
    fn default() -> Self {
        Self {
            samples: 0,
            min_rtt: u64::MAX,
        }
    }
}

impl Default for Vegas {
    fn default() -> Self {
        Self {
            enabled: true,
            end_seq: 0,
            base_rtt: u64::MAX,
            round: Round::default(),
        }
    }
}

impl Vegas {
    /// Earlier measurements say nothing about the next round (`vegas_enable`).
    fn enable(&mut self, f: &Flight) {
        self.enabled = true;
        self.end_seq = f.snd_nxt;
        self.round = Round::default();
    }

    /// The end of a round with enough samples.
    fn adjust(&self, w: &mut Window, acked: u32) {
        let (cwnd, rtt) = (u64::from(w.cwnd), self.round.min_rtt);
        let diff = cwnd * (rtt - self.base_rtt) / self.base_rtt;
        if w.in_slow_start() {
            if diff > GAMMA {
                // To the rate that ACKs came at; one more for what the division lost.
                let pipe = (cwnd * self.base_rtt / rtt) as u32;
                w.cwnd = w.cwnd.min(pipe + 1);
                w.ssthresh = w.ssthresh.min(w.cwnd);
            } else {
                w.slow_start(acked);
            }
        } else if diff > BETA {
            w.cwnd -= 1;
            w.ssthresh = w.ssthresh.min(w.cwnd);
        } else if diff < ALPHA {
            w.cwnd += 1;
        }
        w.cwnd = w.cwnd.min(w.clamp).max(2);
        // `tcp_current_ssthresh`.
        w.ssthresh = w.ssthresh.max(w.cwnd / 2 + w.cwnd / 4);
    }
}

impl CongestionControl for Vegas {
    fn init(&mut self, _w: &mut Window, f: &Flight) {
        self.base_rtt = u64::MAX;
        self.enable(f);
    }

    fn ssthresh(&mut self, w: &Window, _f: &Flight) -> u32 {
        reno::ssthresh(w)
    }

    /// Its own estimate, not `cwnd_limited`, says whether the window may grow.
    fn cong_avoid(&mut self, w: &mut Window, f: &Flight, acked: u32) {
        if !self.enabled {
            reno::cong_avoid(w, f, acked);
        } else if f.snd_una > self.end_seq {
            self.end_seq = f.snd_nxt;
            if self.round.samples < MIN_SAMPLES {
                reno::cong_avoid(w, f, acked);
            } else {
                self.adjust(w, acked);
            }
            self.round = Round::default();
        } else if w.in_slow_start() {
            w.slow_start(acked);
        }
    }

    fn pkts_acked(&mut self, _w: &mut Window, _f: &Flight, sample: &AckSample) {
        let Some(rtt) = sample.rtt else { return };
        // Never 0.
        let rtt = micros_of(rtt) + 1;
        self.base_rtt = self.base_rtt.min(rtt);
        self.round.min_rtt = self.round.min_rtt.min(rtt);
        self.round.samples += 1;
    }

    fn set_state(&mut self, _w: &mut Window, f: &Flight, state: Recovery) {
        if state == Recovery::Open {
            self.enable(f);
        } else {
            self.enabled = false;
        }
    }

    fn event(&mut self, w: &mut Window, f: &Flight, event: Event) {
        if matches!(event, Event::WindowRestart | Event::TransmitStart) {
            self.init(w, f);
        }
    }
}
