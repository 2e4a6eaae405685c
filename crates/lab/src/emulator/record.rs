//! What the emulator knows to be true: delays, series and its own punctuality.

use crate::quantiles::Durations;
use std::time::Duration;
use tidegate_link::{Instant, Stats};

/// Length of a bin of the series.
pub const BIN: Duration = Duration::from_millis(100);

/// One packet's way through the emulator.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// Length of the IP packet.
    pub bytes: usize,
    /// When it was read.
    pub arrived: Instant,
    /// When it should have been written.
    pub due: Instant,
    /// True queueing delay.
    pub queued: Duration,
    /// How much later than `due` it was written.
    pub late: Duration,
    /// Whether the warm-up was over.
    pub counts: bool,
}

/// Packets due within one [`BIN`] of time, the warm-up's included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bin {
    /// Packets delivered.
    pub packets: u64,
    /// Bytes delivered, IP headers included.
    pub bytes: u64,
    queued: Duration,
    /// Longest queueing delay.
    pub queued_max: Duration,
    forward: Duration,
}

impl Bin {
    /// Mean queueing delay; none without packets.
    pub fn queued_mean(&self) -> Option<Duration> {
        self.mean(self.queued)
    }

    /// Mean of queueing, transmission and propagation together; none without packets.
    pub fn forward_mean(&self) -> Option<Duration> {
        self.mean(self.forward)
    }

    fn mean(&self, sum: Duration) -> Option<Duration> {
        (self.packets > 0).then(|| sum.div_f64(self.packets as f64))
    }
}

/// What became of the packets of one direction.
#[derive(Clone, Debug)]
pub struct LaneRecord {
    /// True queueing delay of every packet delivered after the warm-up.
    pub queue_delay: Durations,
    /// Delivered minus due, every packet.
    pub timing_error: Durations,
    /// Packets by the time at which they were due.
    pub bins: Vec<Bin>,
    /// Packets that the receiving device refused.
    pub refused: u64,
    /// The link's own counters when the warm-up ended.
    pub at_warmup: Stats,
    /// The link's own counters at the end.
    pub at_end: Stats,
}

impl LaneRecord {
    pub fn new() -> Self {
        Self {
            queue_delay: Durations::new(),
            timing_error: Durations::new(),
            bins: Vec::new(),
            refused: 0,
            at_warmup: Stats::default(),
            at_end: Stats::default(),
        }
    }

    pub fn count(&mut self, passage: Passage) {
        self.timing_error.record(passage.late);
        if passage.counts {
            self.queue_delay.record(passage.queued);
        }
        let bin = self.bin_mut(passage.due);
        bin.packets += 1;
        bin.bytes += passage.bytes as u64;
        bin.queued += passage.queued;
        bin.queued_max = bin.queued_max.max(passage.queued);
        bin.forward += passage.due - passage.arrived;
    }

    /// The bin at `time`, if anything was delivered then or later.
    pub fn bin(&self, time: Instant) -> Option<&Bin> {
        self.bins.get(bin_index(time))
    }

    fn bin_mut(&mut self, time: Instant) -> &mut Bin {
        let index = bin_index(time);
        if index >= self.bins.len() {
            self.bins.resize(index + 1, Bin::default());
        }
        &mut self.bins[index]
    }
}

fn bin_index(time: Instant) -> usize {
    (time.as_nanos() / BIN.as_nanos() as u64) as usize
}

/// What the emulator has seen in a run.
#[derive(Clone, Debug)]
pub struct Record {
    /// Server to client.
    pub down: LaneRecord,
    /// Client to server.
    pub up: LaneRecord,
    /// Share of one core that the emulator used after the warm-up.
    pub cpu_share: f64,
    /// Time from the end of the warm-up to the end.
    pub counted: Duration,
}

impl Record {
    /// The round trip that began at the client so that it ended at `time`, as the link alone made
    /// it: the downlink's delay then, plus the uplink's when the answered packet was on its way.
    /// None where a direction carried nothing.
    pub fn round_trip(&self, time: Instant) -> Option<Duration> {
        let down = self.down.bin(time)?.forward_mean()?;
        let up = self.up.bin(time - down)?.forward_mean()?;
        Some(down + up)
    }
}

#[cfg(test)]
mod tests;
