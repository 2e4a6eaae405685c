//! The packets of one link.

use crate::{Bins, Demand, Durations, ratio};
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_link::{Config, Stats};
use tidegate_scenario::LinkResult;

/// The part of a run that counts.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// Packets that are due earlier do not count.
    pub warmup: Instant,
    /// The end of the run.
    pub end: Instant,
}

impl Window {
    /// Whether an event at `time` counts.
    pub fn counts(&self, time: Instant) -> bool {
        time >= self.warmup
    }
}

/// One packet's way through a link.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// Length of the IP packet.
    pub bytes: usize,
    /// When it arrived at the link.
    pub arrived: Instant,
    /// When it was due at the far end.
    pub due: Instant,
    /// True queueing delay.
    pub queued: Duration,
}

/// The packets of one link, in memory that does not grow with time unless bins are kept.
#[derive(Clone, Debug)]
pub struct LinkRecord {
    /// True queueing delay of every packet delivered after the warm-up.
    pub queue_delay: Durations,
    /// Packets by the time at which they were due, if bins are kept.
    pub bins: Option<Bins>,
    /// The link's own counters when the warm-up ended.
    pub at_warmup: Stats,
    /// The link's own counters at the end.
    pub at_end: Stats,
    demand: Demand,
    window: Window,
}

impl LinkRecord {
    /// Nothing counted yet; `bins` says whether to keep them.
    pub fn new(window: Window, demand: Demand, bins: bool) -> Self {
        Self::with_bins(window, demand, bins.then(Bins::default))
    }

    /// Nothing counted yet, with the given bins, or none.
    pub fn with_bins(window: Window, demand: Demand, bins: Option<Bins>) -> Self {
        Self {
            queue_delay: Durations::new(),
            bins,
            at_warmup: Stats::default(),
            at_end: Stats::default(),
            demand,
            window,
        }
    }

    /// A packet was delivered; `due` never decreases.
    pub fn count(&mut self, passage: &Passage) {
        if self.window.counts(passage.due) {
            self.queue_delay.record(passage.queued);
        }
        self.demand.delivered(passage.due, passage.bytes);
        if let Some(bins) = &mut self.bins {
            bins.count(passage);
        }
    }

    /// In the schema's terms; `counted` is the time from the end of the warm-up to the end.
    pub fn result(&self, link: &Config, counted: Duration) -> LinkResult {
        let (before, after) = (&self.at_warmup, &self.at_end);
        let delivered = after.delivered_bytes - before.delivered_bytes;
        LinkResult {
            utilisation: self.demand.utilisation(link),
            delivered_bps: ratio(delivered as f64 * 8.0, counted.as_secs_f64()),
            queue_delay_ms: self.queue_delay.quantiles_ms(),
            drops: after.dropped,
            losses: after.lost,
            marks: after.marked,
        }
    }
}

#[cfg(test)]
mod tests;
