//! Bytes that have arrived and are not yet read.

use super::{FIRST, pieces};
use std::collections::VecDeque;
use std::ops::Range;

/// Bytes that arrived, in whatever order.
///
/// ```text
///       read       │ readable        │ gap │ island │ gap │ island │
///  ────────────────┼─────────────────┼─────┴────────┴─────┴────────┼────▶ offset
///                start             next                            end
/// ```
#[derive(Clone, Debug)]
pub struct ReceiveStream {
    start: u64,
    next: u64,
    /// From `start` to the end of the last island, zeros in the gaps.
    held: VecDeque<u8>,
    /// Bytes beyond gaps, in order; no two ranges touch.
    islands: VecDeque<Range<u64>>,
}

impl Default for ReceiveStream {
    fn default() -> Self {
        Self {
            start: FIRST,
            next: FIRST,
            held: VecDeque::new(),
            islands: VecDeque::new(),
        }
    }
}

impl ReceiveStream {
    /// Offset of the next byte to be read.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Offset of the first byte that has not arrived.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Bytes that [`Self::read`] could return.
    pub fn readable(&self) -> usize {
        (self.next - self.start) as usize
    }

    /// `bytes` arrive at `offset`. Bytes that are already readable stay as they are. It takes memory up to the last
    /// byte: the caller passes only bytes within its window.
    pub fn insert(&mut self, offset: u64, bytes: &[u8]) {
        let old = self.next.saturating_sub(offset).min(bytes.len() as u64);
        let (offset, bytes) = (offset + old, &bytes[old as usize..]);
        if bytes.is_empty() {
            return;
        }
        self.copy(offset, bytes);
        self.note(offset..offset + bytes.len() as u64);
    }

    /// Moves up to `out.len()` bytes out; how many.
    pub fn read(&mut self, out: &mut [u8]) -> usize {
        let len = out.len().min(self.readable());
        let [front, back] = pieces(&self.held, 0, len);
        out[..front.len()].copy_from_slice(front);
        out[front.len()..len].copy_from_slice(back);
        self.held.drain(..len);
        self.start += len as u64;
        len
    }

    fn copy(&mut self, offset: u64, bytes: &[u8]) {
        let at = (offset - self.start) as usize;
        if at > self.held.len() {
            self.held.resize(at, 0);
        }
        let over = bytes.len().min(self.held.len() - at);
        let (over, beyond) = bytes.split_at(over);
        let (front, back) = self.held.as_mut_slices();
        match at.checked_sub(front.len()) {
            Some(at) => back[at..][..over.len()].copy_from_slice(over),
            None => {
                let (over, wrapped) = over.split_at(over.len().min(front.len() - at));
                front[at..][..over.len()].copy_from_slice(over);
                back[..wrapped.len()].copy_from_slice(wrapped);
            }
        }
        self.held.extend(beyond);
    }

    /// Adds the bytes that arrived to the readable ones, or to the islands.
    fn note(&mut self, mut arrived: Range<u64>) {
        // The islands that they touch are joined with them.
        let first = self
            .islands
            .partition_point(|island| island.end < arrived.start);
        let after = self
            .islands
            .partition_point(|island| island.start <= arrived.end);
        if first < after {
            arrived.start = arrived.start.min(self.islands[first].start);
            arrived.end = arrived.end.max(self.islands[after - 1].end);
            self.islands.drain(first..after);
        }
        if arrived.start == self.next {
            self.next = arrived.end;
        } else {
            self.islands.insert(first, arrived);
        }
    }
}
