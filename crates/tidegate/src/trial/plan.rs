//! Which slots are steered: pairs of one with steering and one without, in random order. It needs no clock.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::Serialize;
use std::time::Duration;

/// The first seconds of a slot do not count, or the first half of a shorter one: connections start, a queue builds up,
/// and an AQM begins to control it.
const SETTLES: Duration = Duration::from_secs(3);

/// After a slot the load pauses until the delay is back at its idle value, for at most this long.
pub const DRAINS: Duration = Duration::from_secs(10);

/// What a slot is for.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Part of the first pair: servers and caches warm up, and the law learns the link.
    WarmUp,
    /// It counts.
    Counts,
    /// Twice the load without steering, after the pairs: does the link carry more?
    Check,
}

/// A planned slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Its purpose.
    pub purpose: Purpose,
    /// The number of its pair; 0 is the warm-up.
    pub pair: usize,
    /// Whether it is steered.
    pub steered: bool,
}

/// Length of the trial.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Pairs that count.
    pub pairs: usize,
    /// Length of a slot.
    pub slot: Duration,
}

impl Plan {
    /// The default: enough for links whose delay varies as HSPA's does.
    pub const USUAL: Self = Self {
        pairs: 10,
        slot: Duration::from_secs(8),
    };

    /// The slots in order; the same seed gives the same order.
    pub fn slots(&self, seed: u64) -> Vec<Planned> {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let pair = |pair| {
            let steered_first: bool = random.random();
            let purpose = if pair == 0 {
                Purpose::WarmUp
            } else {
                Purpose::Counts
            };
            [steered_first, !steered_first].map(|steered| Planned {
                purpose,
                pair,
                steered,
            })
        };
        (0..=self.pairs).flat_map(pair).collect()
    }

    /// The slot after the pairs that shows whether the link carries more.
    pub fn check(&self) -> Planned {
        Planned {
            purpose: Purpose::Check,
            pair: self.pairs + 1,
            steered: false,
        }
    }

    /// Length of the part of a slot that does not count.
    pub fn settling(&self) -> Duration {
        SETTLES.min(self.slot / 2)
    }

    /// How long the load is on in total.
    pub fn loaded(&self) -> Duration {
        self.slot * 2 * (self.pairs as u32 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: Plan = Plan::USUAL;

    #[test]
    fn every_pair_has_one_of_each_and_the_first_does_not_count() {
        let slots = PLAN.slots(1);
        assert_eq!(slots.len(), 22);
        for (number, pair) in slots.chunks(2).enumerate() {
            assert_ne!(pair[0].steered, pair[1].steered);
            assert!(pair.iter().all(|slot| slot.pair == number));
            let counts = pair[0].purpose == Purpose::Counts;
            assert_eq!(counts, number > 0);
        }
        assert_eq!(PLAN.loaded(), Duration::from_secs(176));
    }

    #[test]
    fn the_order_is_drawn_by_lot() {
        let firsts = (0..200).flat_map(|seed| PLAN.slots(seed));
        let steered_first = firsts.step_by(2).filter(|slot| slot.steered).count();
        assert!(
            (1000..1200).contains(&steered_first),
            "{steered_first} of 2200"
        );
        assert_eq!(PLAN.slots(7), PLAN.slots(7));
        assert_ne!(PLAN.slots(7), PLAN.slots(8));
    }
}
