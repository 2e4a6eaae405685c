//! DualPI2: one queue for senders that answer each mark with a small reduction (L4S) and one for all others, coupled
//! so that flows of either kind get about the same rate (RFC 9332; numbers and arithmetic are those of Linux's
//! `sch_dualpi2`).
//!
//! ```text
//!              ECT(1), CE ─▶ L: marks with k p, and all that waited for longer than the step ─┐
//!  arrives ─┤                    ▲ p: PI controller of the longer delay                      ├─ WRR ▶
//!              the rest   ─▶ C: drops, or marks ECT(0), with p² ─────────────────────────────┘
//! ```

mod controller;

use super::backlog::{Backlog, Queued};
use super::marking::{Marking, Signals};
use crate::{Instant, Packet, QueueConfig};
use controller::{Controller, PROBABILITY_ONE};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::time::Duration;

/// A full-sized packet: with less than two of them waiting, nothing is signalled.
const MTU: usize = 1500;
/// Sum of the two queues' shares, in percent.
const ALL_SHARES: i64 = 100;

/// Parameters of DualPI2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DualPi2Policy {
    /// The delay to keep the longer queue to (RFC 9332 §A.1: 15 ms).
    pub target: Duration,
    /// The L queue marks each packet that has waited for longer (1 ms).
    pub step: Duration,
    /// k: how many times p the L queue marks with (2: window fairness at equal round trips).
    pub coupling: u32,
    /// The C queue's share in percent where both have packets (Linux's `classic_protection`, 10).
    pub classic_percent: u32,
}

impl Default for DualPi2Policy {
    /// 15 ms, 1 ms, 2, 10 %.
    fn default() -> Self {
        Self {
            target: Duration::from_millis(15),
            step: Duration::from_millis(1),
            coupling: 2,
            classic_percent: 10,
        }
    }
}

/// Both queues and the controller.
#[derive(Debug)]
pub(crate) struct DualPi2<P> {
    policy: DualPi2Policy,
    low_latency: Backlog<P>,
    classic: Backlog<P>,
    max_packets: usize,
    max_bytes: usize,
    controller: Controller,
    rng: Pcg64Mcg,
    /// Weighted round robin. The sign says which queue is next; in bytes times the other queue's share.
    credit: i64,
    /// When a packet was last taken in.
    newest: Instant,
    signals: Signals,
}

impl<P: Packet> DualPi2<P> {
    pub(super) fn new(config: QueueConfig, policy: DualPi2Policy, seed: u64) -> Self {
        Self {
            policy,
            low_latency: Backlog::default(),
            classic: Backlog::default(),
            max_packets: config.packets.unwrap_or(usize::MAX),
            max_bytes: config.bytes.unwrap_or(usize::MAX),
            controller: Controller::new(policy.target),
            rng: Pcg64Mcg::seed_from_u64(seed),
            credit: first_credit(&policy),
            newest: Instant::ZERO,
            signals: Signals::new(Marking {
                ecn: true,
                ce_threshold: Some(policy.step),
            }),
        }
    }

    /// A packet arrives; both queues share the limits.
    pub(super) fn push(&mut self, queued: Queued<P>) {
        self.catch_up(queued.arrival);
        let bytes = queued.packet.wire_bytes();
        let fits =
            self.len() < self.max_packets && bytes <= self.max_bytes.saturating_sub(self.bytes());
        if !fits {
            self.signals.dropped += 1;
            return;
        }
        self.newest = queued.arrival;
        match queued.packet.ecn().is_l4s() {
            true => self.low_latency.push(queued),
            false => self.classic.push(queued),
        }
    }

    /// The next packet to be transmitted, from `at` on, after those that are dropped.
    pub(super) fn pop(&mut self, at: Instant) -> Option<Queued<P>> {
        self.catch_up(at);
        while let Some((queued, turn)) = self.take(at) {
            let l4s = queued.packet.ecn().is_l4s();
            let kept = match l4s {
                true => self.signal_l4s(queued, at),
                false => self.signal_classic(queued, at),
            };
            if let Some(mut queued) = kept {
                if l4s {
                    self.signals.step(&mut queued, at);
                }
                self.credit += turn * queued.packet.wire_bytes() as i64;
                return Some(queued);
            }
        }
        None
    }

    /// The packet whose queue is next, and how its bytes change the credit: not at all if one queue is empty.
    fn take(&mut self, at: Instant) -> Option<(Queued<P>, i64)> {
        let share = i64::from(self.policy.classic_percent);
        let [low, classic] = [self.low_latency.len() > 0, self.classic.len() > 0];
        if low && (!classic || self.credit <= 0) {
            let turn = if classic { share } else { 0 };
            return Some((self.low_latency.pop(at)?, turn));
        }
        let Some(queued) = self.classic.pop(at) else {
            self.credit = first_credit(&self.policy);
            return None;
        };
        let turn = if low { share - ALL_SHARES } else { 0 };
        Some((queued, turn))
    }

    /// RFC 9332 §A.1, lines 8 to 12: p², by two draws. On overload everything is dropped, ECN-capable or not.
    fn signal_classic(&mut self, queued: Queued<P>, at: Instant) -> Option<Queued<P>> {
        if self.is_short() || !self.squared() {
            return Some(queued);
        }
        if self.is_overloaded() {
            self.signals.drop(&queued, at);
            return None;
        }
        self.signals.signal(queued, at)
    }

    /// RFC 9332 §A.1, lines 14 to 21: k p. On overload it drops with p² and marks all others.
    fn signal_l4s(&mut self, mut queued: Queued<P>, at: Instant) -> Option<Queued<P>> {
        if self.is_short() {
            return Some(queued);
        }
        if self.is_overloaded() {
            if self.squared() {
                self.signals.drop(&queued, at);
                return None;
            }
            self.signals.mark(&mut queued.packet);
        } else if self.draws(self.coupled()) {
            self.signals.mark(&mut queued.packet);
        }
        Some(queued)
    }

    /// Whether the backlog is too short to be worth a signal.
    fn is_short(&self) -> bool {
        self.bytes() < 2 * MTU
    }

    /// k p, which is more than 1 on overload.
    fn coupled(&self) -> u64 {
        u64::from(self.controller.probability()) * u64::from(self.policy.coupling)
    }

    fn is_overloaded(&self) -> bool {
        self.coupled() > PROBABILITY_ONE
    }

    fn squared(&mut self) -> bool {
        let p = self.controller.probability().into();
        self.draws(p) && self.draws(p)
    }

    fn draws(&mut self, probability: u64) -> bool {
        u64::from(self.rng.random::<u32>()) < probability
    }

    /// Makes the controller's updates that were due until `now`; the queues have not changed since.
    fn catch_up(&mut self, now: Instant) {
        let arrivals = [&self.low_latency, &self.classic].map(|q| q.first().map(|q| q.arrival));
        // The packet that arrived first has the longer delay.
        let oldest = arrivals.into_iter().flatten().min();
        self.controller.catch_up(now, oldest);
    }

    /// When a packet was last taken in; none while there is none.
    pub(super) fn newest(&self) -> Option<Instant> {
        (self.len() > 0).then_some(self.newest)
    }

    pub(super) fn len(&self) -> usize {
        self.low_latency.len() + self.classic.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.low_latency.bytes() + self.classic.bytes()
    }

    #[cfg(debug_assertions)]
    pub(super) fn backlogs(&self) -> [&Backlog<P>; 2] {
        [&self.low_latency, &self.classic]
    }

    pub(super) fn signals(&self) -> Signals {
        self.signals
    }
}

/// The L queue begins, with a packet's worth of its lead.
fn first_credit(policy: &DualPi2Policy) -> i64 {
    MTU as i64 * (2 * i64::from(policy.classic_percent) - ALL_SHARES)
}

#[cfg(test)]
mod tests;
