//! What the queue was and what was carried: each second of the last two minutes, each minute of the last day, each hour of
//! the last week. Without a clock and without the agent.

use crate::account::Spread;
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};
use std::collections::VecDeque;
use tidegate_agent::Histogram;

const SECOND_US: u64 = 1_000_000;
const MINUTE_US: u64 = 60 * SECOND_US;
const HOUR_US: u64 = 60 * MINUTE_US;
/// Samples that are kept.
const SECONDS: usize = 120;
const MINUTES: usize = 24 * 60;
/// Between two looks that are nearer a rate would be chance.
const NEAREST_US: u64 = SECOND_US / 2;
const HOURS: usize = 7 * 24;
/// A second of which nothing was heard for so long says nothing of now.
const STALE_US: u64 = 5 * SECOND_US;

/// What there is to be seen at one moment. By [`tidegate_agent::Direction::ALL`] where there are two.
#[derive(Clone, Debug)]
pub struct Observation {
    /// When, in µs of a clock that goes on while the machine sleeps.
    pub at_us: u64,
    /// Nothing is steered at this moment, so that the difference can be told.
    pub passes: bool,
    /// The queueing delay of all packets that were measured so far.
    pub queue_us: [Histogram; 2],
    /// Bytes of all kinds that were carried so far.
    pub bytes: [u64; 2],
}

/// What was between two looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When it ended.
    pub at_us: u64,
    /// It passed unsteered; of a minute any part of it, of an hour most.
    pub passes: bool,
    /// By direction.
    pub ways: [Point; 2],
}

/// One direction of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Of the packets with data that were measured; none: there were none.
    pub queue: Option<Spread>,
    /// Bits a second, of all bytes.
    pub rate_bps: f64,
}

/// All that is remembered.
#[derive(Debug, Default)]
pub struct History {
    second: Option<Observation>,
    minute: Option<Stretch>,
    hour: Option<Stretch>,
    seconds: VecDeque<Sample>,
    minutes: VecDeque<Sample>,
    hours: VecDeque<Sample>,
}

/// The time since a look.
#[derive(Debug)]
struct Stretch {
    from: Observation,
    /// Looks since then, and those of them that found that nothing was steered.
    looks: u32,
    passed: u32,
}

/// Samples for a page, which has no clock of this machine's.
pub struct Course<'a> {
    samples: &'a VecDeque<Sample>,
    now_us: u64,
}

impl History {
    /// Takes the next look, a second after the one before or later. One that follows at once, after one that was late, is
    /// not taken: what it would bring comes with the next.
    pub fn note(&mut self, observation: Observation) {
        let least = self.second.as_ref().map(|last| last.at_us + NEAREST_US);
        if least.is_some_and(|least_us| observation.at_us < least_us) {
            return;
        }
        if let Some(before) = &self.second {
            keep(
                &mut self.seconds,
                SECONDS,
                Sample::of(before, &observation, observation.passes),
            );
        }
        if let Some(over) = Stretch::step(&mut self.minute, &observation, MINUTE_US) {
            let sample = Sample::of(&over.from, &observation, over.passed > 0);
            keep(&mut self.minutes, MINUTES, sample);
        }
        if let Some(over) = Stretch::step(&mut self.hour, &observation, HOUR_US) {
            let sample = Sample::of(&over.from, &observation, 2 * over.passed > over.looks);
            keep(&mut self.hours, HOURS, sample);
        }
        self.second = Some(observation);
    }

    /// What a direction does now: its last sample, with the queue of the last second in which anything was measured.
    pub fn now(&self, way: usize, now_us: u64) -> Option<Point> {
        let fresh = |sample: &&Sample| sample.at_us + STALE_US > now_us;
        let mut lately = self.seconds.iter().rev().take_while(fresh);
        let last = lately.next()?.ways[way];
        let queue = last
            .queue
            .or_else(|| lately.find_map(|sample| sample.ways[way].queue));
        Some(Point { queue, ..last })
    }

    /// The last two minutes.
    pub fn seconds(&self, now_us: u64) -> Course<'_> {
        let samples = &self.seconds;
        Course { samples, now_us }
    }

    /// The last week.
    pub fn hours(&self, now_us: u64) -> Course<'_> {
        let samples = &self.hours;
        Course { samples, now_us }
    }

    /// The last day.
    pub fn minutes(&self, now_us: u64) -> Course<'_> {
        let samples = &self.minutes;
        Course { samples, now_us }
    }
}

impl Stretch {
    /// Takes a look. When so long is over another one begins, and that one is returned.
    fn step(slot: &mut Option<Self>, now: &Observation, length_us: u64) -> Option<Self> {
        if let Some(stretch) = slot {
            stretch.looks += 1;
            stretch.passed += u32::from(now.passes);
            if now.at_us < stretch.from.at_us + length_us {
                return None;
            }
        }
        slot.replace(Self {
            from: now.clone(),
            looks: 0,
            passed: 0,
        })
    }
}

fn keep(samples: &mut VecDeque<Sample>, most: usize, sample: Sample) {
    if samples.len() == most {
        samples.pop_front();
    }
    samples.push_back(sample);
}

impl Sample {
    fn of(before: &Observation, after: &Observation, passes: bool) -> Self {
        let elapsed_us = after.at_us.saturating_sub(before.at_us).max(1);
        let point = |way: usize| {
            // An interface that went takes nothing with it; still, a number that fell is no news.
            let news = after.bytes[way].saturating_sub(before.bytes[way]);
            Point {
                queue: Spread::of(&after.queue_us[way].since(&before.queue_us[way])),
                rate_bps: news as f64 * 8e6 / elapsed_us as f64,
            }
        };
        Self {
            at_us: after.at_us,
            passes,
            ways: [point(0), point(1)],
        }
    }
}

impl Serialize for Course<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut list = to.serialize_seq(Some(self.samples.len()))?;
        for sample in self.samples {
            list.serialize_element(&Entry::of(sample, self.now_us))?;
        }
        list.end()
    }
}

/// A sample as the page has it: how long ago it ended in s, whether it passed unsteered, and of each direction median and
/// 95th percentile of the queueing delay in µs and the rate in bit/s. In this order: there are many of them.
#[derive(Serialize)]
struct Entry(u64, bool, [Option<u32>; 2], u64, [Option<u32>; 2], u64);

impl Entry {
    fn of(sample: &Sample, now_us: u64) -> Self {
        let queue = |way: usize| {
            let queue = sample.ways[way].queue;
            [queue.map(|q| q.median_us), queue.map(|q| q.p95_us)]
        };
        let rate = |way: usize| sample.ways[way].rate_bps as u64;
        let age_us = now_us.saturating_sub(sample.at_us);
        let age_s = (age_us + SECOND_US / 2) / SECOND_US;
        Self(age_s, sample.passes, queue(0), rate(0), queue(1), rate(1))
    }
}

#[cfg(test)]
mod tests;
