//! After a retransmission timeout: which segments are lost, and whether the timeout came too early (F-RTO, RFC 5682).

use super::Sender;
use super::progress::Progress;
use super::reordering::DUP_THRESH;
use super::scoreboard::Tags;
use crate::cc::{Event, Recovery};

impl Sender {
    /// A timeout: all segments are lost but those sent a moment ago (`tcp_enter_loss`).
    pub(super) fn enter_loss(&mut self) {
        let new = self.episode.is_before_recovery();
        let unreduced = self.episode.is_unreduced();
        self.mark_lost_by_timeout();
        let first_in_row = self.episode.state() == Recovery::Loss && !self.retries.in_row();
        if unreduced || self.episode.high() <= self.board.una() || first_in_row {
            self.undo.keep_ssthresh(Some(self.current_ssthresh()));
            let flight = self.flight();
            self.congestion.reduce_threshold(&flight);
            self.tell_congestion(Event::Timeout);
            self.remember_for_undo();
        }
        self.congestion.collapse(self.board.in_flight());
        self.usage.window_changed(self.now);
        // Many duplicate ACKs, and still a timeout: reordering was overestimated.
        if unreduced && self.board.arrived() >= DUP_THRESH {
            self.reordering.overestimated();
        }
        self.set_state(Recovery::Loss);
        self.episode.extend(self.board.end());
        self.loss_probe = None;
        self.marks.queue_cwr();
        // RFC 5682 §3.1 step 1; §3.2: also when the same segment times out again.
        self.episode.set_frto(new || self.retries.in_row());
    }

    /// `tcp_timeout_mark_lost`.
    fn mark_lost_by_timeout(&mut self) {
        let head = self.board.first();
        let reneging = self.board.is_head_sacked();
        if reneging {
            self.episode.reneged();
        }
        self.board.reset_duplicate_acks();
        for number in self.board.numbers() {
            let sent = *self.board.get(number);
            if reneging {
                self.board.retag(number, sent.tags.without(Tags::SACKED));
            } else if number != head && self.rack.remaining(self.now, sent.at, 0).is_some() {
                continue;
            }
            self.lose(number, true);
        }
    }

    /// An ACK after a timeout (`tcp_process_loss`).
    pub(super) fn process_loss(&mut self, duplicate_acks: u32, progress: &Progress) {
        let recovered = self.board.una() >= self.episode.high();
        if progress.advanced() && self.try_undo_loss(false) {
            return;
        }
        if self.episode.in_frto() && self.go_on_with_frto(duplicate_acks, progress, recovered) {
            return;
        }
        if recovered {
            self.try_undo_recovery();
            return;
        }
        if !self.sack {
            if self.board.end() > self.episode.high() && duplicate_acks > 0 {
                self.count_duplicate_ack(duplicate_acks);
            } else if progress.advanced() {
                self.board.reset_duplicate_acks();
            }
        }
        self.work.retransmit_lost();
    }

    /// F-RTO (RFC 5682 §3.1); `recovered`: all that was sent before the timeout is acknowledged. Returns whether the
    /// ACK calls for nothing else.
    fn go_on_with_frto(
        &mut self,
        duplicate_acks: u32,
        progress: &Progress,
        recovered: bool,
    ) -> bool {
        // Step 3.b: a segment arrives that was sent before the timeout, and not again since.
        if progress.original_acked() && self.try_undo_loss(true) {
            return true;
        }
        if self.board.end() > self.episode.high() {
            if progress.sacked() || duplicate_acks > 0 {
                // Step 3.a: the loss was real.
                self.episode.set_frto(false);
            }
        } else if progress.advanced() && !recovered {
            self.episode.extend(self.board.end());
            if self.unsent() > 0 && self.window_end() > self.board.end() {
                // Step 2.b: new data will tell.
                self.work.send_new_first();
                return true;
            }
            self.episode.set_frto(false);
        }
        false
    }
}
