//! BBR version 1, as Linux 6.18 has it (`net/ipv4/tcp_bbr.c`; Cardwell, Cheng, Gunn, Yeganeh,
//! Jacobson: "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016).
//!
//! A path is modelled by two numbers, which cannot be measured at the same time: how fast the
//! bottleneck delivers, seen only while it has a queue, and the round trip, seen only while it has
//! none.
//!
//! ```text
//! bandwidth   = the largest delivery rate of the last 10 rounds        segments per µs
//! min_rtt     = the smallest round trip of the last 10 s               µs
//! pacing rate = pacing_gain · bandwidth · 0.99                         bytes per s
//! cwnd        = cwnd_gain · bandwidth · min_rtt + allowances, ≥ 4      segments
//! ```
//!
//! The gains, and so what is being measured, depend on the mode:
//!
//! ```text
//!        │                           pacing gain              cwnd gain
//!        ▼
//!  ┌─▶ STARTUP ───┐                  2/ln 2                   2/ln 2
//!  │     │  the rate has not grown by a quarter in 3 rounds
//!  │     ▼        │
//!  │   DRAIN ─────┤                  ln 2/2                   2/ln 2
//!  │     │  no more in flight than one BDP
//!  │     ▼        │
//!  ├─▶ PROBE_BW ──┤                  5/4 3/4 1 1 1 1 1 1      2
//!  │              │  min_rtt is 10 s old
//!  │              ▼
//!  └────────── PROBE_RTT             1                        (cwnd is 4)
//!      200 ms and a round with at most 4 in flight; back to STARTUP if the pipe was never full
//! ```
//!
//! Loss and delay are no signals of themselves. Three exceptions: the first round of recovery sends
//! only as much as is delivered; rates that are the same over two long intervals with a fifth of all
//! segments lost are a policer's, and then that rate is kept to (`long_term`); and ACKs that come
//! in bursts are allowed for in the window (`aggregation`).
//!
//! Different from Linux: time is taken as it comes, not in jiffies; the next departure, which
//! `bbr_packets_in_net_at_edt` would count, lies at most one train in the future and is left out.
//! Where Linux draws a random number, ours comes from the seed.

mod aggregation;
mod long_term;
mod phases;
#[cfg(test)]
mod tests;
mod window;

use super::path::{Bandwidth, Bubble, Gain, Rounds, WindowedMax};
use super::{CongestionControl, Event, Recovery, Window};
use crate::cc::{Flight, RateSample};
use aggregation::Aggregation;
use long_term::LongTerm;
use rand::SeedableRng;
use rand_pcg::Pcg32;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// Phases of PROBE_BW's cycle; each lasts about one `min_rtt`.
const CYCLE: [Gain; 8] = [
    // To see whether there is more.
    Gain::ratio(5, 4),
    // To take away the queue that this made, and leave room to others.
    Gain::ratio(3, 4),
    Gain::ONE,
    Gain::ONE,
    Gain::ONE,
    Gain::ONE,
    Gain::ONE,
    Gain::ONE,
];

/// How long a connection believes what it has measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Rounds for which a bandwidth counts.
    pub bandwidth_rounds: u32,
    /// How long a smallest round trip counts before PROBE_RTT looks for it.
    pub min_rtt: Duration,
}

impl Memory {
    /// Linux's: a whole cycle of rounds and some, and ten seconds.
    pub const LINUX: Self = Self {
        bandwidth_rounds: CYCLE.len() as u32 + 2,
        min_rtt: Duration::from_secs(10),
    };
}

/// How long PROBE_RTT lasts at least: 2 % of the time if nothing else ever empties the queue.
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);

/// 2/ln 2: the smallest gain with which a paced sender doubles its rate every round.
const HIGH_GAIN: Gain = Gain::above(2885, 1000);

/// Its inverse takes the queue away in the one round that it took to come.
const DRAIN_GAIN: Gain = Gain::ratio(1000, 2885);

/// Twice the BDP, so that ACKs that are late or come for many segments at once do not stop the flow.
const CWND_GAIN: Gain = Gain::ratio(2, 1);

/// Smallest window in segments: what a receiver that acknowledges every other segment needs.
const MIN_CWND: u32 = 4;

/// Linux's `TCP_INIT_CWND`, in segments.
const INITIAL_CWND: u32 = 10;

/// What it is doing; the chart is above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    /// Doubles the rate every round.
    Startup,
    /// Takes away the queue of STARTUP.
    Drain,
    /// Sends at the bandwidth, looking for more from time to time.
    ProbeBw,
    /// Empties the queue to see the round trip.
    ProbeRtt,
}

/// The state of one connection.
#[derive(Debug)]
pub struct Bbr {
    random: Pcg32,
    memory: Memory,
    mode: Mode,
    pacing_gain: Gain,
    cwnd_gain: Gain,

    /// Delivery rates, by rounds.
    max_bandwidth: WindowedMax<Bandwidth>,
    rounds: Rounds,
    min_rtt: Option<Duration>,
    /// When `min_rtt` was measured.
    min_rtt_at: Instant,
    long_term: LongTerm,
    aggregation: Aggregation,
    /// When a segment was last delivered (`delivered_mstamp`).
    delivered_at: Instant,
    /// Segments of PROBE_RTT.
    bubble: Bubble,

    /// STARTUP: the rate to exceed by a quarter, and in how many rounds in a row that failed.
    full_bandwidth: Bandwidth,
    full_rounds: u32,
    /// Whether the pipe has ever been full.
    full: bool,

    /// PROBE_BW: which phase of the cycle, and since when.
    phase: usize,
    phase_at: Instant,

    /// PROBE_RTT: when it may end, known once few enough are in flight; and whether a round has
    /// passed since.
    probe_rtt_until: Option<Instant>,
    probe_rtt_round: bool,

    /// The window before recovery or PROBE_RTT made it small.
    prior_cwnd: u32,
    /// Recovery's state at the last ACK.
    previous: Recovery,
    /// First round of recovery: sends only what is delivered.
    conserving: bool,
    /// Nothing has been delivered since the flow was idle.
    restarting: bool,
    /// The pacing rate is based on a measured round trip.
    paced_by_rtt: bool,
}

impl Bbr {
    /// Before the connection is established. `seed` decides in which phases PROBE_BW begins, so
    /// that flows that share a bottleneck do not probe together; [`crate::Config::seed`] is meant.
    pub fn new(seed: u64) -> Self {
        Self::with_memory(seed, Memory::LINUX)
    }

    /// The same with another memory than Linux's, to see what that is worth.
    pub fn with_memory(seed: u64, memory: Memory) -> Self {
        Self {
            random: Pcg32::seed_from_u64(seed),
            memory,
            mode: Mode::Startup,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            max_bandwidth: WindowedMax::default(),
            rounds: Rounds::default(),
            min_rtt: None,
            min_rtt_at: Instant::ZERO,
            long_term: LongTerm::default(),
            aggregation: Aggregation::default(),
            delivered_at: Instant::ZERO,
            bubble: Bubble::default(),
            full_bandwidth: Bandwidth::ZERO,
            full_rounds: 0,
            full: false,
            phase: 0,
            phase_at: Instant::ZERO,
            probe_rtt_until: None,
            probe_rtt_round: false,
            prior_cwnd: 0,
            previous: Recovery::Open,
            conserving: false,
            restarting: false,
            paced_by_rtt: false,
        }
    }

    /// The rate to go by (`bbr_bw`).
    fn bandwidth(&self) -> Bandwidth {
        self.long_term.rate().unwrap_or(self.max_bandwidth.get())
    }

    /// `bbr_update_bw`: rounds and delivery rates.
    fn update_bandwidth(&mut self, f: &Flight, s: &RateSample) {
        self.rounds.start = false;
        let Some((delivered, interval)) = valid(s) else {
            return;
        };
        if self.rounds.acked(s.prior_delivered, f.delivered) {
            self.conserving = false;
        }
        self.sample_long_term(f, s.losses, s.app_limited);
        let bandwidth = Bandwidth::new(delivered, interval);
        // A rate that the application limited says nothing about the path, unless it exceeds the known one.
        if !s.app_limited || bandwidth >= self.max_bandwidth.get() {
            let window = self.memory.bandwidth_rounds;
            self.max_bandwidth
                .update(window, self.rounds.count, bandwidth);
        }
    }

    /// `bbr_update_ack_aggregation`.
    fn update_aggregation(&mut self, w: &Window, s: &RateSample) {
        if s.acked_sacked == 0 || valid(s).is_none() {
            return;
        }
        if self.rounds.start {
            self.aggregation.round();
        }
        let bandwidth = self.bandwidth();
        self.aggregation
            .acked(self.delivered_at, bandwidth, s.acked_sacked, w.cwnd);
    }

    /// `bbr_update_model`.
    fn update_model(&mut self, w: &mut Window, f: &Flight, s: &RateSample) {
        self.update_bandwidth(f, s);
        self.update_aggregation(w, s);
        self.update_phase(w, f, s);
        self.check_full(s);
        self.check_drain(w, f);
        self.update_min_rtt(w, f, s);
        self.update_gains();
    }
}

/// A sample's segments and time, if it is one.
fn valid(s: &RateSample) -> Option<(u64, Duration)> {
    s.delivered
        .filter(|(_, interval)| *interval >= Duration::from_micros(1))
}

impl CongestionControl for Bbr {
    fn init(&mut self, w: &mut Window, f: &Flight) {
        w.ssthresh = Window::NO_SSTHRESH;
        self.min_rtt = f.min_rtt;
        self.min_rtt_at = f.now;
        self.delivered_at = f.now;
        self.aggregation.restart(f.now);
        self.long_term.reset(self.totals(f));
        self.pace_by_rtt(w, f);
    }

    /// Entering recovery: notes the window to return to; there is no threshold.
    fn ssthresh(&mut self, w: &Window, _f: &Flight) -> u32 {
        self.save_cwnd(w);
        w.ssthresh
    }

    /// Never called: [`Self::control`] does it all.
    fn cong_avoid(&mut self, _w: &mut Window, _f: &Flight, _acked: u32) {}

    fn set_state(&mut self, _w: &mut Window, f: &Flight, state: Recovery) {
        if state == Recovery::Loss {
            self.previous = Recovery::Loss;
            self.full_bandwidth = Bandwidth::ZERO;
            // A timeout ends a round, and is a loss.
            self.rounds.start = true;
            self.sample_long_term(f, 1, false);
        }
    }

    fn event(&mut self, w: &mut Window, f: &Flight, event: Event) {
        if event != Event::TransmitStart {
            return;
        }
        self.delivered_at = f.now;
        if f.app_limited || self.bubble.holds(f.delivered) {
            self.restarting = true;
            self.aggregation.restart(f.now);
            match self.mode {
                // No need to make up for the pause.
                Mode::ProbeBw => self.set_pacing_rate(w, f, Gain::ONE),
                Mode::ProbeRtt => self.check_probe_rtt_done(w, f),
                Mode::Startup | Mode::Drain => {}
            }
        }
    }

    fn undo_cwnd(&mut self, w: &Window, f: &Flight) -> u32 {
        // The slow-down was spurious, and perhaps also what was concluded from it.
        self.full_bandwidth = Bandwidth::ZERO;
        self.full_rounds = 0;
        self.long_term.reset(self.totals(f));
        w.cwnd
    }

    fn controls_rate(&self) -> bool {
        true
    }

    /// `bbr_main`.
    fn control(&mut self, w: &mut Window, f: &Flight, sample: &RateSample) {
        if sample.acked_sacked > 0 {
            self.delivered_at = f.now;
        }
        let app_limited = sample.app_limited || self.bubble.holds(sample.prior_delivered);
        let sample = RateSample {
            app_limited,
            ..*sample
        };
        self.update_model(w, f, &sample);
        self.set_pacing_rate(w, f, self.pacing_gain);
        self.set_cwnd(w, f, &sample);
    }
}
