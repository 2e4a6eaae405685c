//! What follows from loss (§5.5.10), and taking it back (§5.5.11).

use super::{Bbr3, Sample, State};
use crate::cc::Flight;
use crate::cc::path::{Bandwidth, Gain};
use crate::cc::{LostSegment, Window};

/// `LossThresh`: lost segments of those in flight that a probe may cost, in percent.
const LOSS_PERCENT: u64 = 2;

/// `Beta`: no bound falls below this part of itself in a round.
const BETA: Gain = Gain::ratio(7, 10);

/// Bounds of the short term.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// `bw_shortterm`.
    pub bandwidth: Bandwidth,
    /// `inflight_shortterm`, in segments.
    pub inflight: u32,
}

impl Bounds {
    /// No bounds.
    pub const NONE: Self = Self {
        bandwidth: Bandwidth::INFINITE,
        inflight: u32::MAX,
    };
}

/// The state before a loss, in case the loss proves spurious.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// The state that the loss ended.
    state: Option<State>,
    short_term: Bounds,
    inflight_long_term: u32,
}

impl Default for Undo {
    fn default() -> Self {
        Self {
            state: None,
            short_term: Bounds {
                bandwidth: Bandwidth::ZERO,
                inflight: 0,
            },
            inflight_long_term: 0,
        }
    }
}

/// `IsInflightTooHigh`: whether too many of the segments in flight were lost.
pub(super) fn is_too_high(lost: u64, tx_in_flight: u32) -> bool {
    lost * 100 > u64::from(tx_in_flight) * LOSS_PERCENT
}

/// `segments` times `gain`.
fn part(segments: u32, gain: Gain) -> u32 {
    gain.times(segments.into()) as u32
}

impl Bbr3 {
    /// `HandleLostPacket`.
    pub(super) fn handle_lost_segment(&mut self, w: &Window, f: &Flight, lost: &LostSegment) {
        self.note_loss(w, f);
        if !self.probe.sampling || !is_too_high(lost.lost, lost.tx_in_flight) {
            return;
        }
        // `InflightAtLoss`: losses crossed the threshold within this segment, so the segments in flight before it are
        // those that fit.
        let before = lost.tx_in_flight.saturating_sub(1);
        self.handle_inflight_too_high(w, f, before, lost.app_limited);
    }

    /// `NoteLoss`.
    fn note_loss(&mut self, w: &Window, f: &Flight) {
        if !self.loss_in_round {
            self.loss_round_delivered = f.delivered;
            self.save_upon_loss(w, f);
        }
        self.loss_in_round = true;
    }

    /// `HandleInflightTooHigh`: once a probe.
    fn handle_inflight_too_high(
        &mut self,
        w: &Window,
        f: &Flight,
        tx_in_flight: u32,
        app_limited: bool,
    ) {
        self.probe.too_high = true;
        self.probe.sampling = false;
        if !app_limited {
            self.inflight_long_term = tx_in_flight.max(part(self.target_inflight(w), BETA));
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(f);
        }
    }

    /// `UpdateLatestDeliverySignals`.
    pub(super) fn update_latest_delivery(&mut self, f: &Flight, s: &Sample) {
        self.loss_round_start = false;
        if !s.valid {
            return;
        }
        self.latest.bandwidth = self.latest.bandwidth.max(s.bandwidth);
        self.latest.segments = self.latest.segments.max(s.delivered);
        if s.prior_delivered >= self.loss_round_delivered {
            self.loss_round_delivered = f.delivered;
            self.loss_round_start = true;
        }
    }

    /// `UpdateCongestionSignals` after its first line: once a round.
    pub(super) fn update_congestion_signals(&mut self, w: &Window, s: &Sample) {
        self.loss_events += u32::from(s.losses > 0);
        if self.loss_round_start {
            if self.loss_in_round && !self.state.is_probing() {
                self.lower_short_term(w);
            }
            self.loss_in_round = false;
        }
    }

    /// `InitLowerBounds` and `LossLowerBounds`.
    fn lower_short_term(&mut self, w: &Window) {
        let bounds = &mut self.short_term;
        if bounds.bandwidth == Bandwidth::INFINITE {
            bounds.bandwidth = self.max_bandwidth.get();
        }
        if bounds.inflight == u32::MAX {
            bounds.inflight = w.cwnd;
        }
        bounds.bandwidth = bounds.bandwidth.scaled(BETA).max(self.latest.bandwidth);
        bounds.inflight = part(bounds.inflight, BETA).max(self.latest.segments);
    }

    /// `ResetCongestionSignals`.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.loss_in_round = false;
        self.latest = super::Delivery::default();
    }

    /// STARTUP ends by loss (`CheckStartupHighLoss`).
    pub(super) fn end_startup_by_loss(&mut self) {
        self.undo.state = Some(State::Startup);
        self.full = true;
        self.full_now = true;
        self.inflight_long_term = self.bdp(Gain::ONE).max(self.latest.segments);
    }

    /// `SaveStateUponLoss`.
    pub(super) fn save_upon_loss(&mut self, w: &Window, f: &Flight) {
        self.save_cwnd(w, f);
        self.undo = Undo {
            state: None,
            short_term: self.short_term,
            inflight_long_term: self.inflight_long_term,
        };
    }

    /// `HandleSpuriousLossDetection` but for the window.
    pub(super) fn handle_spurious_loss(&mut self, f: &Flight) {
        let undo = self.undo;
        self.loss_in_round = false;
        self.reset_full(Bandwidth::ZERO);
        let bounds = &mut self.short_term;
        bounds.bandwidth = bounds.bandwidth.max(undo.short_term.bandwidth);
        bounds.inflight = bounds.inflight.max(undo.short_term.inflight);
        self.inflight_long_term = self.inflight_long_term.max(undo.inflight_long_term);
        self.undo.state = None;
        match undo.state {
            Some(State::Startup) if self.state != State::Startup => {
                self.full = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if !matches!(self.state, State::Up | State::ProbeRtt) => {
                self.start_refill(f);
            }
            _ => {}
        }
    }
}
