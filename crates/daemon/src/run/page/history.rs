//! History of queue and rate: each second of the last two minutes, each minute of the last day, each hour of the last
//! week. It needs neither a clock nor the agent.

use crate::spread::Spread;
use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};
use std::collections::VecDeque;
use tidegate_agent::Histogram;

const SECOND_US: u64 = 1_000_000;
const MINUTE_US: u64 = 60 * SECOND_US;
const HOUR_US: u64 = 60 * MINUTE_US;
/// How many samples are kept.
const SECONDS: usize = 120;
const MINUTES: usize = 24 * 60;
/// Between two looks that are closer than this, a rate would be chance.
const NEAREST_US: u64 = SECOND_US / 2;
const HOURS: usize = 7 * 24;
/// A queueing delay that was measured longer ago says nothing about now.
const STALE_US: u64 = 5 * SECOND_US;

/// What one look finds. Arrays are indexed by [`tidegate_agent::Direction::ALL`].
#[derive(Clone, Debug)]
pub struct Observation {
    /// When, in µs of a clock that runs on while the machine sleeps.
    pub at_us: u64,
    /// Whether traffic passes unsteered at this moment, to measure the difference.
    pub passes: bool,
    /// The queueing delays of all packets measured since the start.
    pub queue_us: [Histogram; 2],
    /// All bytes carried since the start.
    pub bytes: [u64; 2],
}

/// What happened between two looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// When it ended.
    pub at_us: u64,
    /// Whether it passed unsteered: any part of a minute, most of an hour.
    pub passes: bool,
    /// By direction.
    pub ways: [Point; 2],
}

/// One direction of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Queueing delay of the data packets that were measured; none: there were none.
    pub queue: Option<Spread>,
    /// Bits a second, all bytes counted.
    pub rate_bps: f64,
}

/// All samples that are kept.
#[derive(Debug, Default)]
pub struct History {
    second: Option<Observation>,
    minute: Option<Stretch>,
    hour: Option<Stretch>,
    seconds: VecDeque<Sample>,
    minutes: VecDeque<Sample>,
    hours: VecDeque<Sample>,
}

/// The time since the look that began it.
#[derive(Debug)]
struct Stretch {
    from: Observation,
    /// Looks since then, and how many of them found traffic unsteered.
    looks: u32,
    passed: u32,
}

/// Samples for a page; their times are ages, since the browser has another clock.
pub struct Course<'a> {
    samples: &'a VecDeque<Sample>,
    now_us: u64,
}

impl History {
    /// Takes the next look, a second after the one before or later. A look that follows a late one at once is ignored;
    /// the next look covers its time.
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
    /// Takes a look. Once the stretch is `length_us` long a new one begins, and the finished one is returned.
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
            // The total keeps the bytes of interfaces that went; should it fall all the same, that counts as no bytes.
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

/// A sample as the page receives it: its age in s, whether it passed unsteered, and for each direction median and 95th
/// percentile of the queueing delay in µs and the rate in bit/s. It is an array without names, as there are many.
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
