//! SACK blocks: which segments have arrived (RFC 2018), which of them twice (RFC 2883), and how far segments are
//! reordered. After `tcp_sacktag_write_queue`.

use super::progress::Progress;
use super::scoreboard::Tags;
use super::{Ack, Sender};
use crate::cc::Recovery;

/// SACK blocks that a header may carry.
const BLOCKS: usize = 4;

/// Offsets, [left, right).
type Block = (u64, u64);

/// A few blocks in the order of the stream.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Blocks {
    blocks: [Block; BLOCKS],
    len: usize,
}

impl Blocks {
    /// Keeps the blocks sorted; no more can come than fit into a header.
    fn insert(&mut self, block: Block) {
        if self.len == BLOCKS {
            return;
        }
        let at = self.as_slice().partition_point(|b| b.0 <= block.0);
        self.blocks.copy_within(at..self.len, at + 1);
        self.blocks[at] = block;
        self.len += 1;
    }

    fn as_slice(&self) -> &[Block] {
        &self.blocks[..self.len]
    }
}

impl Sender {
    /// Tags the segments that the blocks of `ack` report. Ranges that the last ACK reported already are skipped, so
    /// that repeating them costs nothing.
    pub(super) fn tag_sacked(&mut self, ack: &Ack, prior_una: u64, progress: &mut Progress) {
        let duplicate = self.duplicate_block(ack, prior_una, progress);
        // Older than anything that can still matter.
        if ack.offset < prior_una.saturating_sub(self.peer.largest()) || self.board.is_empty() {
            return;
        }
        let known = if self.board.sacked() == 0 {
            Blocks::default()
        } else {
            self.known
        };
        let mut blocks = Blocks::default();
        for (index, &block) in ack.sack.iter().enumerate() {
            let twice = duplicate && index == 0;
            if !self.is_valid(block, twice) || block.1 <= prior_una {
                continue;
            }
            if twice {
                self.tag_range(block, block, true, progress);
            }
            blocks.insert(block);
        }
        for &block in blocks.as_slice() {
            self.tag_news(block, &known, progress);
        }
        self.known = blocks;
        if self.episode.state() != Recovery::Loss || self.undo.is_armed() {
            self.note_reordering(progress.lowest_reordered());
        }
    }

    /// Tags the part of a block that is not `known`.
    fn tag_news(&mut self, block: Block, known: &Blocks, progress: &mut Progress) {
        let mut from = block.0;
        for &(left, right) in known.as_slice() {
            if right <= from {
                continue;
            }
            if left >= block.1 {
                break;
            }
            if from < left {
                self.tag_range(block, (from, left), false, progress);
            }
            from = right;
        }
        if from < block.1 {
            self.tag_range(block, (from, block.1), false, progress);
        }
    }

    /// Tags the segments that lie within `block` and touch `part` of it (`tcp_sacktag_walk`).
    fn tag_range(&mut self, block: Block, part: Block, twice: bool, progress: &mut Progress) {
        let end = self.board.after_last();
        let mut number = self.board.containing(part.0);
        if number != end && self.board.start(number) < block.0 {
            number = number.wrapping_add(1);
        }
        while number != end && self.board.start(number) < part.1 {
            let past = self.board.end_of(number);
            if past > block.1 {
                break;
            }
            self.tag(number, past, twice, progress);
            number = number.wrapping_add(1);
        }
    }

    /// One segment has arrived (`tcp_sacktag_one`), `twice` if the block is a DSACK.
    fn tag(&mut self, number: u32, end: u64, twice: bool, progress: &mut Progress) {
        let sent = *self.board.get(number);
        let start = self.board.start(number);
        let mut tags = sent.tags;
        if twice && tags.has(Tags::EVER_RETRANS) {
            if self.undo.concerns(end) {
                self.undo.retransmission_was_needless(1);
            }
            if tags.has(Tags::SACKED) {
                progress.reordered(start);
            }
        }
        if end <= self.board.una() {
            // The same ACK acknowledges it cumulatively.
            return;
        }
        if !tags.has(Tags::SACKED) {
            tags = self.tag_first_time(number, (start, end), progress);
        }
        if twice {
            // The retransmission has arrived too.
            tags = tags.without(Tags::RETRANS);
        }
        self.rate.deliver(progress.gathering_mut(), &sent, end);
        self.board.retag(number, tags.with(Tags::RATED));
    }

    /// A segment is reported for the first time; its tags from now on.
    fn tag_first_time(
        &mut self,
        number: u32,
        (start, end): Block,
        progress: &mut Progress,
    ) -> Tags {
        let sent = *self.board.get(number);
        self.check_refusal(&sent);
        let mut tags = sent.tags;
        let ever = tags.has(Tags::EVER_RETRANS);
        self.rack
            .advance(self.now, (sent.at, end), ever, self.rtt.min_us());
        if tags.has(Tags::RETRANS) {
            // If it was not thought lost, the retransmission is believed to be still on its way.
            if tags.has(Tags::LOST) {
                tags = tags.without(Tags::LOST.with(Tags::RETRANS));
            }
        } else {
            if !ever {
                // A hole is filled that was never retransmitted: reordering.
                if start < self.board.highest_sacked() {
                    progress.reordered(start);
                }
                progress.original_arrived(end <= self.episode.high());
                progress.original_sacked(sent.at);
            }
            tags = tags.without(Tags::LOST);
        }
        progress.segment_sacked();
        tags.with(Tags::SACKED)
    }

    /// Whether the first block reports something that arrived twice (`tcp_check_dsack`); accounts
    /// for it.
    fn duplicate_block(&mut self, ack: &Ack, prior_una: u64, progress: &mut Progress) -> bool {
        let Some(&(left, right)) = ack.sack.first() else {
            return false;
        };
        let within = |outer: &Block| right <= outer.1 && left >= outer.0;
        if left >= ack.offset && !ack.sack.get(1).is_some_and(within) {
            return false;
        }
        let Some(segments) = self.duplicate_segments((left, right), progress) else {
            return false;
        };
        if right <= prior_una && self.undo.concerns(right) {
            self.undo.retransmission_was_needless(segments);
        }
        true
    }

    /// How many segments a DSACK reports, if it can be true (`tcp_dsack_seen`): no more than were retransmitted.
    fn duplicate_segments(&mut self, (left, right): Block, progress: &mut Progress) -> Option<u32> {
        if left >= right || right - left > self.peer.largest() {
            return None;
        }
        let bytes = right - left;
        let mss = u64::from(self.mss.full());
        let of_probe = bytes <= mss && self.loss_probe.is_some_and(|probe| probe.ends_at(right));
        let segments = bytes.div_ceil(mss) as u32;
        if !self.counters.duplicated(segments) {
            return None;
        }
        // A probe is sent by a timer, not by RACK: it says nothing about RACK's window.
        if self.reordering.seen() && !of_probe {
            self.rack.note_dsack();
        }
        progress.segments_duplicated(segments, of_probe);
        Some(segments)
    }

    /// `tcp_is_sackblock_valid`.
    fn is_valid(&self, (left, right): Block, twice: bool) -> bool {
        if right > self.board.end() || left >= right {
            return false;
        }
        if left > self.board.una() {
            return true;
        }
        let Some(marker) = self.undo.marker().filter(|_| twice) else {
            return false;
        };
        if right > self.board.una() {
            return false;
        }
        left >= marker || (right > marker && left >= right.saturating_sub(self.peer.largest()))
    }

    /// A segment at `low` that was never retransmitted arrived after later ones
    /// (`tcp_check_sack_reordering`).
    pub(super) fn note_reordering(&mut self, low: u64) {
        let Some(distance) = self.board.highest_sacked().checked_sub(low) else {
            return;
        };
        if distance == 0 {
            return;
        }
        let segments = distance.div_ceil(self.mss.full().into());
        self.reordering
            .observe(u32::try_from(segments).unwrap_or(u32::MAX));
    }
}
