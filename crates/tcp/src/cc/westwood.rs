//! Westwood+ (Mascolo, Casetti et al.: "TCP Westwood: Bandwidth Estimation for Enhanced Transport over
//! Wireless Links", MobiCom 2001; Grieco, Mascolo: "Performance Evaluation and Comparison of Westwood+,
//! New Reno, and Vegas", CCR 34(2), 2004) as Linux has it (`tcp_westwood.c`).
//!
//! Reno, except that after a loss the window is what the pipe holds: bandwidth estimate times
//! smallest round trip. The estimate is what was delivered in each round trip, of 50 ms at least,
//! twice low-pass filtered. Times are in [jiffies](super::jiffies), bandwidth in bytes a jiffy.
//!
//! Linux counts acknowledged bytes and takes a segment for every duplicate ACK, which later
//! cumulative ACKs must then not count again; the sender's count of delivered segments is that.

#[cfg(test)]
mod tests;

use super::jiffies::{HZ, from_micros, jiffies, micros_of};
use super::{AckSample, CongestionControl, Event, Window, reno};
use crate::cc::Flight;

/// The shortest time to measure over (`TCP_WESTWOOD_RTT_MIN`).
const SHORTEST: u64 = HZ / 20;

/// The round trip until one is measured (`TCP_WESTWOOD_INIT_RTT`).
const INITIAL_RTT: u64 = 20 * HZ;

/// Westwood+'s state (`struct westwood`).
#[derive(Debug)]
pub(super) struct Westwood {
    /// Bandwidth, filtered once and twice.
    once: u64,
    bandwidth: u64,
    /// The start of the current measurement, and its bytes so far.
    since: u64,
    bytes: u64,
    /// The sender's count at the last ACK; None before the first.
    delivered: Option<u64>,
    rtt: u64,
    rtt_min: u64,
    /// The next round trip is the smallest, whatever it is: the path may have changed.
    reset_rtt_min: bool,
}

impl Default for Westwood {
    fn default() -> Self {
        Self {
            once: 0,
            bandwidth: 0,
            since: 0,
            bytes: 0,
            delivered: None,
            rtt: INITIAL_RTT,
            rtt_min: INITIAL_RTT,
            reset_rtt_min: true,
        }
    }
}

impl Westwood {
    /// The end of a round trip's measurement (`westwood_update_window`, `westwood_filter`).
    fn update(&mut self, now: u64) {
        let elapsed = now - self.since;
        if self.rtt == 0 || elapsed <= self.rtt.max(SHORTEST) {
            return;
        }
        let sample = self.bytes / elapsed;
        if self.once == 0 && self.bandwidth == 0 {
            self.once = sample;
            self.bandwidth = sample;
        } else {
            self.once = (7 * self.once + sample) / 8;
            self.bandwidth = (7 * self.bandwidth + self.once) / 8;
        }
        self.bytes = 0;
        self.since = now;
    }

    /// What the pipe holds, in segments, at least 2 (`tcp_westwood_bw_rttmin`).
    fn pipe(&self, f: &Flight) -> u32 {
        let segments = self.bandwidth * self.rtt_min / u64::from(f.mss);
        u32::try_from(segments).unwrap_or(u32::MAX).max(2)
    }
}

impl CongestionControl for Westwood {
    fn init(&mut self, _w: &mut Window, f: &Flight) {
        self.since = jiffies(f.now);
    }

    /// Reno's during recovery; the pipe's when it is over.
    fn ssthresh(&mut self, w: &Window, _f: &Flight) -> u32 {
        reno::ssthresh(w)
    }

    fn cong_avoid(&mut self, w: &mut Window, f: &Flight, acked: u32) {
        reno::cong_avoid(w, f, acked);
    }

    fn pkts_acked(&mut self, _w: &mut Window, f: &Flight, sample: &AckSample) {
        if let Some(rtt) = sample.rtt.map(micros_of).filter(|&us| us > 0) {
            self.rtt = from_micros(rtt);
        }
        self.update(jiffies(f.now));
        // The segments of the first ACK were sent before the measurement began.
        let before = self.delivered.replace(f.delivered).unwrap_or(f.delivered);
        self.bytes += (f.delivered - before) * u64::from(f.mss);
        if self.reset_rtt_min || self.rtt < self.rtt_min {
            self.rtt_min = self.rtt;
            self.reset_rtt_min = false;
        }
    }

    fn event(&mut self, w: &mut Window, f: &Flight, event: Event) {
        match event {
            Event::CompleteRecovery => {
                w.ssthresh = self.pipe(f);
                w.cwnd = w.ssthresh;
            }
            Event::Timeout => {
                w.ssthresh = self.pipe(f);
                self.reset_rtt_min = true;
            }
            Event::TransmitStart | Event::WindowRestart => {}
        }
    }
}
