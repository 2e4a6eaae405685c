//! Reassembly: the data that have arrived beyond the first hole, as ranges of offsets.

use std::collections::VecDeque;

/// Offsets from `start` to before `end`; never empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Range {
    /// None if it would be empty.
    pub(super) fn new(start: u64, end: u64) -> Option<Self> {
        (start < end).then_some(Self { start, end })
    }

    pub(super) fn len(self) -> u64 {
        self.end - self.start
    }

    pub(super) fn intersection(self, other: Self) -> Option<Self> {
        Self::new(self.start.max(other.start), self.end.min(other.end))
    }

    /// Whether both make one range.
    pub(super) fn touches(self, other: Self) -> bool {
        self.start <= other.end && other.start <= self.end
    }

    pub(super) fn hull(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// The part of a segment that had arrived before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Overlap {
    /// The first part that was there already.
    pub(super) first: Option<Range>,
    /// Bytes of all such parts.
    pub(super) bytes: u64,
}

impl Overlap {
    fn add(&mut self, part: Option<Range>) {
        if let Some(part) = part {
            self.first.get_or_insert(part);
            self.bytes += part.len();
        }
    }
}

/// The peer's stream as far as it has arrived. A FIN takes an offset like a byte.
#[derive(Clone, Debug)]
pub(super) struct Reassembly {
    /// Next offset expected (`rcv_nxt`).
    next: u64,
    /// The data beyond the hole at `next`: sorted, and no two ranges touch.
    beyond: VecDeque<Range>,
    /// Bytes in them.
    held: u64,
    /// Offset of the FIN, once one has arrived.
    fin: Option<u64>,
}

impl Reassembly {
    pub(super) fn new() -> Self {
        Self {
            next: 1,
            beyond: VecDeque::new(),
            held: 0,
            fin: None,
        }
    }

    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Bytes out of order.
    pub(super) fn held(&self) -> u64 {
        self.held
    }

    /// Whether nothing is out of order.
    pub(super) fn is_in_order(&self) -> bool {
        self.beyond.is_empty()
    }

    /// From the next offset expected to the last that has arrived.
    pub(super) fn span(&self) -> u64 {
        self.beyond.back().map_or(0, |last| last.end - self.next)
    }

    /// Whether the FIN, and all before it, has arrived.
    pub(super) fn finished(&self) -> bool {
        self.fin.is_some_and(|fin| self.next > fin)
    }

    /// A FIN stands at `offset`, not before [`Self::next`]. If there are two, which no sound peer sends, the first that
    /// comes into order counts.
    pub(super) fn fin(&mut self, offset: u64) {
        self.fin = Some(self.fin.map_or(offset, |fin| fin.min(offset)));
    }

    /// Data arrive in order, up to `end`. [`Self::join`] follows.
    pub(super) fn advance(&mut self, end: u64) {
        self.next = end;
        self.stop_at_fin();
    }

    /// The segment `arrived` may have filled the hole: then the data beyond it are in order now. Returns the part of
    /// the segment that was held there already.
    pub(super) fn join(&mut self, arrived: Range) -> Overlap {
        let mut overlap = Overlap::default();
        while let Some(&first) = self.beyond.front()
            && first.start <= self.next
        {
            overlap.add(arrived.intersection(first));
            self.next = self.next.max(first.end);
            self.held -= first.len();
            self.beyond.pop_front();
        }
        self.stop_at_fin();
        overlap
    }

    /// Data beyond the FIN do not count.
    fn stop_at_fin(&mut self) {
        if self.finished() {
            self.next = self.fin.map_or(self.next, |fin| fin + 1);
            self.beyond.clear();
            self.held = 0;
        }
    }

    /// Data arrive out of order: all of them beyond [`Self::next`].
    pub(super) fn out_of_order(&mut self, range: Range) -> Overlap {
        match self.beyond.back_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            Some(last) if last.end > range.start => return self.merge(range),
            _ => self.beyond.push_back(range),
        }
        self.held += range.len();
        Overlap::default()
    }

    fn merge(&mut self, range: Range) -> Overlap {
        let mut overlap = Overlap::default();
        let mut merged = range;
        let from = self.beyond.partition_point(|r| r.end < range.start);
        let mut to = from;
        while let Some(&other) = self.beyond.get(to).filter(|r| r.start <= range.end) {
            overlap.add(range.intersection(other));
            merged = merged.hull(other);
            to += 1;
        }
        self.held += range.len() - overlap.bytes;
        if from == to {
            self.beyond.insert(from, merged);
        } else {
            self.beyond[from] = merged;
            self.beyond.drain(from + 1..to);
        }
        overlap
    }

    #[cfg(test)]
    pub(super) fn beyond(&self) -> impl Iterator<Item = Range> {
        self.beyond.iter().copied()
    }
}

#[cfg(test)]
mod tests;
