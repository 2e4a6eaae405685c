//! What a link carried, against what it could have carried while there was demand.

use crate::emulator::{BIN, LaneRecord, Window};
use tidegate_link::{Capacity, Config, Instant};
use tidegate_scenario::{Direction, Scenario, WorkloadKind};

/// The counted part of the run in which a bulk workload of that direction wanted all that it could
/// get, as intervals in whole bins that do not overlap. Other workloads want no more than they say.
pub fn demand(scenario: &Scenario, direction: Direction, window: &Window) -> Vec<[Instant; 2]> {
    let mut wanted: Vec<_> = scenario
        .workloads
        .iter()
        .filter(|w| {
            matches!(&w.does, WorkloadKind::Bulk { direction: d, bytes: None, .. } if *d == direction)
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
    intervals
}

fn whole_bins(time: Instant) -> Instant {
    Instant::from_nanos(time.as_nanos() - time.as_nanos() % BIN.as_nanos() as u64)
}

/// Delivered bytes ÷ bytes that the link could have carried in `intervals`; 0 without any. What is
/// delivered at a time left the link the propagation delay before.
pub fn utilisation(lane: &LaneRecord, link: &Config, intervals: &[[Instant; 2]]) -> f64 {
    let mut capacity = Capacity::new(&link.rate);
    let (mut delivered, mut possible) = (0, 0);
    for &[from, to] in intervals {
        let mut time = from;
        while time < to {
            delivered += lane.bin(time).map_or(0, |bin| bin.bytes);
            time += BIN;
        }
        let [left, right] = [from, to].map(|t| earlier(t, link.delay.at(t)));
        possible += capacity.bytes(left, right);
    }
    super::ratio(delivered as f64, possible as f64)
}

fn earlier(time: Instant, by: std::time::Duration) -> Instant {
    Instant::from_nanos(time.as_nanos().saturating_sub(by.as_nanos() as u64))
}

#[cfg(test)]
mod tests;
