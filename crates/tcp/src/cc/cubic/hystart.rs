//! HyStart as in Linux 6.18 (`hystart_update`; Ha, Rhee: "Taming the elephants: New TCP slow
//! start", Computer Networks 2011): leaves slow start before the queue overflows.
//!
//! Each round, two signs are looked for:
//!
//! * *ACK train*: ACKs no more than 2 ms apart, for longer than half of the smallest RTT (all of it
//!   if the sender paces). What arrives so closely fills the pipe.
//! * *Delay*: after 8 RTTs, the round's smallest so far is above the smallest of all by an eighth of
//!   it, between 4 and 16 ms.
//!
//! RFC 9406 (HyStart++) has no trains, and after the sign a phase of slower growth, which Linux has
//! not.

use super::super::Window;
use super::super::jiffies::{micros, micros_of};
use crate::cc::Flight;

/// Below this window, in segments, nothing is concluded (`hystart_low_window`).
const LOW_WINDOW: u32 = 16;

/// ACKs at most this far apart, in µs, are one train (`hystart_ack_delta_us`).
const ACK_DELTA: u64 = 2000;

/// Samples in a round before its smallest RTT is believed (`HYSTART_MIN_SAMPLES`).
const MIN_SAMPLES: u8 = 8;

/// Bounds of the rise in delay, in µs (`HYSTART_DELAY_MIN`, `HYSTART_DELAY_MAX`).
const DELAY_MIN: u64 = 4_000;
const DELAY_MAX: u64 = 16_000;

/// The most that leaves in one piece, in bytes (`sk_gso_max_size`): ACKs of a burst are late by its duration.
const GSO_MAX_SIZE: u64 = 65_536;

/// One slow start's search. Times are in µs.
#[derive(Debug)]
pub(super) struct HyStart {
    /// Slow start is to end.
    found: bool,
    round_start: u64,
    /// The round ends when this offset is acknowledged.
    pub(super) end_seq: u64,
    /// The last ACK that belonged to the train.
    last_ack: u64,
    /// The round's smallest RTT, and its RTTs so far, up to `MIN_SAMPLES`.
    rtt: u64,
    samples: u8,
}

impl Default for HyStart {
    fn default() -> Self {
        Self {
            found: false,
            round_start: 0,
            end_seq: 0,
            last_ack: 0,
            rtt: u64::MAX,
            samples: 0,
        }
    }
}

impl HyStart {
    /// A new round (`bictcp_hystart_reset`).
    pub(super) fn start_round(&mut self, f: &Flight) {
        let now = micros(f.now);
        *self = Self {
            found: self.found,
            round_start: now,
            end_seq: f.snd_nxt,
            last_ack: now,
            ..Self::default()
        };
    }

    /// An RTT of slow start; sets the threshold to the window when a sign is seen.
    pub(super) fn update(&mut self, w: &mut Window, f: &Flight, rtt: u64, rtt_min: u64) {
        if self.found {
            return;
        }
        if f.snd_una > self.end_seq {
            self.start_round(f);
        }
        if w.cwnd < LOW_WINDOW {
            return;
        }
        let train = self.is_train(w, f, rtt_min);
        if train | self.is_delayed(rtt, rtt_min) {
            self.found = true;
            w.ssthresh = w.cwnd;
        }
    }

    fn is_train(&mut self, w: &Window, f: &Flight, rtt_min: u64) -> bool {
        let now = micros(f.now);
        if now - self.last_ack > ACK_DELTA {
            return false;
        }
        self.last_ack = now;
        let mut threshold = rtt_min + ack_delay(w, f);
        // Without pacing the train is as long as the bottleneck makes it: a forward delay, taken
        // for half of the round trip, is as much as the pipe holds.
        if w.pacing_rate.is_none() {
            threshold /= 2;
        }
        now - self.round_start > threshold
    }

    fn is_delayed(&mut self, rtt: u64, rtt_min: u64) -> bool {
        self.rtt = self.rtt.min(rtt);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        self.rtt > rtt_min + (rtt_min >> 3).clamp(DELAY_MIN, DELAY_MAX)
    }
}

/// How late, in µs, offload on both sides may make an ACK, 1 ms at most (`hystart_ack_delay`).
fn ack_delay(w: &Window, f: &Flight) -> u64 {
    match w.pacing_rate.or_else(|| slow_start_rate(w, f)) {
        None | Some(0) => 0,
        Some(rate) => (4 * GSO_MAX_SIZE * 1_000_000 / rate).min(1000),
    }
}

/// Twice the window in a smoothed RTT, bytes a second: what Linux would pace slow start with
/// (`tcp_update_pacing_rate`).
fn slow_start_rate(w: &Window, f: &Flight) -> Option<u64> {
    let srtt = f.srtt.map(micros_of).filter(|&us| us > 0)?;
    let window = u64::from(w.cwnd) * u64::from(f.mss);
    Some(2_000_000 * window / srtt)
}
