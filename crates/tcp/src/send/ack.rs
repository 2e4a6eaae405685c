//! An acknowledgement, from arrival to the new window (`tcp_ack`).

use super::progress::Progress;
use super::rate::AckEffect;
use super::reordering::DUP_THRESH;
use super::{Ack, Sender};
use crate::cc::Recovery;
use tidegate_basics::time::Instant;

/// The sender's state before an ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    pub(super) una: u64,
    pub(super) highest_sacked: u64,
    in_flight: u32,
    delivered: u64,
    lost: u64,
    reneging: bool,
}

impl Sender {
    /// An ACK that is not older than the window (RFC 5961 §5.2 has been checked).
    pub fn ack(&mut self, now: Instant, ack: &Ack) {
        self.now = now;
        self.work.push();
        self.echoes.heed(ack.timestamps);
        let mut progress = Progress::new(self.board.end(), ack.data);
        let before = self.before();
        if ack.offset < before.una {
            return self.old_ack(ack, &mut progress);
        }
        if ack.offset > before.una {
            progress.advance();
            self.retries.end_row();
        }
        progress.says_else(self.update_window(ack));
        self.board.acknowledge(ack.offset);
        self.take_sacks(ack, before.una, &mut progress);
        self.retries.heard(now);
        if self.board.is_empty() {
            return self.ack_of_nothing(ack, &before, &mut progress);
        }
        self.ack_of_segments(ack, &before, &mut progress);
    }

    fn before(&self) -> Before {
        Before {
            una: self.board.una(),
            highest_sacked: self.board.highest_sacked(),
            in_flight: self.board.in_flight(),
            delivered: self.rate.delivered(),
            lost: self.rate.lost(),
            reneging: self.episode.is_reneging(),
        }
    }

    /// Takes the window of an ACK if it is newer than the one known; whether it was
    /// (`tcp_ack_update_window`).
    fn update_window(&mut self, ack: &Ack) -> bool {
        let news = self.peer.is_news(ack, self.board.una());
        if news && self.peer.update(ack) && self.unsent() > 0 {
            self.restart_after_idle();
        }
        news
    }

    fn take_sacks(&mut self, ack: &Ack, prior_una: u64, progress: &mut Progress) {
        if self.sack && !ack.sack.is_empty() {
            self.tag_sacked(ack, prior_una, progress);
            self.rate.count_delivered(progress.sack_delivered());
        }
    }

    /// An ACK came late: its SACK blocks still count.
    fn old_ack(&mut self, ack: &Ack, progress: &mut Progress) {
        if !self.sack || ack.sack.is_empty() {
            return;
        }
        let una = self.board.una();
        self.tag_sacked(ack, una, progress);
        self.alert(una, 0, progress);
    }

    /// Nothing was in flight: at most the window has opened, or a DSACK undoes a reduction.
    fn ack_of_nothing(&mut self, ack: &Ack, before: &Before, progress: &mut Progress) {
        if progress.duplicated() {
            self.alert(before.una, 0, progress);
        }
        self.answer_to_probe();
        self.answer_to_loss_probe(ack.offset, progress);
    }

    fn ack_of_segments(&mut self, ack: &Ack, before: &Before, progress: &mut Progress) {
        let cleaned = self.clean_queue(progress);
        let delivered = (self.rate.delivered() - before.delivered) as u32;
        self.heed_marks(ack.echo, delivered, progress);
        self.after_cleaning(&cleaned, before, progress);
        let prior_delivered = progress.gathering().prior_delivered();
        self.rack.adapt(prior_delivered, self.rate.delivered());
        self.answer_to_loss_probe(ack.offset, progress);
        // A refused segment causes an ACK, but no duplicate one.
        let refused = self.heed_refusals();
        progress.says_else(refused);
        let calm = self.episode.state() == Recovery::Open && !refused;
        let news = progress.sacked() || progress.asks_for_reduction();
        if !progress.is_plain() || news || !calm {
            let duplicate = progress.is_duplicate_ack();
            self.alert(before.una, u32::from(duplicate), progress);
        }
        if progress.restarts_timer() {
            self.set_transmission_timer();
        }
        self.control_congestion(before, progress);
    }

    /// The ACK's effect on the window (`tcp_rate_gen`, `tcp_cong_control`).
    fn control_congestion(&mut self, before: &Before, progress: &Progress) {
        let delivered = (self.rate.delivered() - before.delivered) as u32;
        let outcome = AckEffect {
            acked_sacked: delivered,
            marked: progress.marked(),
            losses: (self.rate.lost() - before.lost) as u32,
            prior_in_flight: before.in_flight,
            rtt: progress.rtt(),
            ack_delayed: progress.is_delayed(),
            reneging: before.reneging,
        };
        let min_rtt = self.rtt.min_us();
        let sample = self
            .rate
            .sample(self.now, progress.gathering(), &outcome, min_rtt);
        if self.congestion.controls_rate() {
            let flight = self.flight();
            self.congestion.control(&flight, &sample);
        } else if self.episode.is_reducing() {
            self.reduce_window(delivered, outcome.losses, progress.advanced());
        } else if self.may_raise_window(progress) {
            let flight = self.flight();
            self.congestion.avoid(&flight, delivered);
            self.usage.window_changed(self.now);
        }
        self.congestion.cap();
    }

    /// If segments are often reordered, any delivery counts, otherwise only delivery in order (`tcp_may_raise_cwnd`).
    fn may_raise_window(&self, progress: &Progress) -> bool {
        progress.acked() || (self.reordering.degree() > DUP_THRESH && progress.sacked())
    }
}
