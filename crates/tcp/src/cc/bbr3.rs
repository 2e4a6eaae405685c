//! BBR version 3, after draft-ietf-ccwg-bbr (working group's text after revision -06, July 2026);
//! names and sections are the draft's.
//!
//! As in [version 1](super::bbr) the path is modelled by the rate at which it delivers and by its
//! round trip, and the pacing rate follows from the first, the window from both. What is new is that
//! loss counts. The model has two more parts, each a bound, and two time scales:
//!
//! ```text
//! long term    max_bw              largest delivery rate of this cycle of PROBE_BW and the last
//!              inflight_longterm   in flight when a probe last lost more than 2 %
//! short term   bw_shortterm        after loss outside a probe: what was delivered in that round,
//!              inflight_shortterm    but at least 0.7 of what it was; forgotten before a probe
//!
//! bw          = min(max_bw, bw_shortterm)
//! pacing rate = pacing_gain · bw · 0.99
//! cwnd        = cwnd_gain · bw · min_rtt + extra_acked, ≥ 4, ≤ the bounds on what is in flight
//! ```
//!
//! The state chart (§5.1.1, §5.6.1):
//!
//! ```text
//!        │                      pacing  cwnd   bounds on what is in flight
//!        ▼
//!  ┌─▶ STARTUP ──────┐          2.77    2
//!  │     │  no growth by a quarter in 3 rounds, or a round of loss above 2 %
//!  │     ▼           │
//!  │   DRAIN ────────┤          0.5     2      short term
//!  │     │  in flight ≤ BDP, or 3 rounds
//!  │     ▼           │
//!  │ ┌▶ DOWN ────────┤          0.90    2      long and short term
//!  │ │   │  in flight ≤ BDP and ≤ 0.85 of the long-term bound
//!  │ │   ▼           │
//!  │ │  CRUISE ──────┤          1       2      0.85 of the long term, and short term
//!  │ │   │  2 to 3 s, or as many rounds as there are segments in a BDP, up to 63
//!  │ │   ▼           │
//!  │ │  REFILL ──────┤          1       2      long term
//!  │ │   │  a round
//!  │ │   ▼           │
//!  │ │  UP ──────────┤          1.25    2.25   long term, which grows by 1, 2, 4 … a round
//!  │ └───┘  loss above 2 %, no growth in 3 rounds, or the bound where the last probe lost
//!  │                 │  min_rtt is 10 s old
//!  │                 ▼
//!  └──────────── PROBE_RTT      1       0.5    half a BDP for 200 ms and a round; then CRUISE
//! ```
//!
//! Different from the draft: volumes are segments and rates segments per µs, as in Linux; a segment
//! leaves alone (§5.6.3 allows that), so that the offload budget of three segments vanishes in the
//! least window of four; SACK is assumed (§5.3.1.3's and §5.5.10.2's variants without it are left
//! out); whether a probe has reached the bound of the last one is judged by what was in flight before
//! the ACK; loss events in STARTUP are counted as ACKs that found losses, as Linux's version 3 does.
//! ECN is not part of the draft.

mod loss;
mod probe_bw;
mod sample;
mod states;
#[cfg(test)]
mod tests;
mod window;

use super::path::{Bandwidth, Bubble, Gain, Rounds, WindowedMax};
use super::{CongestionControl, Event, LostSegment, Recovery, Window};
use crate::cc::{Flight, RateSample};
use loss::{Bounds, Undo};
use probe_bw::Probe;
use rand::SeedableRng;
use rand_pcg::Pcg32;
use sample::{Delivery, Sample, TwoCycles};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// How long `min_rtt` is believed, and so the time between two PROBE_RTT (`MinRTTFilterLen`).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);

/// The least time in PROBE_RTT (`ProbeRTTDuration`).
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);

/// Window of PROBE_RTT in BDPs (`ProbeRTTCwndGain`).
const PROBE_RTT_CWND_GAIN: Gain = Gain::ratio(1, 2);

/// Smallest window in segments (`MinPipeCwnd`).
const MIN_CWND: u32 = 4;

/// Window of [`Bbr3::extra_acked`] in rounds once the pipe was full (`ExtraAckedFilterLen`), and
/// before.
const EXTRA_ACKED_ROUNDS: u32 = 10;
const EXTRA_ACKED_ROUNDS_STARTUP: u32 = 1;

/// What it is doing; the chart is above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Doubles the rate every round.
    Startup,
    /// Takes away STARTUP's queue.
    Drain,
    /// PROBE_BW: takes away a probe's queue and leaves room to others.
    Down,
    /// PROBE_BW: sends at the path's rate.
    Cruise,
    /// PROBE_BW: fills the pipe, lest the probe's first losses come of that.
    Refill,
    /// PROBE_BW: looks for more.
    Up,
    /// Empties the queue to see the round trip.
    ProbeRtt,
}

impl State {
    /// Gains of the pacing rate and of the window (§5.6.1).
    fn gains(self) -> (Gain, Gain) {
        const DEFAULT_CWND: Gain = Gain::ratio(2, 1);
        match self {
            // 4 ln 2
            Self::Startup => (Gain::above(277, 100), DEFAULT_CWND),
            Self::Drain => (Gain::ratio(1, 2), DEFAULT_CWND),
            Self::Down => (Gain::above(90, 100), DEFAULT_CWND),
            Self::Cruise | Self::Refill => (Gain::ONE, DEFAULT_CWND),
            Self::Up => (Gain::ratio(5, 4), Gain::ratio(9, 4)),
            Self::ProbeRtt => (Gain::ONE, PROBE_RTT_CWND_GAIN),
        }
    }

    /// `IsInAProbeBWState`.
    fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// `IsProbingBW`.
    fn is_probing(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }
}

/// The state of one connection.
#[derive(Debug)]
pub struct Bbr3 {
    random: Pcg32,
    state: State,
    rounds: Rounds,
    /// Segments of PROBE_RTT.
    bubble: Bubble,

    max_bandwidth: TwoCycles,
    /// `BBR.bw`: what the model allows.
    bandwidth: Bandwidth,
    min_rtt: Option<Duration>,
    /// When `min_rtt` was measured, and whether that is too long ago.
    min_rtt_at: Instant,
    min_rtt_expired: bool,
    extra_acked: WindowedMax<u32>,
    /// When the excess of ACKs began to be counted, and segments acknowledged since.
    extra_acked_at: Instant,
    extra_acked_delivered: u64,

    /// The most of this round (`bw_latest`, `inflight_latest`), for loss.
    latest: Delivery,
    /// A round since a loss: the segments delivered when it began, and whether one begins.
    loss_round_delivered: u64,
    loss_round_start: bool,
    loss_in_round: bool,
    /// ACKs of the round that found losses.
    loss_events: u32,
    short_term: Bounds,
    /// `inflight_longterm` in segments; `u32::MAX`: no bound.
    inflight_long_term: u32,
    undo: Undo,

    /// The rate to exceed by a quarter, in how many rounds in a row that failed, whether the pipe is
    /// full now, and whether it ever was.
    full_bandwidth: Bandwidth,
    full_rounds: u32,
    full_now: bool,
    full: bool,

    /// Round in which DRAIN began.
    drain_round: u32,
    probe: Probe,

    /// PROBE_RTT: its window; when it may end, known once few enough are in flight; and whether a
    /// round has passed since.
    probe_rtt_cwnd: u32,
    probe_rtt_until: Option<Instant>,
    probe_rtt_round: bool,

    /// The initial window, in segments.
    initial_cwnd: u32,
    /// The window before recovery or PROBE_RTT made it small.
    prior_cwnd: u32,
    /// Recovery's state at the last ACK.
    previous: Recovery,
    /// Nothing has been delivered since the flow was idle.
    restarting: bool,
    /// The pacing rate is based on a measured round trip.
    paced_by_rtt: bool,
}

impl Bbr3 {
    /// Before the connection is established. `seed` decides how long a flow waits between probes, so
    /// that flows that share a bottleneck do not probe together; [`crate::Config::seed`] is meant.
    pub fn new(seed: u64) -> Self {
        Self {
            random: Pcg32::seed_from_u64(seed),
            state: State::Startup,
            rounds: Rounds::default(),
            bubble: Bubble::default(),
            max_bandwidth: TwoCycles::default(),
            bandwidth: Bandwidth::ZERO,
            min_rtt: None,
            min_rtt_at: Instant::ZERO,
            min_rtt_expired: false,
            extra_acked: WindowedMax::default(),
            extra_acked_at: Instant::ZERO,
            extra_acked_delivered: 0,
            latest: Delivery::default(),
            loss_round_delivered: 0,
            loss_round_start: false,
            loss_in_round: false,
            loss_events: 0,
            short_term: Bounds::NONE,
            inflight_long_term: u32::MAX,
            undo: Undo::default(),
            full_bandwidth: Bandwidth::ZERO,
            full_rounds: 0,
            full_now: false,
            full: false,
            drain_round: 0,
            probe: Probe::default(),
            probe_rtt_cwnd: MIN_CWND,
            probe_rtt_until: None,
            probe_rtt_round: false,
            initial_cwnd: MIN_CWND,
            prior_cwnd: 0,
            previous: Recovery::Open,
            restarting: false,
            paced_by_rtt: false,
        }
    }

    /// `UpdateModelAndState` (§5.2.3).
    fn update_model(&mut self, w: &mut Window, f: &Flight, s: &Sample) {
        self.update_latest_delivery(f, s);
        self.update_max_bandwidth(f, s);
        self.update_congestion_signals(w, s);
        self.update_extra_acked(w, f, s);
        self.check_full(s);
        self.check_startup_done(f, s);
        self.check_drain_done(f);
        self.update_probe_bw(w, f, s);
        self.update_min_rtt(f, s);
        self.check_probe_rtt(w, f, s);
        if self.loss_round_start {
            self.latest = s.delivery();
        }
        self.bandwidth = self.max_bandwidth.get().min(self.short_term.bandwidth);
    }

    /// `UpdateMaxBw` and `UpdateRound` (§5.5.5, §5.5.1).
    fn update_max_bandwidth(&mut self, f: &Flight, s: &Sample) {
        self.rounds.start = false;
        if !s.valid {
            return;
        }
        if self.rounds.acked(s.prior_delivered, f.delivered) {
            self.probe.rounds_since_up += 1;
        }
        if s.bandwidth >= self.max_bandwidth.get() || !s.app_limited {
            let current = &mut self.max_bandwidth.current;
            *current = s.bandwidth.max(*current);
        }
    }

    /// `UpdateACKAggregation` (§5.5.9).
    fn update_extra_acked(&mut self, w: &Window, f: &Flight, s: &Sample) {
        let mut expected = self.bandwidth.segments(f.now - self.extra_acked_at);
        if self.extra_acked_delivered <= expected {
            self.extra_acked_delivered = 0;
            self.extra_acked_at = f.now;
            expected = 0;
        }
        self.extra_acked_delivered += u64::from(s.acked);
        let excess = self.extra_acked_delivered.saturating_sub(expected);
        let excess = u32::try_from(excess).unwrap_or(u32::MAX).min(w.cwnd);
        let window = if self.full {
            EXTRA_ACKED_ROUNDS
        } else {
            EXTRA_ACKED_ROUNDS_STARTUP
        };
        self.extra_acked.update(window, self.rounds.count, excess);
    }
}

impl CongestionControl for Bbr3 {
    /// `OnInit` (§5.2.1).
    fn init(&mut self, w: &mut Window, f: &Flight) {
        w.ssthresh = Window::NO_SSTHRESH;
        self.min_rtt = f.srtt;
        self.min_rtt_at = f.now;
        self.initial_cwnd = w.cwnd;
        self.probe_rtt_cwnd = w.cwnd;
        self.extra_acked_at = f.now;
        self.pace_by_rtt(w, f);
    }

    /// `OnEnterRTO` and `OnEnterFastRecovery` (§5.6.4.4). What they save has been saved already if a
    /// loss of this round has been noted, and has perhaps been acted upon.
    fn ssthresh(&mut self, w: &Window, f: &Flight) -> u32 {
        if self.loss_in_round {
            self.save_cwnd(w, f);
        } else {
            self.save_upon_loss(w, f);
        }
        w.ssthresh
    }

    /// Never called: [`Self::control`] does it all.
    fn cong_avoid(&mut self, _w: &mut Window, _f: &Flight, _acked: u32) {}

    fn segment_lost(&mut self, w: &mut Window, f: &Flight, lost: &LostSegment) {
        self.handle_lost_segment(w, f, lost);
    }

    fn set_state(&mut self, _w: &mut Window, _f: &Flight, state: Recovery) {
        if state == Recovery::Loss {
            self.previous = Recovery::Loss;
        }
    }

    /// `HandleRestartFromIdle` (§5.4.1).
    fn event(&mut self, w: &mut Window, f: &Flight, event: Event) {
        let limited = f.app_limited || self.bubble.holds(f.delivered);
        if event != Event::TransmitStart || !limited {
            return;
        }
        self.restarting = true;
        self.extra_acked_at = f.now;
        if self.state.is_probe_bw() {
            self.set_pacing_rate(w, f, Gain::ONE);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(w, f);
        }
    }

    /// `HandleSpuriousLossDetection` (§5.5.11.2).
    fn undo_cwnd(&mut self, w: &Window, f: &Flight) -> u32 {
        self.handle_spurious_loss(f);
        w.cwnd.max(self.prior_cwnd)
    }

    fn controls_rate(&self) -> bool {
        true
    }

    /// `UpdateOnACK` (§5.2.3).
    fn control(&mut self, w: &mut Window, f: &Flight, sample: &RateSample) {
        let sample = Sample::new(sample, &self.bubble);
        self.update_model(w, f, &sample);
        let (gain, _) = self.state.gains();
        self.set_pacing_rate(w, f, gain);
        self.set_cwnd(w, f, &sample);
    }
}
