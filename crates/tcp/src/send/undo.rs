//! Undoing a reduction that proves to have been for nothing (`tcp_try_undo_recovery` and its
//! companions): when an echoed timestamp shows that the original arrived (Eifel, RFC 3522), when
//! DSACKs report every retransmission as needless (RFC 3708), or when F-RTO finds that a timeout
//! came too early (RFC 5682).

use super::Sender;
use crate::cc::Recovery;

impl Sender {
    pub(super) fn remember_for_undo(&mut self) {
        self.episode.undo_marker = Some(self.una);
        let probe = self.tlp.is_some_and(|tlp| tlp.retransmitted);
        let resent = self.board.retrans() + u32::from(probe);
        self.episode.undo_retrans = Some(resent).filter(|&resent| resent > 0);
    }

    /// Whether what arrived was sent before the first retransmission (`tcp_packet_delayed`).
    fn packet_was_delayed(&self) -> bool {
        match self.episode.first_resent {
            Some(at) => self.echo_is_before(at),
            None => self.sack || self.una < self.episode.high,
        }
    }

    fn may_undo(&self) -> bool {
        self.episode.undo_marker.is_some()
            && (self.episode.undo_retrans == Some(0) || self.packet_was_delayed())
    }

    /// `tcp_undo_cwnd_reduction`; `unmark`: nor is anything lost.
    fn undo_reduction(&mut self, unmark: bool) {
        if unmark {
            self.board.unmark_losses();
        }
        if let Some(prior) = self.episode.prior_ssthresh {
            let flight = self.flight();
            self.window.cwnd = self.cc.undo_cwnd(&self.window, &flight);
            if prior > self.window.ssthresh {
                self.window.ssthresh = prior;
                self.marks.withdraw_cwr();
            }
        }
        self.usage.full_at = self.now;
        self.episode.undo_marker = None;
        self.rack.advanced = true;
        self.undos += 1;
    }

    /// Everything sent before the episode has arrived. Whether the state is held, for a peer
    /// without SACK, until something above `high` is acknowledged (RFC 6582 §3.2 step 1).
    pub(super) fn try_undo_recovery(&mut self) -> bool {
        if self.may_undo() {
            self.undo_reduction(false);
        } else {
            self.rack.recovered();
        }
        if self.holds_state() {
            return true;
        }
        self.set_state(Recovery::Open);
        self.episode.reneging = false;
        false
    }

    pub(super) fn try_undo_by_dsack(&mut self) -> bool {
        let undo = self.episode.undo_marker.is_some() && self.episode.undo_retrans == Some(0);
        if undo {
            self.rack.undone_by_dsack();
            self.undo_reduction(false);
        }
        undo
    }

    /// After a partial ACK, or by F-RTO.
    pub(super) fn try_undo_loss(&mut self, frto: bool) -> bool {
        if !frto && !self.may_undo() {
            return false;
        }
        self.undo_reduction(true);
        self.timeouts_in_row = 0;
        if self.holds_state() {
            return true;
        }
        if frto || self.sack {
            self.set_state(Recovery::Open);
            self.episode.reneging = false;
        }
        true
    }

    /// A partial ACK of a segment that was only late. Whether retransmissions are still out: then
    /// nothing more is marked lost.
    pub(super) fn try_undo_partial(&mut self, prior_una: u64) -> bool {
        if self.episode.undo_marker.is_none() || !self.packet_was_delayed() {
            return false;
        }
        self.note_reordering(prior_una);
        if self.board.retrans() > 0 {
            return true;
        }
        if !self.any_resent() {
            self.episode.first_resent = None;
        }
        self.undo_reduction(true);
        self.keep_open();
        false
    }

    fn holds_state(&mut self) -> bool {
        let holds = !self.sack && self.una == self.episode.high;
        if holds && !self.any_resent() {
            self.episode.first_resent = None;
        }
        holds
    }
}
