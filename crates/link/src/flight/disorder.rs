//! Reordering and duplication.

use crate::link::Delivery;
use crate::{Instant, Packet};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::VecDeque;
use std::time::Duration;

/// Reordering and duplication with given probabilities, each packet independently.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Disorder {
    /// Probability that a packet is late by `late_by`, so that those behind it overtake it.
    pub reorder: f64,
    /// By how much.
    pub late_by: Duration,
    /// Probability that a packet comes twice, if it can be copied
    /// ([`Packet::duplicate`](crate::Packet::duplicate)). Either of the two may be late.
    pub duplicate: f64,
}

/// A [`Disorder`] under way, seeded.
#[derive(Debug)]
pub(super) struct Jumble<P> {
    disorder: Disorder,
    rng: Pcg64Mcg,
    /// In order of `due`.
    on_time: VecDeque<Delivery<P>>,
    /// Late packets. All are late by the same time, so they too are in order of `due`.
    late: VecDeque<Delivery<P>>,
}

impl<P: Packet> Jumble<P> {
    pub(super) fn new(disorder: Disorder, seed: u64) -> Self {
        Self {
            disorder,
            rng: Pcg64Mcg::seed_from_u64(seed),
            on_time: VecDeque::new(),
            late: VecDeque::new(),
        }
    }

    /// A packet sets out. Returns the number of copies that go with it.
    pub(super) fn push(&mut self, delivery: Delivery<P>) -> u64 {
        let copy = self
            .strikes(self.disorder.duplicate)
            .then(|| delivery.packet.duplicate())
            .flatten()
            .map(|packet| Delivery { packet, ..delivery });
        self.send(delivery);
        copy.map_or(0, |copy| {
            self.send(copy);
            1
        })
    }

    fn send(&mut self, mut delivery: Delivery<P>) {
        if self.strikes(self.disorder.reorder) {
            delivery.due += self.disorder.late_by;
            self.late.push_back(delivery);
        } else {
            self.on_time.push_back(delivery);
        }
    }

    /// The next packet due by `now`; of two due at once the one that is on time.
    pub(super) fn pop(&mut self, now: Instant) -> Option<Delivery<P>> {
        let [on_time, late] = [&self.on_time, &self.late].map(|q| q.front().map(|d| d.due));
        let first = match (on_time, late) {
            (Some(due), Some(late)) if late < due => &mut self.late,
            (None, _) => &mut self.late,
            _ => &mut self.on_time,
        };
        first.pop_front_if(|d| d.due <= now)
    }

    pub(super) fn next_event(&self) -> Option<Instant> {
        let dues = [&self.on_time, &self.late].map(|q| q.front().map(|d| d.due));
        dues.into_iter().flatten().min()
    }

    pub(super) fn len(&self) -> usize {
        self.on_time.len() + self.late.len()
    }

    fn strikes(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.rng.random::<f64>() < probability
    }
}

#[cfg(test)]
mod tests;
