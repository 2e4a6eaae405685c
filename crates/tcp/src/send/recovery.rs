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
use super::ack::{DUP_THRESH, Progress};
use super::output::Resend;
use super::scoreboard::{Sent, Tags};
use super::timer::Timer;
use crate::cc::{Event, Recovery, Window};
use tidegate_time::Instant;

/// Least time, in microseconds, for a peer to show that it has what SACK said it has.
const PATIENCE: u32 = 10_000;

/// What recovery remembers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Episode {
    pub(super) state: Recovery,
    /// The end of what was sent when the state was entered (`high_seq`).
    pub(super) high: u64,
    /// `una` when the window was reduced, while that may be undone.
    pub(super) undo_marker: Option<u64>,
    /// Retransmissions that no DSACK has reported yet; none: nothing was retransmitted.
    pub(super) undo_retrans: Option<u32>,
    /// The threshold before the reduction.
    pub(super) prior_ssthresh: Option<u32>,
    /// When the first retransmission of the episode was sent (`retrans_stamp`).
    pub(super) first_resent: Option<Instant>,
    /// F-RTO is under way.
    pub(super) frto: bool,
    /// The peer has gone back on its SACKs; no delivery rate is measured until that is over.
    pub(super) reneging: bool,
    /// Segments by which one may be late without being lost.
    pub(super) reordering: u32,
    pub(super) reordering_seen: bool,
}

impl Episode {
    pub(super) fn new() -> Self {
        Self {
            state: Recovery::Open,
            high: 0,
            undo_marker: None,
            undo_retrans: None,
            prior_ssthresh: None,
            first_resent: None,
            frto: false,
            reneging: false,
            reordering: DUP_THRESH,
            reordering_seen: false,
        }
    }

    /// A DSACK reports `segments` retransmissions.
    pub(super) fn retransmission_was_needless(&mut self, segments: u32) {
        if let Some(left) = self.undo_retrans.filter(|&left| left > 0) {
            self.undo_retrans = Some(left.saturating_sub(segments));
        }
    }

    /// A segment was retransmitted at `at`.
    pub(super) fn retransmitted(&mut self, at: Instant) {
        self.first_resent.get_or_insert(at);
        self.undo_retrans = Some(self.undo_retrans.unwrap_or(0) + 1);
    }

    pub(super) fn is_before_recovery(&self) -> bool {
        self.state < Recovery::Recovery
    }

    /// Whether no reduction is under way, nor a timeout's aftermath.
    fn is_unreduced(&self) -> bool {
        self.state <= Recovery::Disorder
    }
}

impl Sender {
    pub(super) fn set_state(&mut self, state: Recovery) {
        let flight = self.flight();
        self.cc.set_state(&mut self.window, &flight, state);
        self.episode.state = state;
    }

    /// An ACK that is out of the ordinary, or comes in any state but Open.
    pub(super) fn alert(&mut self, prior_una: u64, duplicate_acks: u32, progress: &mut Progress) {
        if self.board.is_empty() {
            self.duplicate_acks = 0;
        }
        if progress.ece {
            // The reduction is required, whatever else turns out.
            self.episode.prior_ssthresh = None;
        }
        if self.check_reneging(progress) {
            return;
        }
        let whole = self.una >= self.episode.high;
        match self.episode.state {
            Recovery::Open => self.episode.first_resent = None,
            Recovery::Cwr if whole => self.leave_cwr(),
            Recovery::Recovery if whole => {
                self.duplicate_acks = 0;
                if self.try_undo_recovery() {
                    return;
                }
                self.end_reduction(self.episode.undo_marker.is_none());
            }
            _ => {}
        }
        let go_on = match self.episode.state {
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
        if !progress.advanced {
            if !self.sack {
                self.count_duplicate_ack(duplicate_acks);
            }
        } else if self.try_undo_partial(prior_una) {
            return false;
        }
        if self.try_undo_by_dsack() {
            self.try_to_open(progress.ece);
        }
        self.identify_losses(progress);
        if self.episode.state != Recovery::Recovery {
            if self.board.lost() == self.board.refused() {
                return self.board.lost() > 0;
            }
            self.enter_recovery(progress.ece);
        }
        true
    }

    fn alert_in_loss(&mut self, duplicate_acks: u32, progress: &mut Progress) -> bool {
        self.process_loss(duplicate_acks, progress);
        self.identify_losses(progress);
        if self.episode.state == Recovery::Open || progress.lost_retransmissions {
            return self.alert_in_disorder(duplicate_acks, progress);
        }
        false
    }

    fn alert_in_disorder(&mut self, duplicate_acks: u32, progress: &mut Progress) -> bool {
        if !self.sack {
            if progress.advanced {
                self.duplicate_acks = 0;
            }
            self.count_duplicate_ack(duplicate_acks);
        }
        if self.episode.is_unreduced() {
            self.try_undo_by_dsack();
        }
        self.identify_losses(progress);
        if self.board.lost() == self.board.refused() {
            self.try_to_open(progress.ece);
            return self.board.lost() > 0;
        }
        self.enter_recovery(progress.ece);
        true
    }

    /// An ACK up to a segment that SACK had reported: the peer may have dropped what it held. It is
    /// given a little time to show otherwise (`tcp_check_sack_reneging`).
    fn check_reneging(&mut self, progress: &mut Progress) -> bool {
        if !(progress.reneging && progress.advanced) {
            return false;
        }
        let delay = (self.rtt.srtt_us() / 2).max(PATIENCE);
        self.set_timer(Timer::Retransmission, delay.into());
        progress.set_timer = false;
        true
    }

    /// What is lost by now (`tcp_identify_packet_loss`).
    pub(super) fn identify_losses(&mut self, progress: &mut Progress) {
        if self.board.is_empty() {
            return;
        }
        if !self.sack {
            return self.mark_lost_by_duplicates(progress.advanced);
        }
        let prior = self.board.retrans();
        if self.mark_lost_by_time() {
            progress.set_timer = false;
        }
        progress.lost_retransmissions |= prior > self.board.retrans();
    }

    /// New Reno (RFC 6582): the head is lost after three duplicate ACKs, and after each partial
    /// ACK (`tcp_newreno_mark_lost`).
    fn mark_lost_by_duplicates(&mut self, advanced: bool) {
        let proven = match self.episode.state {
            Recovery::Recovery => advanced,
            Recovery::Loss => false,
            _ => self.duplicate_acks >= self.episode.reordering,
        };
        let head = self.board.first();
        if proven && !self.board.get(head).tags.has(Tags::LOST) {
            self.lose(head, true);
        }
    }

    /// Segment `number` is lost (`tcp_mark_skb_lost`); `parked`: see [`Scoreboard::mark_lost`].
    ///
    /// [`Scoreboard::mark_lost`]: super::scoreboard::Scoreboard::mark_lost
    pub(super) fn lose(&mut self, number: u32, parked: bool) {
        if self.board.mark_lost(number, parked) {
            self.rate.lost += 1;
            let lost = self.rate.lost_segment(self.board.get(number));
            let flight = self.flight();
            self.cc.segment_lost(&mut self.window, &flight, &lost);
        }
    }

    /// Fast recovery begins (`tcp_enter_recovery`); `ece`: with an ACK that reports marks. Where marks have
    /// begun a reduction, there is no second one.
    pub(super) fn enter_recovery(&mut self, ece: bool) {
        if !self.any_resent() {
            self.episode.first_resent = None;
        }
        self.remember_for_undo();
        let reducing = self.is_reducing();
        let undoable = !reducing && !ece;
        self.episode.prior_ssthresh = undoable.then(|| self.current_ssthresh());
        if !reducing {
            self.begin_reduction();
        }
        self.set_state(Recovery::Recovery);
    }

    /// A timeout: all but what was sent a moment ago is lost (`tcp_enter_loss`).
    pub(super) fn enter_loss(&mut self) {
        let new = self.episode.is_before_recovery();
        let unreduced = self.episode.is_unreduced();
        self.mark_lost_by_timeout();
        let first_in_row = self.episode.state == Recovery::Loss && self.timeouts_in_row == 0;
        if unreduced || self.episode.high <= self.una || first_in_row {
            self.episode.prior_ssthresh = Some(self.current_ssthresh());
            self.window.prior_cwnd = self.window.cwnd;
            let flight = self.flight();
            self.window.ssthresh = self.cc.ssthresh(&self.window, &flight);
            self.cc_event(Event::Timeout);
            self.remember_for_undo();
        }
        self.window.cwnd = self.in_flight() + 1;
        self.window.count = 0;
        self.usage.full_at = self.now;
        // Many duplicate ACKs, and still a timeout: reordering was overestimated.
        if unreduced && self.left_by_sack() >= DUP_THRESH {
            self.episode.reordering = self.episode.reordering.min(DUP_THRESH);
        }
        self.set_state(Recovery::Loss);
        self.episode.high = self.next();
        self.tlp = None;
        self.marks.queue_cwr();
        // RFC 5682 §3.1 step 1; §3.2: also when the same segment times out again.
        self.episode.frto = new || self.timeouts_in_row > 0;
    }

    /// `tcp_timeout_mark_lost`.
    fn mark_lost_by_timeout(&mut self) {
        let head = self.board.first();
        let reneging = self
            .board
            .head()
            .is_some_and(|head| head.tags.has(Tags::SACKED));
        self.episode.reneging |= reneging;
        self.duplicate_acks = 0;
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
    fn process_loss(&mut self, duplicate_acks: u32, progress: &Progress) {
        let recovered = self.una >= self.episode.high;
        if progress.advanced && self.try_undo_loss(false) {
            return;
        }
        if self.episode.frto {
            // Step 3.b: what was sent before the timeout, and not since, arrives.
            if progress.original_acked && self.try_undo_loss(true) {
                return;
            }
            if self.next() > self.episode.high {
                if progress.sacked || duplicate_acks > 0 {
                    // Step 3.a: the loss was real.
                    self.episode.frto = false;
                }
            } else if progress.advanced && !recovered {
                self.episode.high = self.next();
                if self.unsent() > 0 && self.window_end() > self.next() {
                    // Step 2.b: new data will tell.
                    self.work.resend = Resend::NewFirst;
                    return;
                }
                self.episode.frto = false;
            }
        }
        if recovered {
            self.try_undo_recovery();
            return;
        }
        if !self.sack {
            if self.next() > self.episode.high && duplicate_acks > 0 {
                self.count_duplicate_ack(duplicate_acks);
            } else if progress.advanced {
                self.duplicate_acks = 0;
            }
        }
        self.work.retransmit_lost();
    }

    fn try_to_open(&mut self, ece: bool) {
        if !self.any_resent() {
            self.episode.first_resent = None;
        }
        if ece {
            self.enter_cwr();
        }
        if self.episode.state != Recovery::Cwr {
            self.keep_open();
        }
    }

    /// Open, or Disorder while anything is missing (`tcp_try_keep_open`).
    pub(super) fn keep_open(&mut self) {
        let missing = self.left_by_sack() + self.board.lost() > 0 || self.any_resent();
        let state = if missing {
            Recovery::Disorder
        } else {
            Recovery::Open
        };
        if self.episode.state != state {
            self.set_state(state);
            self.episode.high = self.next();
        }
    }

    /// Whether retransmissions are out, or may be (`tcp_any_retrans_done`).
    pub(super) fn any_resent(&self) -> bool {
        let head_resent = |head: &Sent| head.tags.has(Tags::EVER_RETRANS);
        self.board.retrans() > 0 || self.board.head().is_some_and(head_resent)
    }

    /// The threshold to return to: while it is not reduced, three quarters of the window at least
    /// (`tcp_current_ssthresh`).
    pub(super) fn current_ssthresh(&self) -> u32 {
        let Window { cwnd, ssthresh, .. } = self.window;
        if self.is_reducing() {
            ssthresh
        } else {
            ssthresh.max(cwnd / 2 + cwnd / 4)
        }
    }
}
