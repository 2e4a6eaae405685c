//! What a link delivered, in bins of time.

use crate::Passage;
use std::time::Duration;
use tidegate_time::Instant;

/// Length of a bin.
pub const BIN: Duration = Duration::from_millis(100);

/// Packets due within one [`BIN`] of time.
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

/// The bins from the start of a run on, its warm-up included.
#[derive(Clone, Debug, Default)]
pub struct Bins(Vec<Bin>);

impl Bins {
    /// Counts a packet in the bin in which it was due.
    pub fn count(&mut self, passage: &Passage) {
        let index = (passage.due.as_nanos() / BIN.as_nanos() as u64) as usize;
        if index >= self.0.len() {
            self.0.resize(index + 1, Bin::default());
        }
        let bin = &mut self.0[index];
        bin.packets += 1;
        bin.bytes += passage.bytes as u64;
        bin.queued += passage.queued;
        bin.queued_max = bin.queued_max.max(passage.queued);
        bin.forward += passage.due - passage.arrived;
    }

    /// The bin at `time`, if anything was delivered then or later.
    pub fn at(&self, time: Instant) -> Option<&Bin> {
        self.0
            .get((time.as_nanos() / BIN.as_nanos() as u64) as usize)
    }

    /// All of them, the first at the start of the run.
    pub fn as_slice(&self) -> &[Bin] {
        &self.0
    }
}

/// The round trip that ended at `time`, as the links alone made it, in the order in which they are passed: the
/// last one's delay then, plus the one's before it when the packet was there, and so on. None where a link
/// carried nothing.
pub fn round_trip<'a, L>(links: L, time: Instant) -> Option<Duration>
where
    L: IntoIterator<Item = &'a Bins, IntoIter: DoubleEndedIterator>,
{
    let mut links = links.into_iter().rev();
    links.try_fold(Duration::ZERO, |later, link| {
        Some(later + link.at(time - later)?.forward_mean()?)
    })
}

#[cfg(test)]
mod tests;
