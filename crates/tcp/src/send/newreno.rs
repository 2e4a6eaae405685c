//! A peer without SACK: what duplicate ACKs show (New Reno, RFC 6582).

use super::Sender;
use super::scoreboard::{Duplicates, Tags};
use crate::cc::Recovery;

impl Sender {
    /// Another duplicate ACK: one more segment has arrived, we do not know which (`tcp_add_reno_sack`).
    pub(super) fn count_duplicate_ack(&mut self, count: u32) {
        if count > 0 {
            let duplicates = self.board.add_duplicate_acks(count);
            self.note_duplicates(duplicates, 0);
        }
    }

    /// `acked` segments were acknowledged (`tcp_remove_reno_sacks`).
    pub(super) fn discount_duplicate_acks(&mut self, acked: u32) {
        let duplicates = self.board.discount_duplicate_acks(acked);
        self.note_duplicates(duplicates, acked);
    }

    /// More duplicate ACKs than segments can have caused them mean reordering
    /// (`tcp_check_reno_reordering`).
    fn note_duplicates(&mut self, duplicates: Duplicates, acked: u32) {
        self.rate.count_delivered(duplicates.delivered);
        if duplicates.exceeded {
            self.reordering.assume(self.board.len() + acked);
        }
    }

    /// The head is lost after three duplicate ACKs, and after each partial ACK (`tcp_newreno_mark_lost`).
    pub(super) fn mark_lost_by_duplicates(&mut self, advanced: bool) {
        let proven = match self.episode.state() {
            Recovery::Recovery => advanced,
            Recovery::Loss => false,
            _ => self.board.duplicate_acks() >= self.reordering.degree(),
        };
        let head = self.board.first();
        if proven && !self.board.get(head).tags.has(Tags::LOST) {
            self.lose(head, true);
        }
    }
}
