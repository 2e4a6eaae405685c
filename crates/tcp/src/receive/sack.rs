//! Which SACK blocks to send (RFC 2018 §4, RFC 2883).

use super::reassembly::Range;
use crate::{SackBlocks, Seq};

/// Blocks beyond this are not sure to fit, or to arrive in time (Linux's `TCP_SACK_BLOCKS_EXPECTED`).
const EXPECTED: usize = 2;

/// The blocks of the latest segments, the most recent first, as Linux keeps them (`selective_acks`): a block that has
/// fallen out of the list comes back with the range that arrives, and not, as RFC 2018 demands, with everything that
/// touches it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sack {
    blocks: [Option<Range>; SackBlocks::MAX],
    /// The range that the last segment repeated; reported once.
    duplicate: Option<Range>,
}

impl Sack {
    /// A segment has come out of order (`tcp_sack_new_ofo_skb`). Returns whether blocks are about to fall out of those
    /// that an ACK can report, so that one must be sent at once.
    pub(super) fn out_of_order(&mut self, range: Range) -> bool {
        let extended = self
            .blocks
            .iter()
            .position(|b| b.is_some_and(|b| b.touches(range)));
        let at = extended.unwrap_or_else(|| {
            let free = self.blocks.iter().position(Option::is_none);
            free.unwrap_or(self.blocks.len() - 1)
        });
        let first = extended
            .and_then(|i| self.blocks[i])
            .map_or(range, |b| b.hull(range));
        self.blocks[..=at].rotate_right(1);
        self.blocks[0] = Some(first);
        if extended.is_some() {
            self.coalesce(first);
        }
        at >= EXPECTED
    }

    /// The first block has grown to `first`: it takes in those that it touches now.
    fn coalesce(&mut self, mut first: Range) {
        for i in 1..self.blocks.len() {
            if let Some(other) = self.blocks[i].take_if(|b| b.touches(first)) {
                first = first.hull(other);
            }
        }
        self.blocks[0] = Some(first);
        self.close_gaps();
    }

    /// Everything before `next` is acknowledged cumulatively (`tcp_sack_remove`).
    pub(super) fn advance(&mut self, next: u64) {
        for block in &mut self.blocks {
            block.take_if(|b| b.start <= next);
        }
        self.close_gaps();
    }

    /// Nothing is out of order any more, or out-of-order data were dropped.
    pub(super) fn clear(&mut self) {
        self.blocks = Default::default();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.blocks[0].is_none()
    }

    fn close_gaps(&mut self) {
        let mut kept = 0;
        for i in 0..self.blocks.len() {
            if let Some(block) = self.blocks[i].take() {
                self.blocks[kept] = Some(block);
                kept += 1;
            }
        }
    }

    /// The range that the segment in hand repeats, if any.
    pub(super) fn set_duplicate(&mut self, duplicate: Option<Range>) {
        self.duplicate = duplicate;
    }

    /// Blocks to be reported, the duplicate included.
    pub(super) fn count(&self) -> usize {
        usize::from(self.duplicate.is_some()) + self.blocks.iter().flatten().count()
    }

    /// The option's blocks: the duplicate first (RFC 2883 §4), `room` in all.
    pub(super) fn report(&mut self, initial: Seq, room: usize) -> SackBlocks {
        let mut option = SackBlocks::default();
        if self.duplicate.is_none() && self.is_empty() {
            return option;
        }
        let blocks = self.blocks.iter().flatten().copied();
        for block in self.duplicate.take().into_iter().chain(blocks).take(room) {
            option.push(Seq::at(initial, block.start), Seq::at(initial, block.end));
        }
        option
    }
}

#[cfg(test)]
mod tests;
