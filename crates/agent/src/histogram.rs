//! How a quantity was distributed over all packets, as the kernel program counts it.

use crate::skeleton::types::{tg_fast_path, tg_histogram, tg_histograms};

/// Exponents of the first slots' bounds, `TG_QUEUE_FIRST` and `TG_WINDOW_FIRST` (`bpf/shared.h`).
const QUEUE_FIRST: u32 = 9;
const WINDOW_FIRST: u32 = 12;

/// `TG_SLOTS`: below the first power of two, four to each of fifteen, and all that is larger.
const SLOTS: usize = 62;

/// `TG_DELAY_UNKNOWN`: a queueing delay that is not known.
const UNKNOWN: u32 = u32::MAX;

/// Packets by the value of a quantity, in slots that grow with it: four to a power of two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    first: u32,
    slots: [u64; SLOTS],
    /// Sum of all values.
    pub sum: u64,
}

impl Histogram {
    fn new(first: u32) -> Self {
        Self {
            first,
            slots: [0; SLOTS],
            sum: 0,
        }
    }

    fn count_in(&mut self, record: &tg_histogram) {
        self.sum += record.sum;
        for (to, from) in self.slots.iter_mut().zip(record.slots) {
            *to += from;
        }
    }

    /// Counts a value `times` times, as the programs do.
    pub fn insert(&mut self, value: u64, times: u64) {
        let slot = (0..SLOTS - 1).find(|slot| value < self.bound(*slot));
        self.slots[slot.unwrap_or(SLOTS - 1)] += times;
        self.sum += value * times;
    }

    /// Raises each count to that of `other`.
    fn raise_to(&mut self, other: &Self) {
        self.sum = self.sum.max(other.sum);
        for (to, from) in self.slots.iter_mut().zip(other.slots) {
            *to = (*to).max(from);
        }
    }

    /// Adds the counts of `other`, which must be of the same quantity.
    pub fn add(&mut self, other: &Self) {
        self.sum += other.sum;
        for (to, from) in self.slots.iter_mut().zip(other.slots) {
            *to += from;
        }
    }

    /// The difference to an `earlier` state.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut news = self.clone();
        news.sum = news.sum.saturating_sub(earlier.sum);
        for (to, from) in news.slots.iter_mut().zip(earlier.slots) {
            *to = to.saturating_sub(from);
        }
        news
    }

    /// Where a slot ends, in the quantity's unit; the last slot has no end.
    fn bound(&self, slot: usize) -> u64 {
        let (octave, quarter) = (slot.div_ceil(4), (slot + 3) % 4 + 1);
        match slot {
            0 => 1 << self.first,
            _ => (1 << (self.first - 3 + octave as u32)) * (4 + quarter as u64),
        }
    }

    /// Packets between powers of two, with the upper bound of each; none bounds the last.
    pub fn octaves(&self) -> impl Iterator<Item = (Option<u64>, u64)> {
        let inner = self.slots[1..SLOTS - 1].chunks(4).enumerate();
        let inner = inner.map(|(i, slots)| (Some(self.bound(4 * i + 4)), slots.iter().sum()));
        let ends = [(Some(self.bound(0)), self.slots[0])];
        ends.into_iter()
            .chain(inner)
            .chain([(None, self.slots[SLOTS - 1])])
    }

    /// Packets in all.
    pub fn count(&self) -> u64 {
        self.slots.iter().sum()
    }

    /// The value below which this part of the packets lies (0.5: the median). It is interpolated within a slot, so it
    /// may be off by a quarter at worst. None: there are no packets.
    pub fn quantile(&self, part: f64) -> Option<u64> {
        let mut before = part.clamp(0.0, 1.0) * self.count() as f64;
        let mut lower = 0;
        let slot = self.slots.iter().enumerate().find(|(slot, packets)| {
            let inside = before <= **packets as f64 && **packets > 0;
            if !inside {
                before -= **packets as f64;
                lower = self.bound(*slot);
            }
            inside
        });
        let (slot, packets) = slot?;
        if slot == SLOTS - 1 {
            return Some(lower);
        }
        let width = (self.bound(slot) - lower) as f64;
        Some(lower + (width * before / *packets as f64) as u64)
    }
}

/// The histograms for the data of one direction.
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
            sum.queue_us.count_in(&record.queue_us);
            sum.window_bytes.count_in(&record.window_bytes);
            sum
        })
    }

    /// Counts the packets that passed on the fast path since the last measurement, as the next measurement will.
    pub(crate) fn count_passed(&mut self, place: &tg_fast_path) {
        if place.queue_us != UNKNOWN {
            self.queue_us
                .insert(place.queue_us.into(), place.packets.into());
        }
        self.window_bytes
            .insert(place.told_bytes.into(), place.answers.into());
    }

    pub(crate) fn raise_to(&mut self, other: &Self) {
        self.queue_us.raise_to(&other.queue_us);
        self.window_bytes.raise_to(&other.window_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::{Histogram, QUEUE_FIRST, SLOTS};

    fn with(slots: &[(usize, u64)]) -> Histogram {
        let mut histogram = Histogram::new(QUEUE_FIRST);
        for (slot, packets) in slots {
            histogram.slots[*slot] = *packets;
        }
        histogram.sum = histogram.slots.iter().sum();
        histogram
    }

    #[test]
    fn slots_end_where_the_programs_say() {
        let histogram = with(&[]);
        let bounds: Vec<_> = (0..9).map(|slot| histogram.bound(slot)).collect();
        assert_eq!(bounds, [512, 640, 768, 896, 1024, 1280, 1536, 1792, 2048]);
        assert_eq!(histogram.bound(SLOTS - 2), 1 << 24);
    }

    #[test]
    fn powers_of_two_hold_their_four_slots() {
        let histogram = with(&[(0, 1), (1, 2), (4, 3), (5, 4), (SLOTS - 1, 5)]);
        let octaves: Vec<_> = histogram.octaves().collect();
        assert_eq!(octaves.len(), 17);
        assert_eq!(
            octaves[..3],
            [(Some(512), 1), (Some(1024), 5), (Some(2048), 4)]
        );
        assert_eq!(octaves[15..], [(Some(1 << 24), 0), (None, 5)]);
    }

    #[test]
    fn a_quantile_lies_within_its_slot() {
        assert_eq!(with(&[]).quantile(0.5), None);
        // Half of them below 512 µs, half between 1792 and 2048.
        let halves = with(&[(0, 10), (8, 10)]);
        assert_eq!(halves.quantile(0.25), Some(256));
        assert_eq!(halves.quantile(0.75), Some(1920));
        assert_eq!(halves.quantile(1.0), Some(2048));
        assert_eq!(with(&[(SLOTS - 1, 1)]).quantile(0.5), Some(1 << 24));
    }

    #[test]
    fn what_came_between_two_looks_is_their_difference() {
        let (before, after) = (with(&[(2, 4)]), with(&[(2, 5), (7, 1)]));
        let mut sum = before.clone();
        sum.add(&after.since(&before));
        assert_eq!(sum, after);
    }
}
