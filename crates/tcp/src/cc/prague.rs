//! TCP Prague (draft-briscoe-iccrg-prague-congestion-control-04; where that leaves a choice, as in the L4S team's
//! Linux): DCTCP for the Internet. It sends with ECT(1), so that an L4S queue (RFC 9332) marks it early and often.
//!
//! * The window has a fraction (§2.4.2), and grows with each segment that was not marked, whatever the others were.
//! * The share of marks is an average over virtual round trips of 25 ms at least (§2.4.1), and so is the window's growth:
//!   flows of shorter round trips have the rate of one of 25 ms (§2.4.4, RTT independence).
//! * What leaves is paced, in bursts of a quarter of a millisecond (§2.5.1).
//!
//! Left out are smaller segments, the rate in place of the window where that is below four segments, and the change to
//! Reno where ECN was not agreed on: without marks it reacts only to losses, as Reno does.

use super::{CongestionControl, Event, Recovery, Window};
use crate::cc::{Flight, RateSample};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// Bits behind the point of the share of marks, and of the window.
const ALPHA_BITS: u32 = 24;
const WINDOW_BITS: u32 = 20;
/// All segments marked.
const MAX_ALPHA: u64 = 1 << ALPHA_BITS;
/// One segment.
const ONE: u64 = 1 << WINDOW_BITS;

/// g = 1/16, as a shift: the weight of the last virtual round trip (§2.4.1).
const SHIFT_G: u32 = 4;
/// The least virtual round trip (§2.4.4).
const TARGET_RTT: Duration = Duration::from_millis(25);
/// Round trips longer than this grow by a segment each, however long they are.
const LONGEST_SCALED: Duration = Duration::from_millis(100);
/// Round trips after slow start in which it behaves like other senders.
const TRANSITION: u32 = 4;
/// A burst lasts 2⁻¹² s.
const BURST_SHIFT: u32 = 12;
/// The least window.
const LEAST: u64 = 2;
/// The least rate, in bytes a second.
const LEAST_RATE: u64 = 12_500;

/// Prague's state.
#[derive(Debug, Default)]
pub struct Prague {
    /// The share of marks, times 1/g, so that nothing of it is lost to rounding.
    alpha_upscaled: u64,
    /// When it was last updated, and when it last reduced the window.
    updated: Instant,
    reduced: Instant,
    /// The window with its fraction.
    window: u64,
    /// By how much a whole window of unmarked segments lets it grow.
    increase: u64,
    /// The round trip ends when this offset is acknowledged.
    round_end: u64,
    /// Round trips since slow start.
    round: u32,
    /// Segments delivered and marked when the average was last updated.
    delivered: u64,
    delivered_ce: u64,
    saw_ce: bool,
    /// A loss is being repaired.
    in_loss: bool,
    /// The window before the last loss.
    prior: u32,
    burst: u32,
}

impl Prague {
    /// The share of segments that are marked, of [`MAX_ALPHA`].
    fn alpha(&self) -> u64 {
        self.alpha_upscaled >> SHIFT_G
    }

    /// §2.4.4.
    fn is_independent(&self, w: &Window) -> bool {
        !w.in_slow_start() && self.round >= TRANSITION
    }

    /// A virtual round trip has passed since the last update.
    fn should_update(&self, w: &Window, f: &Flight) -> bool {
        f.snd_una >= self.round_end
            && (!self.is_independent(w) || f.now - self.updated >= TARGET_RTT)
    }

    /// §2.4.1: α ← (1 − g) α + g F, kept as α/g.
    fn update_alpha(&mut self, f: &Flight) {
        if !self.saw_ce {
            return;
        }
        let delivered = (f.delivered - self.delivered).max(1);
        let share = ((f.delivered_ce - self.delivered_ce) << ALPHA_BITS) / delivered;
        let alpha = self.alpha_upscaled - (self.alpha_upscaled >> SHIFT_G) + share;
        self.alpha_upscaled = alpha.min(MAX_ALPHA << SHIFT_G);
        self.updated = f.now;
    }

    fn begin_round(&mut self, w: &Window, f: &Flight) {
        self.round_end = f.snd_nxt;
        self.delivered = f.delivered;
        self.delivered_ce = f.delivered_ce;
        if !w.in_slow_start() {
            self.round = self.round.saturating_add(1);
        }
        self.increase = self.additive_increase(f);
    }

    /// §2.4.4: a segment a round trip, of a shorter one than 25 ms (RTT / 25 ms)² of it, so that the rate grows by a
    /// segment in 25 ms per 25 ms.
    fn additive_increase(&self, f: &Flight) -> u64 {
        let rtt = f.srtt.unwrap_or_default();
        if self.round < TRANSITION || rtt.is_zero() || rtt > LONGEST_SCALED || rtt >= TARGET_RTT {
            return ONE;
        }
        let square = |time: Duration| (time.as_micros() as u64).pow(2);
        (ONE * square(rtt) + square(TARGET_RTT) / 2) / square(TARGET_RTT)
    }

    /// §2.4.3: only unmarked segments let the window grow.
    fn grow(&mut self, w: &mut Window, f: &Flight, sample: &RateSample) {
        let mut acked = sample.acked_sacked;
        if sample.marked > 0 {
            if !self.saw_ce {
                // Slow start ends as by a loss.
                self.window = self.window.div_ceil(2);
                self.saw_ce = true;
                w.ssthresh = w.ssthresh.min((self.window >> WINDOW_BITS) as u32);
            }
            acked = acked.saturating_sub(sample.marked);
        }
        if acked == 0 || self.in_loss || !(f.cwnd_limited || self.is_used(sample)) {
            return;
        }
        if w.in_slow_start() {
            acked = w.slow_start(acked);
            self.window = u64::from(w.cwnd) << WINDOW_BITS;
        }
        let increase = (u64::from(acked) * self.increase) << WINDOW_BITS;
        // Below a segment it grows as a segment does, a segment a round trip.
        let window = self.window.max(ONE);
        self.window += (increase + window / 2) / window;
    }

    /// Whether pacing holds back what the window allows. Linux's `fq` counts those segments as in flight, and so as
    /// limited by the window; here they wait in the sender.
    fn is_used(&self, sample: &RateSample) -> bool {
        2 * u64::from(sample.prior_in_flight) + LEAST >= self.window >> WINDOW_BITS
    }

    /// The window in whole segments follows, by one an acknowledgement.
    fn follow(&self, w: &mut Window) {
        let whole = self.window.div_ceil(ONE).max(LEAST);
        let whole = u32::try_from(whole).unwrap_or(u32::MAX).min(w.clamp);
        if w.cwnd > whole {
            w.cwnd -= 1;
            w.ssthresh = w.cwnd;
        } else if w.cwnd < whole {
            w.cwnd += 1;
        }
    }

    /// §2.5.1: the segments in flight, or allowed to be, in a smoothed round trip; twice as many in slow start.
    fn pace(&mut self, w: &mut Window, f: &Flight) {
        let Some(srtt) = f
            .srtt
            .map(|srtt| srtt.as_micros() as u64)
            .filter(|&us| us > 0)
        else {
            return;
        };
        let segments = (self.window >> WINDOW_BITS).max(f.in_flight.into());
        let mut rate = (segments * u64::from(f.mss) * 1_000_000 / srtt).max(LEAST_RATE);
        if w.cwnd < w.ssthresh / 2 {
            rate *= 2;
        }
        w.pacing_rate = Some(rate);
        self.burst = ((rate / u64::from(f.mss.max(1))) >> BURST_SHIFT).max(1) as u32;
    }

    /// §2.4.3: half of the share of marks, once a virtual round trip.
    fn reduce(&mut self, w: &Window, f: &Flight) {
        if self.is_independent(w) && f.now - self.reduced < TARGET_RTT {
            return;
        }
        self.reduced = f.now;
        let product = u128::from(self.window) * u128::from(self.alpha()) + u128::from(MAX_ALPHA);
        self.window -= (product >> (ALPHA_BITS + 1)) as u64;
        self.window = self.window.max(least_window(f));
    }

    /// §2.4.3: a loss halves the window.
    fn lose(&mut self, w: &Window, f: &Flight) {
        self.prior = w.cwnd;
        self.window = (self.window / 2).max(least_window(f));
        self.in_loss = true;
    }
}

/// The bytes in flight at [`LEAST_RATE`].
fn least_window(f: &Flight) -> u64 {
    let srtt = f.srtt.unwrap_or_default().as_micros() as u64;
    let segment_us = u64::from(f.mss.max(1)) * 1_000_000;
    ((LEAST_RATE * srtt) << WINDOW_BITS) / segment_us
}

impl CongestionControl for Prague {
    fn init(&mut self, w: &mut Window, f: &Flight) {
        self.updated = f.now;
        self.window = u64::from(w.cwnd) << WINDOW_BITS;
        self.burst = 1;
        self.saw_ce = f.delivered_ce > 0;
        self.pace(w, f);
        self.begin_round(w, f);
    }

    fn ssthresh(&mut self, w: &Window, _f: &Flight) -> u32 {
        w.ssthresh
    }

    fn cong_avoid(&mut self, _w: &mut Window, _f: &Flight, _acked: u32) {}

    fn controls_rate(&self) -> bool {
        true
    }

    fn control(&mut self, w: &mut Window, f: &Flight, sample: &RateSample) {
        self.grow(w, f, sample);
        self.follow(w);
        if self.should_update(w, f) {
            self.update_alpha(f);
            self.begin_round(w, f);
        }
        self.pace(w, f);
    }

    fn set_state(&mut self, w: &mut Window, f: &Flight, state: Recovery) {
        if state == f.recovery {
            return;
        }
        match state {
            Recovery::Recovery => self.lose(w, f),
            Recovery::Cwr => self.reduce(w, f),
            Recovery::Open => self.in_loss = false,
            Recovery::Disorder | Recovery::Loss => {}
        }
    }

    fn event(&mut self, w: &mut Window, f: &Flight, event: Event) {
        if event == Event::Timeout {
            self.lose(w, f);
        }
    }

    fn undo_cwnd(&mut self, w: &Window, _f: &Flight) -> u32 {
        self.in_loss = false;
        let cwnd = w.cwnd.max(self.prior);
        self.window = self.window.max(u64::from(cwnd) << WINDOW_BITS);
        cwnd
    }

    fn train_segments(&self) -> Option<u32> {
        Some(self.burst)
    }
}

#[cfg(test)]
mod tests;
