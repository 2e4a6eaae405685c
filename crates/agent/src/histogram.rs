//! How a quantity was distributed over all packets, as the kernel program counts it.

use crate::skeleton::types::{tg_histogram, tg_histograms};

/// Exponents of the first slots' bounds, `TG_QUEUE_FIRST` and `TG_WINDOW_FIRST` (`bpf/shared.h`).
const QUEUE_FIRST: u32 = 9;
const WINDOW_FIRST: u32 = 12;

/// Packets by the value of a quantity: slot i counts those below 2^(i + `first`), but above the
/// slot before; the last slot all that are larger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    first: u32,
    slots: [u64; 16],
    /// Of all values.
    pub sum: u64,
}

impl Histogram {
    fn new(first: u32) -> Self {
        Self {
            first,
            slots: [0; 16],
            sum: 0,
        }
    }

    fn add(&mut self, other: &tg_histogram) {
        self.sum += other.sum;
        for (to, from) in self.slots.iter_mut().zip(other.slots) {
            *to += from;
        }
    }

    /// Packets in each slot with the slot's upper bound; none bounds the last.
    pub fn slots(&self) -> impl Iterator<Item = (Option<u64>, u64)> {
        let last = self.slots.len() - 1;
        let bound = move |i| (i < last).then(|| 1 << (i as u32 + self.first));
        let slots = self.slots.iter().enumerate();
        slots.map(move |(i, packets)| (bound(i), *packets))
    }

    /// Packets in all.
    pub fn count(&self) -> u64 {
        self.slots.iter().sum()
    }
}

/// Of the data of one direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histograms {
    /// Queueing delay in µs: of each measured packet that arrived, or, of uploads, of each
    /// acknowledgement that brought news.
    pub queue_us: Histogram,
    /// The window that the data's sender was told with each acknowledgement, in bytes.
    pub window_bytes: Histogram,
}

impl Default for Histograms {
    fn default() -> Self {
        Self {
            queue_us: Histogram::new(QUEUE_FIRST),
            window_bytes: Histogram::new(WINDOW_FIRST),
        }
    }
}

impl Histograms {
    pub(crate) fn sum(records: impl Iterator<Item = tg_histograms>) -> Self {
        records.fold(Self::default(), |mut sum, record| {
            sum.queue_us.add(&record.queue_us);
            sum.window_bytes.add(&record.window_bytes);
            sum
        })
    }
}
