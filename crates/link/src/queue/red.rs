//! Random early detection: S. Floyd, V. Jacobson, "Random Early Detection Gateways for Congestion
//! Avoidance", IEEE/ACM ToN 1(4), 1993, with the gentle variant of S. Floyd, "Recommendation on
//! using the gentle_ variant of RED", 2000. Names are the papers'.

use super::backlog::{Backlog, Queued};
use super::guard::Guard;
use super::marking::Signals;
use crate::power::power;
use crate::{Instant, Packet};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::time::Duration;

/// Parameters of random early detection (Floyd and Jacobson 1993), gentle, in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedPolicy {
    /// min_th: an average queue below it is left alone.
    pub min_packets: f64,
    /// max_th, above `min_packets`: from here to twice that the probability rises to 1.
    pub max_packets: f64,
    /// max_p: the probability of a drop at `max_packets`.
    pub max_probability: f64,
    /// w_q: the weight of the newest queue length in the average (section VI: 0.002).
    pub weight: f64,
    /// s: transmission time of a typical packet, which sets how fast the average of an idle queue falls.
    pub packet_time: Duration,
}

/// RED's state (1993, Figure 2), in units of packets.
#[derive(Debug)]
pub(super) struct Red {
    policy: RedPolicy,
    rng: Pcg64Mcg,
    /// Average queue length.
    avg: f64,
    /// Packets since the last drop; −1 while the average is below the minimum threshold.
    count: i64,
    /// When the queue became empty; none while it is not.
    q_time: Option<Instant>,
}

impl Red {
    pub(super) fn new(policy: RedPolicy, seed: u64) -> Self {
        Self {
            policy,
            rng: Pcg64Mcg::seed_from_u64(seed),
            avg: 0.0,
            count: -1,
            q_time: Some(Instant::ZERO),
        }
    }

    /// Whether to drop the packet that arrives at `now` and finds `queue` others waiting.
    fn refuses(&mut self, now: Instant, queue: usize) -> bool {
        self.average(now, queue);
        let p_b = self.initial_probability();
        if p_b <= 0.0 {
            self.count = -1;
            return false;
        }
        self.count += 1;
        // Drops are spread evenly: the nth packet since the last one has p_b/(1 − n p_b), so that
        // their distance is uniform from 1 to 1/p_b − 1 (1993, section VII, method 2).
        let rest = 1.0 - self.count as f64 * p_b;
        let drop = p_b >= rest || self.rng.random::<f64>() < p_b / rest;
        if drop {
            self.count = 0;
        }
        drop
    }

    /// The queue has just become empty.
    fn emptied(&mut self, now: Instant) {
        self.q_time = Some(now);
    }

    /// 1993, section IV and equation 2: an idle queue counts as if `m` small packets had passed it.
    fn average(&mut self, now: Instant, queue: usize) {
        let weight = self.policy.weight;
        match self.q_time.take_if(|_| queue == 0) {
            Some(since) => {
                let s = self.policy.packet_time.as_nanos().max(1);
                let m = (now - since).as_nanos() / s;
                self.avg *= power(1.0 - weight, m as u64);
                // Empty until a packet is taken in.
                self.q_time = Some(now);
            }
            None => {
                self.q_time = None;
                self.avg += weight * (queue as f64 - self.avg);
            }
        }
    }

    /// p_b: 0 below the minimum threshold, rising to max_p at the maximum one and, gently, to 1 at
    /// twice that.
    fn initial_probability(&self) -> f64 {
        let RedPolicy {
            min_packets: min,
            max_packets: max,
            max_probability: max_p,
            ..
        } = self.policy;
        if self.avg < min {
            0.0
        } else if self.avg < max {
            max_p * (self.avg - min) / (max - min)
        } else {
            (max_p + (1.0 - max_p) * (self.avg - max) / max).min(1.0)
        }
    }
}

/// Acts when a packet arrives. ECN-capable packets are marked at any probability, as Linux's RED does without
/// `harddrop`.
impl<P: Packet> Guard<P> for Red {
    fn admits(&mut self, now: Instant, backlog: &Backlog<P>) -> bool {
        !self.refuses(now, backlog.len())
    }

    fn pop(&mut self, at: Instant, backlog: &mut Backlog<P>, _: &mut Signals) -> Option<Queued<P>> {
        let queued = backlog.pop(at)?;
        if backlog.len() == 0 {
            self.emptied(at);
        }
        Some(queued)
    }
}

#[cfg(test)]
mod tests;
