//! The emulator's exact record of packets and queues, and of its punctuality.

use super::Ways;
use std::time::Duration;
use tidegate_link::Instant;
use tidegate_measure::{Bins, Durations, LinkRecord, Passage, round_trip};

/// A record of the packets of one link.
#[derive(Clone, Debug)]
pub struct LaneRecord {
    /// What the link did to them.
    pub link: LinkRecord,
    /// Delivered minus due, for every packet.
    pub timing_error: Durations,
}

impl LaneRecord {
    pub(crate) fn new(link: LinkRecord) -> Self {
        Self {
            link,
            timing_error: Durations::new(),
        }
    }

    /// A packet was written, `late` after it was due.
    pub fn count(&mut self, passage: &Passage, late: Duration) {
        self.timing_error.record(late);
        self.link.count(passage);
    }

    /// Packets by the time at which they were due.
    pub fn bins(&self) -> &Bins {
        self.link.bins.as_ref().expect("the laboratory keeps bins")
    }
}

/// The emulator's record of a run.
#[derive(Clone, Debug)]
pub struct Record {
    /// Server to client.
    pub down: LaneRecord,
    /// Client to server.
    pub up: LaneRecord,
    /// The further links, in the scenario's order.
    pub hops: Vec<LaneRecord>,
    /// Packets that the device at their end refused.
    pub refused: u64,
    /// Share of one core that the emulator used after the warm-up.
    pub cpu_share: f64,
    /// Time from the end of the warm-up to the end.
    pub counted: Duration,
}

impl Record {
    /// The round trip of packets on those links: see [`round_trip`].
    pub fn round_trip(&self, ways: &Ways, time: Instant) -> Option<Duration> {
        let lanes: Vec<_> = [&self.down, &self.up]
            .into_iter()
            .chain(&self.hops)
            .collect();
        let passed = ways.up.iter().chain(&ways.down);
        round_trip(passed.map(|&link| lanes[link].bins()), time)
    }
}
