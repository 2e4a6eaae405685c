//! Undoing a reduction that proves to have been for nothing (`tcp_try_undo_recovery` and its
//! companions): when an echoed timestamp shows that the original arrived (Eifel, RFC 3522), when
//! DSACKs report every retransmission as needless (RFC 3708), or when F-RTO finds that a timeout
//! came too early (RFC 5682).

use super::Sender;
use crate::cc::Recovery;

/// What is needed to undo a reduction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// `una` when the window was reduced, while that may be undone.
    marker: Option<u64>,
    /// Retransmissions that no DSACK has reported yet; none: nothing was retransmitted.
    retrans: Option<u32>,
    /// The threshold before the reduction.
    prior_ssthresh: Option<u32>,
}

impl Undo {
    /// The window is reduced while everything before `una` is acknowledged and `resent` retransmissions are
    /// out.
    fn remember(&mut self, una: u64, resent: u32) {
        self.marker = Some(una);
        self.retrans = Some(resent).filter(|&resent| resent > 0);
    }

    /// The threshold before the reduction; none: the reduction is required.
    pub(super) fn keep_ssthresh(&mut self, prior: Option<u32>) {
        self.prior_ssthresh = prior;
    }

    /// The reduction is not undone any more.
    pub(super) fn disarm(&mut self) {
        self.marker = None;
    }

    /// Whether the reduction may be undone.
    pub(super) fn is_armed(&self) -> bool {
        self.marker.is_some()
    }

    /// What was acknowledged when the window was reduced, while that may be undone.
    pub(super) fn marker(&self) -> Option<u64> {
        self.marker
    }

    /// Whether the data that end at `end` were sent, or sent again, since the reduction, while that may be undone.
    pub(super) fn concerns(&self, end: u64) -> bool {
        self.marker.is_some_and(|marker| end > marker)
    }

    /// A segment was retransmitted.
    pub(super) fn resent(&mut self) {
        self.retrans = Some(self.retrans.unwrap_or(0) + 1);
    }

    /// A DSACK reports `segments` retransmissions.
    pub(super) fn retransmission_was_needless(&mut self, segments: u32) {
        if let Some(left) = self.retrans.filter(|&left| left > 0) {
            self.retrans = Some(left.saturating_sub(segments));
        }
    }

    /// Whether DSACKs have reported every retransmission as needless.
    fn is_proven_by_dsack(&self) -> bool {
        self.is_armed() && self.retrans == Some(0)
    }
}

impl Sender {
    pub(super) fn remember_for_undo(&mut self) {
        let resent = self.board.retrans() + u32::from(self.probe_repeats());
        self.undo.remember(self.board.una(), resent);
    }

    /// Whether the segment that arrived was sent before the first retransmission (`tcp_packet_delayed`).
    fn packet_was_delayed(&self) -> bool {
        match self.episode.first_resent() {
            Some(at) => self.echoes.is_before(at),
            None => self.sack || self.board.una() < self.episode.high(),
        }
    }

    fn may_undo(&self) -> bool {
        self.undo.is_armed() && (self.undo.is_proven_by_dsack() || self.packet_was_delayed())
    }

    /// `tcp_undo_cwnd_reduction`; `unmark`: nor are segments lost any more.
    fn undo_reduction(&mut self, unmark: bool) {
        if unmark {
            self.board.unmark_losses();
        }
        if let Some(prior) = self.undo.prior_ssthresh {
            let flight = self.flight();
            if self.congestion.undo(&flight, prior) {
                self.marks.withdraw_cwr();
            }
        }
        self.usage.window_changed(self.now);
        self.undo.disarm();
        self.rack.look_again();
        self.counters.undone();
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
        self.episode.end_reneging();
        false
    }

    pub(super) fn try_undo_by_dsack(&mut self) -> bool {
        let undo = self.undo.is_proven_by_dsack();
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
        self.retries.end_row();
        if self.holds_state() {
            return true;
        }
        if frto || self.sack {
            self.set_state(Recovery::Open);
            self.episode.end_reneging();
        }
        true
    }

    /// A partial ACK of a segment that was only late. Whether retransmissions are still out: then
    /// nothing more is marked lost.
    pub(super) fn try_undo_partial(&mut self, prior_una: u64) -> bool {
        if !self.undo.is_armed() || !self.packet_was_delayed() {
            return false;
        }
        self.note_reordering(prior_una);
        if self.board.retrans() > 0 {
            return true;
        }
        self.forget_resent_if_none();
        self.undo_reduction(true);
        self.keep_open();
        false
    }

    fn holds_state(&mut self) -> bool {
        let holds = !self.sack && self.board.una() == self.episode.high();
        if holds {
            self.forget_resent_if_none();
        }
        holds
    }

    /// The time of the episode's first retransmission no longer matters, unless some are still in flight.
    pub(super) fn forget_resent_if_none(&mut self) {
        if !self.board.any_resent() {
            self.episode.forget_resent();
        }
    }
}
