//! One link in a cell beside neighbours whose traffic is modelled in bytes, without packets.

use super::scheduler::{Air, Scheduler};
use crate::rate::{Burst, Opportunities};
use crate::{Instant, Rate};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::time::Duration;

/// Other users in the cell. Each has his own queue, as thesis §4.3 found in every carrier's network: they take the
/// link's time but never its buffer.
///
/// Each user has a rate of his own: a random rate is drawn anew for each, a recorded one begins elsewhere in the
/// recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sharing {
    /// The scheduler.
    pub scheduler: Scheduler,
    /// Users in the cell, this link's included.
    pub users: u32,
    /// The scheduler's transmission time interval (LTE: 1 ms).
    pub tti: Duration,
    /// Traffic of each of the others.
    pub traffic: CrossTraffic,
    /// Seed of the others' traffic.
    pub seed: u64,
}

/// Traffic that comes and goes: packets of 1500 bytes at a constant rate for an exponentially
/// distributed time, then none for another. A user's queue holds 1000 of them; the rest is lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossTraffic {
    /// Long-run mean load of one user, in bit/s.
    pub mean_bps: f64,
    /// Mean time with traffic.
    pub on: Duration,
    /// Mean time without.
    pub off: Duration,
}

/// Length of a neighbour's packets.
const PACKET_BYTES: u64 = 1500;

/// Bytes that a neighbour's queue holds.
const QUEUE_BYTES: u64 = 1000 * PACKET_BYTES;

/// The opportunities that a scheduler leaves to one link among several.
#[derive(Debug)]
pub(crate) struct Contention {
    /// User 0 is the link.
    air: Air,
    neighbours: Vec<Neighbour>,
    rng: Pcg64Mcg,
    /// The current TTI.
    tti: u64,
    /// The link's next opportunity, once it has been looked for.
    next: Option<Burst>,
}

/// Another user.
#[derive(Debug)]
struct Neighbour {
    on: bool,
    /// Probabilities, each TTI, that the traffic begins or ends.
    begins: f64,
    ends: f64,
    /// Packets that arrive in a TTI while there is traffic, and the part of one left over.
    arrives: f64,
    fraction: f64,
    /// Bytes queued.
    backlog: u64,
}

impl Contention {
    pub(crate) fn new(rate: &Rate, sharing: &Sharing) -> Self {
        let users = u64::from(sharing.users.max(1));
        let rates = (0..users).map(|index| match index {
            0 => (rate.clone(), Duration::ZERO),
            _ => rate.neighbour(index, users),
        });
        let mut rng = Pcg64Mcg::seed_from_u64(sharing.seed);
        let neighbour = |_| Neighbour::new(sharing, &mut rng);
        Self {
            air: Air::new(sharing.scheduler, sharing.tti, rates),
            neighbours: (1..users).map(neighbour).collect(),
            rng,
            tti: 0,
            next: None,
        }
    }

    /// Gives the current TTI to a user.
    fn step(&mut self, wanted: bool) {
        let Self {
            air,
            neighbours,
            rng,
            tti,
            next,
        } = self;
        neighbours.iter_mut().for_each(|n| n.step(rng));
        let wants = |user: usize| match user.checked_sub(1) {
            None => wanted,
            Some(i) => neighbours[i].backlog > 0,
        };
        if let Some((user, bytes)) = air.schedule(*tti, wants) {
            match user.checked_sub(1) {
                None => {
                    *next = Some(Burst {
                        at: air.end(*tti),
                        bytes,
                    });
                }
                Some(i) => {
                    let backlog = &mut neighbours[i].backlog;
                    *backlog = backlog.saturating_sub(bytes);
                }
            }
        }
        *tti += 1;
    }
}

impl Opportunities for Contention {
    /// The next opportunity. Until [`Self::seek`] has found it, it has no bytes and the earliest instant at which it
    /// can come.
    fn peek(&self) -> Burst {
        self.next.unwrap_or(Burst {
            at: self.air.end(self.tti),
            bytes: 0,
        })
    }

    /// Finds the link's next opportunity, given that it wants every one.
    fn seek(&mut self) -> Burst {
        while self.next.is_none() {
            self.step(true);
        }
        self.peek()
    }

    fn advance(&mut self) -> Burst {
        self.next = None;
        self.peek()
    }

    /// The link wants none of the opportunities until `now`.
    fn skip_past(&mut self, now: Instant) -> Burst {
        // An opportunity may have been found for packets that were dropped since.
        self.next = self.next.filter(|next| next.at > now);
        while self.air.end(self.tti) <= now {
            self.step(false);
        }
        self.peek()
    }
}

impl Neighbour {
    /// A neighbour in the long-run state.
    fn new(sharing: &Sharing, rng: &mut Pcg64Mcg) -> Self {
        let CrossTraffic { mean_bps, on, off } = sharing.traffic;
        let [tti, on, off] = [sharing.tti, on, off].map(|d| d.as_nanos() as f64);
        let active = on / (on + off);
        Self {
            on: rng.random::<f64>() < active,
            // Counted in TTIs the times are geometric, which is memoryless like the exponential.
            begins: tti / off,
            ends: tti / on,
            arrives: mean_bps / active * tti / 8e9 / PACKET_BYTES as f64,
            fraction: 0.0,
            backlog: 0,
        }
    }

    /// A TTI of the neighbour's traffic, without service.
    fn step(&mut self, rng: &mut Pcg64Mcg) {
        if self.on {
            let packets = self.arrives + self.fraction;
            let whole = packets as u64;
            self.fraction = packets - whole as f64;
            self.backlog = (self.backlog + whole * PACKET_BYTES).min(QUEUE_BYTES);
        }
        let turns = if self.on { self.ends } else { self.begins };
        self.on ^= rng.random::<f64>() < turns;
    }
}

#[cfg(test)]
mod tests;
