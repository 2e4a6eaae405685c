//! PIE, the proportional integral controller enhanced (RFC 8033), as Linux has it. Names are the
//! RFC's.
//!
//! The queueing delay is that of the packet last dequeued (§4.3's timestamps, Linux's default), not
//! queue length over an estimated departure rate (§5.2).

use super::backlog::{Backlog, Queued};
use super::guard::Guard;
use super::marking::Signals;
use crate::{Instant, Packet};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::time::Duration;

/// §4.2: how often the drop probability is computed.
const T_UPDATE: Duration = Duration::from_millis(15);
/// §4.4: a burst up to this length passes a queue that was at rest.
const MAX_BURST: Duration = Duration::from_millis(150);
/// §4.2: weight of the delay's distance from its target, in 1/s.
const ALPHA: f64 = 0.125;
/// §4.2: weight of the delay's trend, in 1/s.
const BETA: f64 = 1.25;
/// §4.1: nothing is dropped while the backlog is at most two packets of this size.
const MEAN_PKTSIZE: usize = 1500;
/// §5.5: above a probability of a tenth, an update adds at most this.
const MAX_STEP: f64 = 0.02;
/// Above this delay Linux's PIE adds [`MAX_STEP`] at each update; the RFC does not.
const HIGH_DELAY: Duration = Duration::from_millis(250);
/// §5.1: above this probability even ECN-capable packets are dropped, since flows have not answered (mark_ecnth).
const MARK_ECNTH: f64 = 0.1;
/// Factor of the probability at an update without delay, in Linux; §4.2 says 0.98.
const DECAY: f64 = 63.0 / 64.0;

/// PIE's state.
#[derive(Debug)]
pub(super) struct Pie {
    target: Duration,
    rng: Pcg64Mcg,
    drop_prob: f64,
    /// Sum of the probabilities since the last drop (§5.4).
    accu_prob: f64,
    /// Delay of the packet that left last.
    qdelay: Duration,
    /// `qdelay` at the last update.
    qdelay_old: Duration,
    burst_allowance: Duration,
    /// When a packet last left; none if the queue has been at rest since.
    dequeued: Option<Instant>,
    next_update: Instant,
}

impl Pie {
    pub(super) fn new(target: Duration, seed: u64) -> Self {
        Self {
            target,
            rng: Pcg64Mcg::seed_from_u64(seed),
            drop_prob: 0.0,
            accu_prob: 0.0,
            qdelay: Duration::ZERO,
            qdelay_old: Duration::ZERO,
            burst_allowance: MAX_BURST,
            dequeued: None,
            next_update: Instant::ZERO + T_UPDATE,
        }
    }

    /// Whether to drop the packet that arrives at `now` behind `backlog` bytes.
    fn refuses(&mut self, now: Instant, backlog: usize) -> bool {
        self.catch_up(now);
        let refused = self.drop_early(backlog);
        if refused {
            self.accu_prob = 0.0;
        }
        refused
    }

    /// §4.1 and §4.4 with §5.4: drops come neither too close together nor too far apart.
    fn drop_early(&mut self, backlog: usize) -> bool {
        if self.burst_allowance > Duration::ZERO {
            return false;
        }
        if self.qdelay < self.target / 2 && self.drop_prob < 0.2 {
            return false;
        }
        if backlog < 2 * MEAN_PKTSIZE {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        self.accu_prob += self.drop_prob;
        if self.accu_prob < 0.85 {
            return false;
        }
        self.accu_prob >= 8.5 || self.rng.random::<f64>() < self.drop_prob
    }

    /// A packet has left at `now` after waiting for `qdelay`, and `backlog` bytes stay behind.
    fn left(&mut self, now: Instant, qdelay: Duration, backlog: usize) {
        self.catch_up(now);
        self.qdelay = if backlog == 0 { Duration::ZERO } else { qdelay };
        // Linux reduces the burst allowance as packets leave; §4.4 at every update.
        let since = self.dequeued.map_or(Duration::ZERO, |last| now - last);
        self.burst_allowance = self.burst_allowance.saturating_sub(since);
        self.dequeued = Some(now);
    }

    /// Makes the updates that were due until `now`. Nothing has happened since the last packet.
    fn catch_up(&mut self, now: Instant) {
        while self.next_update <= now {
            if self.is_at_rest() {
                // Further updates would change nothing.
                let missed = (now - self.next_update).as_nanos() / T_UPDATE.as_nanos() + 1;
                self.next_update +=
                    Duration::from_nanos(missed as u64 * T_UPDATE.as_nanos() as u64);
                self.rest();
                return;
            }
            self.update();
            self.next_update += T_UPDATE;
        }
    }

    /// §4.2.
    fn update(&mut self) {
        let seconds = |d: Duration| d.as_nanos() as f64 / 1e9;
        let qdelay = seconds(self.qdelay);
        let mut p = self.scale()
            * (ALPHA * (qdelay - seconds(self.target))
                + BETA * (qdelay - seconds(self.qdelay_old)));
        if self.drop_prob >= 0.1 {
            p = p.min(MAX_STEP);
        }
        if self.qdelay > HIGH_DELAY {
            p += MAX_STEP;
        }
        self.drop_prob = (self.drop_prob + p).clamp(0.0, 1.0);
        if self.qdelay.is_zero() && self.qdelay_old.is_zero() {
            self.drop_prob *= DECAY;
        }
        if self.drop_prob == 0.0 && self.qdelay.max(self.qdelay_old) < self.target / 2 {
            self.rest();
        }
        self.qdelay_old = self.qdelay;
    }

    /// §4.2: small probabilities change in small steps.
    fn scale(&self) -> f64 {
        const STEPS: [(f64, f64); 6] = [
            (1e-6, 2048.0),
            (1e-5, 512.0),
            (1e-4, 128.0),
            (1e-3, 32.0),
            (1e-2, 8.0),
            (1e-1, 2.0),
        ];
        let step = STEPS.iter().find(|(below, _)| self.drop_prob < *below);
        step.map_or(1.0, |(_, divisor)| 1.0 / divisor)
    }

    fn is_at_rest(&self) -> bool {
        self.drop_prob == 0.0 && self.qdelay.is_zero() && self.qdelay_old.is_zero()
    }

    /// §4.4: a queue at rest gets its burst allowance back.
    fn rest(&mut self) {
        self.accu_prob = 0.0;
        self.burst_allowance = MAX_BURST;
        self.dequeued = None;
    }
}

/// Acts when a packet arrives.
impl<P: Packet> Guard<P> for Pie {
    fn admits(&mut self, now: Instant, backlog: &Backlog<P>) -> bool {
        !self.refuses(now, backlog.bytes())
    }

    fn marks(&self) -> bool {
        self.drop_prob <= MARK_ECNTH
    }

    fn pop(&mut self, at: Instant, backlog: &mut Backlog<P>, _: &mut Signals) -> Option<Queued<P>> {
        let queued = backlog.pop(at)?;
        self.left(at, at - queued.arrival, backlog.bytes());
        Some(queued)
    }
}

#[cfg(test)]
mod tests;
