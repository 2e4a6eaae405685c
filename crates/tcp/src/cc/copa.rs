//! Copa (Arun, Balakrishnan: "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI 2018), which Linux does
//! not have.
//!
//! It goes towards the rate at which 1/δ of its packets wait in the queue (equation 1),
//!
//! ```text
//!     λt = 1 / (δ · d_q)        d_q = RTTstanding − RTTmin
//! ```
//!
//! and does so on every ACK (§2.1): the window changes by v/(δ·cwnd), up if λ = cwnd/RTTstanding is at most λt, else down.
//! [Its velocity](velocity) v doubles while the direction stays the same. [Beside senders that fill the buffer](mode) δ
//! follows an AIMD. Packets are paced at 2·cwnd/RTTstanding.
//!
//! What the paper does not say:
//!
//! * A loss in the default mode changes nothing. A timeout begins anew from the least window, in slow start: all that was in
//!   flight is believed lost.
//! * The least window is two packets, as in the authors' sender.
//! * A window that limits nothing may fall and does not grow.
//! * The queue that slow start leaves is the flow's own, and says nothing of others: the five round trips in which the queue
//!   has to empty begin when the rate has come down to the target. Else a flow over a pipe of few packets competes with its
//!   own queue for ever.

mod extreme;
mod mode;
mod velocity;

#[cfg(test)]
mod tests;

use super::jiffies::micros_of;
use super::path::Rounds;
use super::{CongestionControl, Event, Recovery, Window};
use crate::cc::{Flight, RateSample};
use extreme::{Extreme, Wanted};
use mode::{Competition, Delays};
use std::time::Duration;
use tidegate_basics::time::Instant;
use velocity::{Direction, Velocity};

/// Bits behind the point of windows and of 1/δ.
const Q16: u32 = 16;

/// Smallest window, in packets.
const MIN_CWND: u64 = 2;

/// Window of RTTmin (§2.1); the flow's age if that is less.
const MIN_RTT_WINDOW: Duration = Duration::from_secs(10);

/// The same in round trips without a queue, if that is longer: over a satellite, few round trips fit into 10 s, and
/// RTTmin would be forgotten before the queue of slow start is gone. The paper does not have it, its authors' sender
/// does.
const MIN_RTT_ROUNDS: u32 = 20;

/// Window of RTTmax, in smoothed round trips (§2.2).
const MAX_RTT_ROUNDS: u32 = 4;

/// The pacing rate in cwnd/RTTstanding (§2.1).
const PACING_GAIN: u64 = 2;

/// Copa's state.
#[derive(Debug)]
pub(super) struct Copa {
    /// The window in packets, Q16.
    cwnd: u64,
    /// The window before a timeout, in case the timeout proves spurious.
    before_timeout: u64,
    slow_start: bool,
    /// The rate has been at most the target since slow start ended.
    settled: bool,
    delays: Delays,
    least: Extreme,
    standing: Extreme,
    greatest: Extreme,
    rounds: Rounds,
    velocity: Velocity,
    competition: Competition,
}

impl Default for Copa {
    fn default() -> Self {
        let cwnd = MIN_CWND << Q16;
        Self {
            cwnd,
            before_timeout: cwnd,
            slow_start: true,
            settled: true,
            delays: Delays::default(),
            least: Extreme::new(Wanted::Least),
            standing: Extreme::new(Wanted::Least),
            greatest: Extreme::new(Wanted::Greatest),
            rounds: Rounds::default(),
            velocity: Velocity::new(cwnd),
            competition: Competition::new(Instant::ZERO),
        }
    }
}

impl Copa {
    /// RTTmin, RTTstanding and RTTmax with one more round trip.
    fn measure(&mut self, now: Instant, srtt: Duration, rtt: Duration) {
        let us = micros_of(rtt).max(1);
        let known = Duration::from_micros(self.delays.min);
        let window = MIN_RTT_WINDOW.max(MIN_RTT_ROUNDS * known);
        self.delays = Delays {
            min: self.least.update(now, window, us),
            standing: self.standing.update(now, srtt / 2, us),
            max: self.greatest.update(now, MAX_RTT_ROUNDS * srtt, us),
        };
    }

    /// λ ≤ λt, as cwnd · d_q ≤ RTTstanding/δ, which is so wherever no queue is seen.
    fn is_below_target(&self) -> bool {
        let wait = u128::from(self.cwnd) * u128::from(self.delays.queueing());
        let target = u128::from(self.competition.inverse_delta) * u128::from(self.delays.standing);
        wait <= target
    }

    /// The window's change for `acked` packets, Q16: v/(δ·cwnd) each.
    fn change(&self, acked: u32) -> u64 {
        let moved = u128::from(acked)
            * u128::from(self.velocity.v)
            * u128::from(self.competition.inverse_delta);
        ((moved << Q16) / u128::from(self.cwnd)) as u64
    }

    /// §2.1's steps: `limits` says whether the window limited what was sent.
    fn steer(&mut self, now: Instant, acked: u32, limits: bool) {
        let below = self.is_below_target();
        if self.slow_start && !below {
            self.slow_start = false;
            self.velocity = Velocity::new(self.cwnd);
            self.settled = false;
        }
        if !self.settled {
            self.competition.begin(now);
            self.settled = below;
        }
        if self.slow_start {
            // Twice the window in a round trip.
            self.cwnd += if limits { u64::from(acked) << Q16 } else { 0 };
        } else if !below {
            self.velocity.heed(Direction::Down, self.cwnd);
            self.cwnd = self.cwnd.saturating_sub(self.change(acked));
        } else if limits {
            self.velocity.heed(Direction::Up, self.cwnd);
            self.cwnd += self.change(acked);
        }
    }

    /// Hands window, threshold and pacing rate to the sender.
    fn apply(&mut self, w: &mut Window, f: &Flight) {
        let most = u64::from(w.clamp) << Q16;
        self.cwnd = self.cwnd.clamp(MIN_CWND << Q16, most.max(MIN_CWND << Q16));
        w.cwnd = (self.cwnd >> Q16) as u32;
        if !self.slow_start {
            w.ssthresh = w.ssthresh.min(w.cwnd);
        }
        if self.delays.standing > 0 {
            w.pacing_rate = Some(self.pacing_rate(f.mss));
        }
    }

    /// 2·cwnd/RTTstanding, in bytes a second.
    fn pacing_rate(&self, mss: u32) -> u64 {
        let bytes = u128::from(PACING_GAIN * self.cwnd) * u128::from(mss);
        let rate = (bytes * 1_000_000 / u128::from(self.delays.standing)) >> Q16;
        (rate as u64).max(1)
    }
}

impl CongestionControl for Copa {
    /// The handshake's round trip is not used: its packets are small, and over a link that is slow for full packets
    /// RTTmin would never be seen again.
    fn init(&mut self, w: &mut Window, f: &Flight) {
        w.ssthresh = Window::NO_SSTHRESH;
        self.cwnd = u64::from(w.cwnd) << Q16;
        self.velocity = Velocity::new(self.cwnd);
        self.competition = Competition::new(f.now);
    }

    /// There is no threshold.
    fn ssthresh(&mut self, w: &Window, _f: &Flight) -> u32 {
        w.ssthresh
    }

    /// Never called: [`Self::control`] does it all.
    fn cong_avoid(&mut self, _w: &mut Window, _f: &Flight, _acked: u32) {}

    fn event(&mut self, w: &mut Window, f: &Flight, event: Event) {
        match event {
            Event::Timeout => {
                self.before_timeout = self.cwnd;
                self.cwnd = MIN_CWND << Q16;
                self.velocity = Velocity::new(self.cwnd);
                self.slow_start = true;
                w.ssthresh = Window::NO_SSTHRESH;
            }
            Event::CompleteRecovery => self.apply(w, f),
            Event::TransmitStart | Event::WindowRestart => {}
        }
    }

    fn undo_cwnd(&mut self, _w: &Window, f: &Flight) -> u32 {
        if f.recovery == Recovery::Loss {
            self.cwnd = self.cwnd.max(self.before_timeout);
        }
        (self.cwnd >> Q16) as u32
    }

    fn controls_rate(&self) -> bool {
        true
    }

    fn control(&mut self, w: &mut Window, f: &Flight, sample: &RateSample) {
        if let (Some(rtt), Some(srtt)) = (sample.rtt, f.srtt) {
            self.measure(f.now, srtt, rtt);
            self.competition
                .acked(f.now, srtt, (&self.delays, self.cwnd), sample.losses > 0);
        }
        if sample.acked_sacked > 0 {
            let round = self.rounds.acked(sample.prior_delivered, f.delivered);
            if round && !self.slow_start {
                self.velocity
                    .round(self.cwnd, self.competition.inverse_delta);
            }
            self.steer(f.now, sample.acked_sacked, f.cwnd_limited);
        }
        self.apply(w, f);
    }
}
