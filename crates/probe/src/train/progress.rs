//! A train's progress by its reports: its rate at the far end, and its losses.

use crate::Report;
use std::collections::VecDeque;
use std::time::Duration;

/// The time over which the rate is computed.
const WINDOW: Duration = Duration::from_millis(400);

/// The most reports that are kept, eight times those of the window: a far end may send them as fast as it likes.
const MOST: usize = 64;

/// Reports so far, as many as are needed.
#[derive(Debug, Default)]
pub struct Progress {
    reports: VecDeque<Report>,
}

impl Progress {
    /// Adds a report; false if it is older than another.
    pub fn note(&mut self, report: &Report) -> bool {
        if self.reports.back().is_some_and(|last| report.at <= last.at) {
            return false;
        }
        self.reports.push_back(*report);
        while self.reports.len() > 2 && report.at - self.reports[1].at >= WINDOW {
            self.reports.pop_front();
        }
        if self.reports.len() > MOST {
            self.reports.pop_front();
        }
        true
    }

    /// Reports that are kept.
    #[cfg(test)]
    pub fn kept(&self) -> usize {
        self.reports.len()
    }

    /// Packets that arrived and that were lost between the last two reports.
    pub fn latest(&self) -> (u32, u32) {
        let last = self.reports.len() - 1;
        let (next, packets) = match last.checked_sub(1).map(|before| &self.reports[before]) {
            Some(before) => (before.next, before.packets),
            None => (0, 0),
        };
        let now = &self.reports[last];
        let arrived = now.packets.saturating_sub(packets);
        (
            arrived,
            now.next.saturating_sub(next).saturating_sub(arrived),
        )
    }

    /// The arriving rate, in bit/s; none before there are two reports.
    pub fn delivered_bps(&self) -> Option<f64> {
        let (first, last) = (self.reports.front()?, self.reports.back()?);
        let seconds = (last.at - first.at).as_secs_f64();
        (seconds > 0.0).then(|| (last.bytes.saturating_sub(first.bytes)) as f64 * 8.0 / seconds)
    }

    /// Packets that have arrived.
    pub fn received(&self) -> u32 {
        self.reports.back().map_or(0, |report| report.packets)
    }

    /// One more than the highest sequence number that arrived.
    pub fn next_sequence(&self) -> u32 {
        self.reports.back().map_or(0, |report| report.next)
    }
}
