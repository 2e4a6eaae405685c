//! Loss recovery: the states, and how they are entered and left (`tcp_fastretrans_alert`).
//!
//! ```text
//!              SACK or duplicate ACK             a loss is found
//!   Open ─────────────────────────▶ Disorder ───────────────────▶ Recovery
//!    ▲ ◀───────────────────────────── │                             │ │
//!    │        nothing is missing      │            timeout          │ │
//!    │                                ▼            ▼                │ │
//!    │◀────────────────────────────  Loss ◀────────────────────────── │
//!    │◀─────────────── `high` is acknowledged, or undone ─────────────┘
//! ```
//!
//! Marks lead from Open and Disorder to CWR, which ends as Recovery does and gives way to it ([`super::ecn`]).

use super::Sender;
use super::progress::Progress;
use super::timer::Timer;
use crate::cc::Recovery;

/// The least time, in microseconds, that a peer has to show that it holds the data that it SACKed.
const PATIENCE: u32 = 10_000;

impl Sender {
    pub(super) fn set_state(&mut self, state: Recovery) {
        let flight = self.flight();
        self.congestion.set_state(&flight, state);
        self.episode.set_state(state);
    }

    /// An ACK that is out of the ordinary, or comes in any state but Open.
    pub(super) fn alert(&mut self, prior_una: u64, duplicate_acks: u32, progress: &mut Progress) {
        if self.board.is_empty() {
            self.board.reset_duplicate_acks();
        }
        if progress.asks_for_reduction() {
            // The reduction is required, whatever happens later.
            self.undo.keep_ssthresh(None);
        }
        if self.check_reneging(progress) {
            return;
        }
        let whole = self.board.una() >= self.episode.high();
        match self.episode.state() {
            Recovery::Open => self.episode.forget_resent(),
            Recovery::Cwr if whole => self.leave_cwr(),
            Recovery::Recovery if whole => {
                self.board.reset_duplicate_acks();
                if self.try_undo_recovery() {
                    return;
                }
                self.end_reduction(!self.undo.is_armed());
            }
            _ => {}
        }
        let go_on = match self.episode.state() {
            Recovery::Recovery => self.alert_in_recovery(prior_una, duplicate_acks, progress),
            Recovery::Loss => self.alert_in_loss(duplicate_acks, progress),
            _ => self.alert_in_disorder(duplicate_acks, progress),
        };
        if go_on {
            self.work.retransmit_lost();
        }
    }

    fn alert_in_recovery(
        &mut self,
        prior_una: u64,
        duplicate_acks: u32,
        progress: &mut Progress,
    ) -> bool {
        if !progress.advanced() {
            if !self.sack {
                self.count_duplicate_ack(duplicate_acks);
            }
        } else if self.try_undo_partial(prior_una) {
            return false;
        }
        if self.try_undo_by_dsack() {
            self.try_to_open(progress.asks_for_reduction());
        }
        self.identify_losses(progress);
        if self.episode.state() != Recovery::Recovery {
            if !self.board.any_lost_on_the_way() {
                return self.board.lost() > 0;
            }
            self.enter_recovery(progress.asks_for_reduction());
        }
        true
    }

    fn alert_in_loss(&mut self, duplicate_acks: u32, progress: &mut Progress) -> bool {
        self.process_loss(duplicate_acks, progress);
        self.identify_losses(progress);
        if self.episode.state() == Recovery::Open || progress.any_retransmission_lost() {
            return self.alert_in_disorder(duplicate_acks, progress);
        }
        false
    }

    fn alert_in_disorder(&mut self, duplicate_acks: u32, progress: &mut Progress) -> bool {
        if !self.sack {
            if progress.advanced() {
                self.board.reset_duplicate_acks();
            }
            self.count_duplicate_ack(duplicate_acks);
        }
        if self.episode.is_unreduced() {
            self.try_undo_by_dsack();
        }
        self.identify_losses(progress);
        if !self.board.any_lost_on_the_way() {
            self.try_to_open(progress.asks_for_reduction());
            return self.board.lost() > 0;
        }
        self.enter_recovery(progress.asks_for_reduction());
        true
    }

    /// An ACK up to a segment that SACK had reported: the peer may have dropped data that it held. It gets a little
    /// time to show otherwise (`tcp_check_sack_reneging`).
    fn check_reneging(&mut self, progress: &mut Progress) -> bool {
        if !progress.is_reneging() {
            return false;
        }
        let delay = (self.rtt.srtt_us() / 2).max(PATIENCE);
        self.set_timer(Timer::Retransmission, delay.into());
        progress.keep_timer();
        true
    }

    /// Finds the segments that are lost by now (`tcp_identify_packet_loss`).
    pub(super) fn identify_losses(&mut self, progress: &mut Progress) {
        if self.board.is_empty() {
            return;
        }
        if !self.sack {
            return self.mark_lost_by_duplicates(progress.advanced());
        }
        let prior = self.board.retrans();
        if self.mark_lost_by_time() {
            progress.keep_timer();
        }
        progress.retransmissions_lost(prior > self.board.retrans());
    }

    /// Segment `number` is lost (`tcp_mark_skb_lost`); `parked`: see [`Scoreboard::mark_lost`].
    ///
    /// [`Scoreboard::mark_lost`]: super::scoreboard::Scoreboard::mark_lost
    pub(super) fn lose(&mut self, number: u32, parked: bool) {
        if self.board.mark_lost(number, parked) {
            let lost = self.rate.lose(self.board.get(number));
            let flight = self.flight();
            self.congestion.segment_lost(&flight, &lost);
        }
    }

    /// Fast recovery begins (`tcp_enter_recovery`); `ece`: with an ACK that reports marks. If marks have begun a
    /// reduction, there is no second one.
    pub(super) fn enter_recovery(&mut self, ece: bool) {
        self.forget_resent_if_none();
        self.remember_for_undo();
        let reducing = self.episode.is_reducing();
        let undoable = !reducing && !ece;
        self.undo
            .keep_ssthresh(undoable.then(|| self.current_ssthresh()));
        if !reducing {
            self.begin_reduction();
        }
        self.set_state(Recovery::Recovery);
    }

    fn try_to_open(&mut self, ece: bool) {
        self.forget_resent_if_none();
        if ece {
            self.enter_cwr();
        }
        if self.episode.state() != Recovery::Cwr {
            self.keep_open();
        }
    }

    /// Open, or Disorder while anything is missing (`tcp_try_keep_open`).
    pub(super) fn keep_open(&mut self) {
        let missing = self.board.arrived() + self.board.lost() > 0 || self.board.any_resent();
        let state = if missing {
            Recovery::Disorder
        } else {
            Recovery::Open
        };
        if self.episode.state() != state {
            self.set_state(state);
            self.episode.extend(self.board.end());
        }
    }

    /// The threshold to return to (`tcp_current_ssthresh`).
    pub(super) fn current_ssthresh(&self) -> u32 {
        self.congestion.current_ssthresh(self.episode.is_reducing())
    }
}
