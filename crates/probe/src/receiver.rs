//! The far end of a train: notes arrivals, and reports.

use crate::{Arrival, Data, Report};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// Time between two reports. Rates are read from several of them, and a cell's scheduler may pause for
/// some tens of milliseconds.
const INTERVAL: Duration = Duration::from_millis(50);

/// Notes the arrivals of one train.
#[derive(Debug)]
pub struct Receiver {
    flow: u8,
    arrivals: Vec<Arrival>,
    bytes: u64,
    next_sequence: u32,
    /// Least time on the way by the two clocks, in nanoseconds.
    least_ns: i64,
    /// When the next report is due; none before the first packet.
    report_at: Option<Instant>,
}

impl Receiver {
    /// For the train with the number `flow`.
    pub fn new(flow: u8) -> Self {
        Self {
            flow,
            arrivals: Vec::new(),
            bytes: 0,
            next_sequence: 0,
            least_ns: i64::MAX,
            report_at: None,
        }
    }

    /// A packet arrived at `now`, when this end's clock showed `clock`.
    pub fn take(&mut self, now: Instant, clock: Instant, data: &Data) {
        let arrival = Arrival::of(data, clock);
        self.bytes += u64::from(data.bytes);
        self.next_sequence = self.next_sequence.max(data.sequence.saturating_add(1));
        self.least_ns = self.least_ns.min(arrival.one_way_ns());
        self.arrivals.push(arrival);
        self.report_at.get_or_insert(now);
    }

    /// When [`Self::report`] is due.
    pub fn next_event(&self) -> Option<Instant> {
        self.report_at
    }

    /// The report that is due now. Silence of the link is reported, too, so that the sender learns of it.
    pub fn report(&mut self, now: Instant) -> Option<Report> {
        self.report_at.filter(|&at| at <= now)?;
        self.report_at = Some(now + INTERVAL);
        let latest = self.arrivals.last()?;
        let queued_ns = latest.one_way_ns().saturating_sub(self.least_ns).max(0) as u64;
        Some(Report {
            flow: self.flow,
            next: self.next_sequence,
            packets: self.arrivals.len() as u32,
            bytes: self.bytes,
            at: now,
            queued_us: u32::try_from(queued_ns / 1000).unwrap_or(u32::MAX),
        })
    }

    /// Packets that arrived.
    pub fn count(&self) -> usize {
        self.arrivals.len()
    }

    /// The arrivals, in order of time.
    pub fn into_arrivals(self) -> Vec<Arrival> {
        self.arrivals
    }
}
