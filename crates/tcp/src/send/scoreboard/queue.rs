//! The segments that were sent and are not acknowledged cumulatively, in the order of the stream.
//!
//! Entries are named by *numbers* that count segments and stay valid while the queue moves on;
//! they wrap. A segment knows where it starts; it ends where the next one starts.

use super::order::Links;
use super::tags::Tags;
use crate::send::rate::Snapshot;
use std::collections::VecDeque;
use tidegate_basics::time::Instant;

/// How far off a guess may be before a search begins.
const NEIGHBOURS: u32 = 4;

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
pub(in crate::send) struct Sent {
    /// When it was sent last.
    pub(in crate::send) at: Instant,
    /// The counts and times of then, from which its delivery-rate sample is computed.
    pub(in crate::send) snapshot: Snapshot,
    /// Low half of the offset of its first byte.
    start: u32,
    /// Its place in the order by time.
    pub(super) links: Links,
    pub(in crate::send) tags: Tags,
}

/// The queue, from the oldest segment of the stream to the newest.
#[derive(Debug)]
pub(super) struct Queue {
    entries: VecDeque<Sent>,
    /// Number of the first entry.
    first: u32,
    /// Offset after the last entry.
    end: u64,
}

impl Queue {
    /// Empty; the first segment will begin at `offset`.
    pub(super) fn new(offset: u64) -> Self {
        Self {
            entries: VecDeque::new(),
            first: 0,
            end: offset,
        }
    }

    pub(super) fn len(&self) -> u32 {
        self.entries.len() as u32
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Offset after the last entry.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Number of the first entry.
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// Number after the last entry.
    pub(super) fn after_last(&self) -> u32 {
        self.first.wrapping_add(self.len())
    }

    /// Place of entry `number` in the queue.
    pub(super) fn index(&self, number: u32) -> usize {
        number.wrapping_sub(self.first) as usize
    }

    pub(super) fn get(&self, number: u32) -> &Sent {
        &self.entries[self.index(number)]
    }

    pub(super) fn get_mut(&mut self, number: u32) -> &mut Sent {
        let index = self.index(number);
        &mut self.entries[index]
    }

    pub(super) fn head(&self) -> Option<&Sent> {
        self.entries.front()
    }

    /// Offset of the first byte of entry `number`.
    pub(super) fn start(&self, number: u32) -> u64 {
        self.offset(self.get(number).start)
    }

    /// Offset after entry `number`.
    pub(super) fn end_of(&self, number: u32) -> u64 {
        match self.entries.get(self.index(number) + 1) {
            Some(next) => self.offset(next.start),
            None => self.end,
        }
    }

    /// The offset whose low half is `low`, at most 4 GB before the end.
    fn offset(&self, low: u32) -> u64 {
        self.end - u64::from((self.end as u32).wrapping_sub(low))
    }

    /// Number of the entry that holds `offset`, or else of the one after the last. Most segments
    /// are of one size, so a guess by proportion is right or nearly so.
    pub(super) fn containing(&self, offset: u64) -> u32 {
        if offset >= self.end || self.is_empty() {
            return self.after_last();
        }
        let first = self.head().map_or(self.end, |sent| self.offset(sent.start));
        let ahead = offset.saturating_sub(first);
        let guess = ahead * u64::from(self.len()) / (self.end - first).max(1);
        let mut number = self.first.wrapping_add(guess as u32);
        for _ in 0..NEIGHBOURS {
            if self.start(number) > offset && number != self.first {
                number = number.wrapping_sub(1);
            } else if self.end_of(number) <= offset {
                number = number.wrapping_add(1);
            } else {
                return number;
            }
        }
        let after = self
            .entries
            .partition_point(|sent| self.offset(sent.start) <= offset);
        self.first.wrapping_add(after.saturating_sub(1) as u32)
    }

    /// Appends a segment of `seq_len` sequence numbers; its number.
    pub(super) fn push(&mut self, seq_len: u32, at: Instant, snapshot: Snapshot) -> u32 {
        let number = self.after_last();
        self.entries.push_back(Sent {
            at,
            snapshot,
            start: self.end as u32,
            links: Links::alone(number),
            tags: Tags::default(),
        });
        self.end += u64::from(seq_len);
        number
    }

    /// Removes the first entry.
    pub(super) fn pop(&mut self) {
        if self.entries.pop_front().is_some() {
            self.first = self.first.wrapping_add(1);
        }
    }

    /// Entry `number` is sent again, which gives a sample of its own.
    pub(super) fn resent(&mut self, number: u32, at: Instant, snapshot: Snapshot) {
        let sent = self.get_mut(number);
        sent.at = at;
        sent.snapshot = snapshot;
        sent.tags = sent
            .tags
            .with(Tags::EVER_RETRANS)
            .without(Tags::PARKED.with(Tags::RATED));
    }

    /// All numbers, in the order of the stream.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        let first = self.first;
        (0..self.len()).map(move |index| first.wrapping_add(index))
    }
}

#[cfg(test)]
impl Queue {
    /// Empty; the first segment will begin at `offset` and have the number `first`.
    pub(super) fn numbered(offset: u64, first: u32) -> Self {
        Self {
            first,
            ..Self::new(offset)
        }
    }
}
