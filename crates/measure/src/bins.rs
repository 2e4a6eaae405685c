//! The packets that a link delivered, in bins of time.

use crate::Passage;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// Length of a bin, unless another is asked for.
pub const BIN: Duration = Duration::from_millis(100);

/// Packets due within one bin of time.
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
#[derive(Clone, Debug)]
pub struct Bins {
    width: Duration,
    bins: Vec<Bin>,
}

impl Default for Bins {
    /// With bins of [`BIN`].
    fn default() -> Self {
        Self::of(BIN)
    }
}

impl Bins {
    /// No bins yet; each will have this length, which is more than 0.
    pub fn of(width: Duration) -> Self {
        let bins = Vec::new();
        Self { width, bins }
    }

    /// How long each is.
    pub fn width(&self) -> Duration {
        self.width
    }

    fn index(&self, time: Instant) -> usize {
        (time.as_nanos() / self.width.as_nanos() as u64) as usize
    }

    /// Counts a packet in the bin in which it was due.
    pub fn count(&mut self, passage: &Passage) {
        let index = self.index(passage.due);
        if index >= self.bins.len() {
            self.bins.resize(index + 1, Bin::default());
        }
        let bin = &mut self.bins[index];
        bin.packets += 1;
        bin.bytes += passage.bytes as u64;
        bin.queued += passage.queued;
        bin.queued_max = bin.queued_max.max(passage.queued);
        bin.forward += passage.due - passage.arrived;
    }

    /// The bin at `time`, if anything was delivered then or later.
    pub fn at(&self, time: Instant) -> Option<&Bin> {
        self.bins.get(self.index(time))
    }

    /// All of them, the first at the start of the run.
    pub fn as_slice(&self) -> &[Bin] {
        &self.bins
    }
}

/// The round trip that ended at `time`, with the links' delays alone, in the order in which the links are passed: the
/// last link's delay at that time, plus that of the one before when the packet was there, and so on. None where a link
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
