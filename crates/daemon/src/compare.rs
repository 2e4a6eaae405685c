//! Measures what steering does: a small part of the time, which the user allows, passes unsteered, in pairs of slots
//! under load, one with steering and one without, in random order. It needs neither a clock nor the agent.

use crate::spread::Spread;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt::{self, Display, Formatter};
use tidegate_agent::{Direction, Histogram};
use tidegate_terminal::units::{delay, duration};

const SECOND_US: u64 = 1_000_000;
/// Length of one slot.
const SLOT_US: u64 = 14 * SECOND_US;
/// The start of a slot counts for neither: the queue of the slot before drains, or builds up.
const SETTLE_US: u64 = 6 * SECOND_US;
/// Time between two checks for enough traffic for a pair of slots,
const POLL_INTERVAL_US: u64 = SECOND_US;
/// and how many bytes of TCP are enough.
const LOAD: u64 = 64 << 10;
/// How many packets must be measured in each slot for a pair to count for a direction.
const ENOUGH: u64 = 50;
/// How many pairs we remember, so that old ones fade,
const PAIRS: usize = 24;
/// and for how long at most.
const DAY_US: u64 = 86_400 * SECOND_US;

/// The largest part of the time that may pass unsteered.
const MOST: f64 = 0.1;

/// The value, if it is a part of the time that may pass unsteered.
pub fn part_in_range(value: f64) -> Result<f64, String> {
    if (0.0..=MOST).contains(&value) {
        Ok(value)
    } else {
        Err(format!("expected a part of the time, from 0 to {MOST}"))
    }
}

/// Runs a pair of slots now and then.
pub struct Compare {
    /// The part of the time that may pass unsteered.
    part: f64,
    random: Pcg64Mcg,
    phase: Phase,
    /// The interfaces where the pairs were measured.
    places: Vec<u32>,
    pairs: [VecDeque<Pair>; 2],
}

/// The present phase.
enum Phase {
    /// Rests until then.
    Resting(u64),
    /// Waits for traffic: time of the last check, and the bytes at that time.
    Waiting(u64, [u64; 2]),
    /// Measures the first or second slot of a pair.
    Slot(Box<Slot>),
}

struct Slot {
    steered: bool,
    began_us: u64,
    /// The histograms when the slot had settled.
    base: Option<[Histogram; 2]>,
    /// The histograms of the pair's first slot.
    first: Option<[Histogram; 2]>,
}

/// The results of a pair of slots.
struct Pair {
    ended_us: u64,
    with: Histogram,
    without: Histogram,
}

/// The agent's counters now.
pub struct Observation {
    /// µs of `CLOCK_MONOTONIC`.
    pub now_us: u64,
    /// Payload bytes of TCP, by [`Direction::ALL`].
    pub measured_bytes: [u64; 2],
    /// Queueing delays so far, by [`Direction::ALL`].
    pub queue_us: [Histogram; 2],
    /// Indices of the interfaces that are steered.
    pub places: Vec<u32>,
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Steer nothing until then, µs of `CLOCK_MONOTONIC`.
    PassUntil(u64),
    /// Steer as usual.
    Steer,
}

/// The queueing delay with steering and without, over the last pairs of slots on these interfaces.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Compared {
    /// How many pairs of slots.
    pub pairs: u32,
    /// Total length of the slots of either kind, in µs.
    pub slots_us: u64,
    /// In the steered slots.
    pub with: Spread,
    /// In the others.
    pub without: Spread,
}

impl Compare {
    /// Lets this part of the time pass unsteered, from 0 to [`MOST`].
    pub fn new(part: f64, seed: u64, now_us: u64) -> Self {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        let rest = now_us + rest_us(part, &mut random);
        Self {
            part,
            random,
            phase: Phase::Resting(rest),
            places: Vec::new(),
            pairs: Default::default(),
        }
    }

    /// When the next step is due, µs of `CLOCK_MONOTONIC`.
    pub fn next_us(&self) -> u64 {
        match &self.phase {
            Phase::Resting(until_us) => *until_us,
            Phase::Waiting(looked_us, _) => looked_us + POLL_INTERVAL_US,
            Phase::Slot(slot) if slot.base.is_none() => slot.began_us + SETTLE_US,
            Phase::Slot(slot) => slot.began_us + SLOT_US,
        }
    }

    /// Whether a step is due: it is time, or the interfaces have changed.
    pub fn is_due(&self, now_us: u64, places: &[u32]) -> bool {
        self.next_us() <= now_us || self.places != places
    }

    /// Takes a step. Returns what to change, if anything.
    pub fn step(&mut self, observation: &Observation) -> Option<Action> {
        let now_us = observation.now_us;
        if self.places != observation.places {
            return self.move_to(&observation.places, now_us);
        }
        if now_us < self.next_us() {
            return None;
        }
        match &mut self.phase {
            Phase::Resting(_) => self.phase = Phase::Waiting(now_us, observation.measured_bytes),
            Phase::Waiting(looked_us, before) => {
                let came = observation.measured_bytes.iter().zip(*before);
                let came = came.map(|(now, before)| now.saturating_sub(before));
                let rate =
                    came.max().unwrap_or(0) * POLL_INTERVAL_US / (now_us - *looked_us).max(1);
                if rate >= LOAD {
                    let steered = self.random.random();
                    return self.begin(now_us, steered, None);
                }
                self.phase = Phase::Waiting(now_us, observation.measured_bytes);
            }
            Phase::Slot(slot) => match &slot.base {
                None => slot.base = Some(observation.queue_us.clone()),
                Some(base) => {
                    let news = |i: usize| observation.queue_us[i].since(&base[i]);
                    let (steered, here) = (slot.steered, [news(0), news(1)]);
                    return match slot.first.take() {
                        None => self.begin(now_us, !steered, Some(here)),
                        Some(first) => self.end(now_us, steered, first, here),
                    };
                }
            },
        }
        None
    }

    /// Begins anew on other interfaces: results from other links do not count, and a pair that has begun is dropped.
    fn move_to(&mut self, places: &[u32], now_us: u64) -> Option<Action> {
        self.places = places.to_vec();
        self.pairs = Default::default();
        let Phase::Slot(slot) = &self.phase else {
            return None;
        };
        let steered = slot.steered;
        self.rest(now_us, steered)
    }

    /// Drops the pair that has begun, because something else has changed what is steered.
    pub fn interrupt(&mut self, now_us: u64) {
        self.rest(now_us, true);
    }

    fn begin(
        &mut self,
        now_us: u64,
        steered: bool,
        first: Option<[Histogram; 2]>,
    ) -> Option<Action> {
        let is_second = first.is_some();
        self.phase = Phase::Slot(Box::new(Slot {
            steered,
            began_us: now_us,
            base: None,
            first,
        }));
        match steered {
            // If the steered slot comes first, nothing changes.
            true => is_second.then_some(Action::Steer),
            false => Some(Action::PassUntil(now_us + SLOT_US)),
        }
    }

    fn end(
        &mut self,
        now_us: u64,
        steered: bool,
        first: [Histogram; 2],
        second: [Histogram; 2],
    ) -> Option<Action> {
        let (with, without) = if steered {
            (second, first)
        } else {
            (first, second)
        };
        for ((pairs, with), without) in self.pairs.iter_mut().zip(with).zip(without) {
            if with.count().min(without.count()) < ENOUGH {
                continue;
            }
            pairs.push_back(Pair {
                ended_us: now_us,
                with,
                without,
            });
            if pairs.len() > PAIRS {
                pairs.pop_front();
            }
        }
        self.rest(now_us, steered)
    }

    /// Ends the slot.
    fn rest(&mut self, now_us: u64, steered: bool) -> Option<Action> {
        let rest = rest_us(self.part, &mut self.random);
        self.phase = Phase::Resting(now_us + rest);
        (!steered).then_some(Action::Steer)
    }

    /// The results, by [`Direction::ALL`]; none without any.
    pub fn found(&self, now_us: u64) -> [Option<Compared>; 2] {
        Direction::ALL.map(|direction| {
            let pairs = self.pairs[direction as usize].iter();
            let is_recent = |pair: &&Pair| now_us.saturating_sub(pair.ended_us) <= DAY_US;
            let pairs: Vec<_> = pairs.filter(is_recent).collect();
            let sum = |of: fn(&Pair) -> &Histogram| {
                let sum = pairs.iter().map(|pair| of(pair)).cloned();
                sum.reduce(|mut sum, one| {
                    sum.add(&one);
                    sum
                })
            };
            Some(Compared {
                pairs: pairs.len() as u32,
                slots_us: pairs.len() as u64 * (SLOT_US - SETTLE_US),
                with: Spread::of(&sum(|p| &p.with)?)?,
                without: Spread::of(&sum(|p| &p.without)?)?,
            })
        })
    }
}

/// Rest between two pairs: long enough that one unsteered slot stays within the allowed part of the time.
fn rest_us(part: f64, random: &mut Pcg64Mcg) -> u64 {
    (SLOT_US as f64 / part * random.random_range(1.0..1.5)) as u64
}

impl Display for Compared {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let slots = duration(self.slots_us / SECOND_US);
        let trials = if self.pairs == 1 { "trial" } else { "trials" };
        write!(
            f,
            "in {} {trials}, {slots} each way, with steering {} and {}, without {} and {}",
            self.pairs,
            delay(self.with.median_us),
            delay(self.with.p95_us),
            delay(self.without.median_us),
            delay(self.without.p95_us),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Action, Compare, DAY_US, LOAD, Observation, Phase, SLOT_US};
    use tidegate_agent::{Direction, Histograms};

    fn nothing() -> Observation {
        Observation {
            now_us: 0,
            measured_bytes: [0; 2],
            queue_us: [
                Histograms::default().queue_us,
                Histograms::default().queue_us,
            ],
            places: Vec::new(),
        }
    }

    /// Simulates days under a load that meets 10 ms of queue when it is steered, and 400 ms when it is not. Returns the
    /// unsteered part of the time.
    fn live(compare: &mut Compare, days: u64, load: u64) -> f64 {
        let mut observation = nothing();
        let (end_us, mut unsteered_us) = (days * 86_400_000_000, 0);
        let mut passes_until_us = 0;
        while observation.now_us < end_us {
            let before_us = observation.now_us;
            observation.now_us = compare.next_us();
            let seconds = (observation.now_us - before_us).div_ceil(1_000_000);
            observation.measured_bytes[0] += load * seconds;
            let passes = before_us < passes_until_us;
            let queue_us = if passes { 400_000 } else { 10_000 };
            observation.queue_us[0].insert(queue_us, load * seconds / 1000);
            if passes {
                unsteered_us += observation.now_us - before_us;
            }
            match compare.step(&observation) {
                Some(Action::PassUntil(us)) => passes_until_us = us,
                Some(Action::Steer) => assert!(observation.now_us >= passes_until_us),
                None => {}
            }
        }
        unsteered_us as f64 / end_us as f64
    }

    #[test]
    fn no_more_time_passes_unsteered_than_was_allowed_and_not_much_less() {
        for part in [0.001, 0.01, 0.1] {
            let mut compare = Compare::new(part, 1, 0);
            let passed = live(&mut compare, 3, 4 * LOAD);
            assert!(passed <= part && passed > 0.6 * part, "{passed} of {part}");
        }
    }

    #[test]
    fn it_tells_the_queue_with_and_without() {
        let mut compare = Compare::new(0.05, 2, 0);
        assert_eq!(compare.found(0), [None, None]);
        live(&mut compare, 1, 4 * LOAD);
        let found = compare.found(DAY_US);
        let [Some(down), None] = found else {
            panic!("nothing went up: {found:?}");
        };
        assert_eq!(down.pairs, 24);
        assert!(
            down.with.p95_us < 13_000 && down.without.median_us > 300_000,
            "{down:?}"
        );
    }

    #[test]
    fn without_load_nothing_is_tried() {
        let mut compare = Compare::new(0.1, 3, 0);
        assert!(live(&mut compare, 1, LOAD / 2) == 0.0);
        assert_eq!(compare.found(DAY_US)[Direction::Down as usize], None);
    }

    #[test]
    fn what_is_older_than_a_day_is_not_told() {
        let mut compare = Compare::new(0.001, 4, 0);
        live(&mut compare, 1, 4 * LOAD);
        let pairs = |now_us| compare.found(now_us)[0].map_or(0, |found| found.pairs);
        let all = pairs(DAY_US);
        assert!((2..24).contains(&all), "{all}");
        assert!((1..all).contains(&pairs(DAY_US + DAY_US / 2)));
        assert_eq!(pairs(2 * DAY_US + 1), 0);
    }

    #[test]
    fn what_was_met_on_other_interfaces_is_forgotten() {
        let mut compare = Compare::new(0.05, 5, 0);
        live(&mut compare, 1, 4 * LOAD);
        let now_us = compare.next_us() - 1;
        assert!(!compare.is_due(now_us, &[]) && compare.is_due(now_us, &[3]));
        let elsewhere = Observation {
            now_us,
            places: vec![3],
            ..nothing()
        };
        compare.step(&elsewhere);
        assert_eq!(compare.found(now_us), [None, None]);
        assert!(!compare.is_due(now_us, &[3]));
    }

    /// After a change of interfaces, unsteered traffic is steered again at once.
    #[test]
    fn a_pair_that_begins_on_one_interface_does_not_end_on_another() {
        let mut seeds = (0..).map(|seed| Compare::new(0.1, seed, 0));
        let mut observation = nothing();
        let mut passing = || {
            let mut compare = seeds.next()?;
            while !matches!(compare.phase, Phase::Slot(_)) {
                observation.now_us = compare.next_us();
                observation.measured_bytes[0] += 100 * LOAD;
                compare.step(&observation);
            }
            Some(compare)
        };
        let is_passing = |c: &Compare| matches!(&c.phase, Phase::Slot(slot) if !slot.steered);
        let mut compare = std::iter::from_fn(&mut passing).find(is_passing).unwrap();
        observation.places = vec![3];
        assert_eq!(compare.step(&observation), Some(Action::Steer));
        assert!(matches!(compare.phase, Phase::Resting(_)));
    }

    #[test]
    fn either_slot_may_come_first() {
        let firsts = (0..40).map(|seed| {
            let mut compare = Compare::new(0.1, seed, 0);
            let mut observation = nothing();
            loop {
                observation.now_us = compare.next_us();
                observation.measured_bytes[0] += 100 * LOAD;
                let action = compare.step(&observation);
                if let Phase::Slot(slot) = &compare.phase {
                    assert_eq!(action.is_some(), !slot.steered);
                    if let Some(action) = action {
                        assert_eq!(action, Action::PassUntil(observation.now_us + SLOT_US));
                    }
                    return slot.steered;
                }
            }
        });
        let steered = firsts.filter(|steered| *steered).count();
        assert!((8..=32).contains(&steered), "{steered} of 40");
    }
}
