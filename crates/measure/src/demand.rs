//! The bytes that a link carried, compared with those that it could have carried while there was demand.

use crate::{BIN, Window};
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_link::{Capacity, Config};
use tidegate_scenario::{Direction, Scenario, WorkloadKind};

/// The counted part of the run in which a bulk workload of that direction wanted as much as it could get, as intervals
/// in whole bins that do not overlap. Other workloads want no more than they state.
pub fn demand(scenario: &Scenario, direction: Direction, window: &Window) -> Demand {
    let mut wanted: Vec<_> = scenario
        .workloads
        .iter()
        .filter(|w| match &w.does {
            WorkloadKind::Bulk {
                direction: d,
                bytes: None,
                ..
            } => *d == direction,
            WorkloadKind::Sprout(sprout) => sprout.direction == direction,
            _ => false,
        })
        .map(|w| {
            let stop_s = w.stop_s.unwrap_or(scenario.duration_s);
            let [start, stop] = [w.start_s, stop_s].map(Instant::from_secs_f64);
            [start.max(window.warmup), stop.min(window.end)].map(whole_bins)
        })
        .filter(|[from, to]| from < to)
        .collect();
    wanted.sort();
    let mut intervals: Vec<[Instant; 2]> = Vec::new();
    for [from, to] in wanted {
        match intervals.last_mut() {
            Some(last) if from <= last[1] => last[1] = last[1].max(to),
            _ => intervals.push([from, to]),
        }
    }
    Demand {
        intervals,
        passed: 0,
        bytes: 0,
    }
}

fn whole_bins(time: Instant) -> Instant {
    Instant::from_nanos(time.as_nanos() - time.as_nanos() % BIN.as_nanos() as u64)
}

/// Times of demand, and the bytes delivered in them.
#[derive(Clone, Debug, Default)]
pub struct Demand {
    intervals: Vec<[Instant; 2]>,
    /// Intervals that are over.
    passed: usize,
    bytes: u64,
}

impl Demand {
    /// `bytes` were delivered at `due`, which never decreases.
    pub(crate) fn delivered(&mut self, due: Instant, bytes: usize) {
        while self.intervals.get(self.passed).is_some_and(|i| i[1] <= due) {
            self.passed += 1;
        }
        if self.intervals.get(self.passed).is_some_and(|i| i[0] <= due) {
            self.bytes += bytes as u64;
        }
    }

    /// Delivered bytes ÷ bytes that the link could have carried in the intervals; NaN without any. A packet that is
    /// delivered at a time left the link earlier by the propagation delay.
    pub(crate) fn utilisation(&self, link: &Config) -> f64 {
        let mut capacity = Capacity::new(&link.rate);
        let possible = self.intervals.iter().map(|interval| {
            let [left, right] = interval.map(|t| earlier(t, link.delay.at(t)));
            capacity.bytes(left, right)
        });
        match possible.sum::<u64>() {
            0 => f64::NAN,
            possible => self.bytes as f64 / possible as f64,
        }
    }
}

fn earlier(time: Instant, by: Duration) -> Instant {
    Instant::from_nanos(time.as_nanos().saturating_sub(by.as_nanos() as u64))
}

#[cfg(test)]
mod tests;
