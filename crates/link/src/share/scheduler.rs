//! A cell's scheduler.

use crate::power::power;
use crate::{Capacity, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use strum::EnumDiscriminants;

/// How a cell shares its time among the users who have something to receive. A TTI goes to one user
/// as a whole; whoever can receive nothing in it, for want of signal, is passed over.
#[derive(Clone, Copy, Debug, EnumDiscriminants, PartialEq, Eq)]
#[strum_discriminants(
    name(SchedulerKind),
    derive(Default, Deserialize, JsonSchema, Serialize),
    serde(rename_all = "kebab-case"),
    doc = "How a cell shares its time, in a word: a [`Scheduler`] without its parameters."
)]
pub enum Scheduler {
    /// The user whose rate is highest now compared with what he got on average (A. Jalali,
    /// R. Padovani, R. Pankaj, "Data throughput of CDMA-HDR", VTC 2000): in each TTI the average T of
    /// every user becomes (1 − 1/t_c)·T + R/t_c, where R is what he was given in it and t_c the time
    /// constant in TTIs.
    #[strum_discriminants(default)]
    ProportionalFair {
        /// t_c: over what time the average is taken (HDR: 1.67 s). Long against the fading, or there
        /// is nothing to choose from; short against what a user waits for patiently.
        time_constant: Duration,
    },
    /// One after another, whatever the signal.
    RoundRobin,
}

/// A cell's radio: what each user could receive, and whose turn it is.
#[derive(Debug)]
pub(super) struct Air {
    tti: Duration,
    users: Vec<User>,
    turns: Turns,
    /// TTIs given away or left idle so far.
    passed: u64,
    /// Scratch: what each user could receive in the TTI at hand, in bytes.
    offers: Vec<u64>,
}

#[derive(Debug)]
struct User {
    capacity: Capacity,
    /// How far ahead of the others in its loop.
    ahead: Duration,
}

#[derive(Debug)]
enum Turns {
    RoundRobin {
        /// The user who had the last turn.
        last: usize,
    },
    ProportionalFair {
        /// Each user's average, in bytes a TTI.
        averages: Vec<f64>,
        /// 1/t_c.
        weight: f64,
    },
}

impl Air {
    pub(super) fn new(
        scheduler: Scheduler,
        tti: Duration,
        rates: impl IntoIterator<Item = (Rate, Duration)>,
    ) -> Self {
        let tti = tti.max(Duration::from_nanos(1));
        let users: Vec<_> = rates
            .into_iter()
            .map(|(rate, ahead)| User {
                capacity: Capacity::new(&rate),
                ahead,
            })
            .collect();
        let turns = match scheduler {
            Scheduler::RoundRobin => Turns::RoundRobin {
                last: users.len() - 1,
            },
            Scheduler::ProportionalFair { time_constant } => Turns::ProportionalFair {
                averages: vec![0.0; users.len()],
                weight: (tti.as_nanos() as f64 / time_constant.as_nanos().max(1) as f64).min(1.0),
            },
        };
        Self {
            tti,
            offers: vec![0; users.len()],
            users,
            turns,
            passed: 0,
        }
    }

    /// When the `n`th TTI ends; what was received in it leaves then.
    pub(super) fn end(&self, n: u64) -> Instant {
        Instant::from_nanos((n + 1).saturating_mul(self.tti.as_nanos() as u64))
    }

    /// The first TTI not yet given away that ends after `t`.
    pub(super) fn after(&self, t: Instant) -> u64 {
        (t.as_nanos() / self.tti.as_nanos() as u64).max(self.passed)
    }

    /// The user who receives in the `n`th TTI, not yet given away, and how many bytes. Every TTI between the last one
    /// and this one was unused.
    pub(super) fn schedule(
        &mut self,
        n: u64,
        wants: impl Fn(usize) -> bool,
    ) -> Option<(usize, u64)> {
        self.turns.idle(n - self.passed);
        self.passed = n + 1;
        // What a rate gives at the very end of a TTI belongs to that TTI.
        let tick = Duration::from_nanos(1);
        let to = self.end(n) + tick;
        let from = to - self.tti;
        for (index, user) in self.users.iter_mut().enumerate() {
            self.offers[index] = if wants(index) {
                user.capacity.bytes(from + user.ahead, to + user.ahead)
            } else {
                0
            };
        }
        let user = self.turns.choose(&self.offers)?;
        Some((user, self.offers[user]))
    }
}

impl Turns {
    /// The user who may receive, if any can.
    fn choose(&mut self, offers: &[u64]) -> Option<usize> {
        match self {
            Self::RoundRobin { last } => {
                let users = offers.len();
                let turn = (1..=users)
                    .map(|n| (*last + n) % users)
                    .find(|&user| offers[user] > 0)?;
                *last = turn;
                Some(turn)
            }
            Self::ProportionalFair { averages, weight } => {
                let best = most_urgent(offers, averages);
                for (user, average) in averages.iter_mut().enumerate() {
                    let given = if best == Some(user) { offers[user] } else { 0 };
                    *average += *weight * (given as f64 - *average);
                }
                best
            }
        }
    }

    /// That many TTIs went by unused.
    fn idle(&mut self, ttis: u64) {
        if let (true, Self::ProportionalFair { averages, weight }) = (ttis > 0, self) {
            let left = power(1.0 - *weight, ttis);
            averages.iter_mut().for_each(|average| *average *= left);
        }
    }
}

/// The user with the largest offer compared with his average; the first of several.
fn most_urgent(offers: &[u64], averages: &[f64]) -> Option<usize> {
    let beats = |a: usize, b: usize| {
        let (left, right) = (
            offers[a] as f64 * averages[b],
            offers[b] as f64 * averages[a],
        );
        left > right || left == right && averages[a] < averages[b]
    };
    (0..offers.len())
        .filter(|&user| offers[user] > 0)
        .reduce(|best, user| if beats(user, best) { user } else { best })
}

#[cfg(test)]
mod tests;
