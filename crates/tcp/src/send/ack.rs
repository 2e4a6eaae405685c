//! An acknowledgement, from arrival to the new window (`tcp_ack`).

use super::clock::micros;
use super::rate::{Gathering, Outcome};
use super::scoreboard::{Sent, Tags};
use super::{Ack, Sender};
use crate::cc::{AckSample, Recovery};
use std::time::Duration;
use tidegate_time::Instant;

/// Default of `tcp_reordering`: duplicate ACKs that mean a loss (RFC 5681).
pub(super) const DUP_THRESH: u32 = 3;

/// What an ACK has brought so far: Linux's ACK flags and `tcp_sacktag_state`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    /// `una` has moved on (`FLAG_SND_UNA_ADVANCED`).
    pub(super) advanced: bool,
    /// Whole segments were acknowledged cumulatively (`FLAG_DATA_ACKED`).
    pub(super) acked: bool,
    /// Segments were reported by SACK for the first time (`FLAG_DATA_SACKED`).
    pub(super) sacked: bool,
    /// It carries data, or the window changed: no duplicate ACK (`FLAG_DATA`, `FLAG_WIN_UPDATE`).
    pub(super) not_duplicate: bool,
    /// Something arrived that was sent before the current episode and never again
    /// (`FLAG_ORIG_SACK_ACKED`).
    pub(super) original_acked: bool,
    /// Of what was acknowledged cumulatively, something had been retransmitted.
    pub(super) retransmitted_acked: bool,
    /// It carries a DSACK (`FLAG_DSACKING_ACK`), for the loss probe (`FLAG_DSACK_TLP`).
    pub(super) duplicated: bool,
    pub(super) probe_duplicated: bool,
    /// The head of the queue had been reported by SACK, and is now missing (`FLAG_SACK_RENEGING`).
    pub(super) reneging: bool,
    /// The timer is to be set anew (`FLAG_SET_XMIT_TIMER`).
    pub(super) set_timer: bool,
    /// Retransmissions were found lost (`FLAG_LOST_RETRANS`).
    pub(super) lost_retransmissions: bool,
    /// Perhaps the receiver delayed it (`FLAG_ACK_MAYBE_DELAYED`).
    delayed: bool,
    /// Segments newly reported as marked, and whether that asks for a reduction (`FLAG_ECE`).
    pub(super) marked: u32,
    pub(super) ece: bool,
    /// When the first and the last of the segments newly reported by SACK, and never
    /// retransmitted, were sent.
    pub(super) first_sacked: Option<Instant>,
    pub(super) last_sacked: Option<Instant>,
    /// The lowest offset that arrived after higher ones.
    pub(super) lowest_reordered: u64,
    /// Segments newly reported by SACK, needless retransmissions included.
    pub(super) sack_delivered: u32,
    pub(super) gathering: Gathering,
    /// The round trip of the latest segment that was acknowledged, in microseconds.
    rtt_us: Option<u32>,
}

impl Progress {
    fn rtt(&self) -> Option<Duration> {
        self.rtt_us.map(|us| Duration::from_micros(us.into()))
    }
}

/// What was taken off the queue (`tcp_clean_rtx_queue`).
#[derive(Clone, Copy, Debug, Default)]
struct Cleaned {
    segments: u32,
    /// Segments that had arrived before, as SACK or duplicate ACKs have told.
    prior_sacked: u32,
    /// When the first and the last of those were sent that were neither retransmitted nor SACKed.
    first_sent: Option<Instant>,
    last_sent: Option<Instant>,
    lowest_reordered: u64,
}

/// Round trips that an ACK measured, in microseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    /// Of the earliest segment acknowledged in order; what the timeout is reckoned from.
    in_order: Option<u32>,
    /// Of the earliest reported by SACK.
    by_sack: Option<u32>,
    /// Of the latest; what congestion control wants.
    latest: Option<u32>,
}

impl Sender {
    /// An ACK that is not older than the window (RFC 5961 §5.2 has been checked).
    pub fn ack(&mut self, now: Instant, ack: &Ack) {
        self.now = now;
        self.work.push = true;
        self.heard = ack.timestamps.filter(|_| self.timestamps);
        let prior_una = self.una;
        let mut progress = Progress {
            not_duplicate: ack.data,
            lowest_reordered: self.next(),
            ..Progress::default()
        };
        let prior_delivered = self.rate.delivered;
        if ack.offset < prior_una {
            return self.old_ack(ack, &mut progress);
        }
        if ack.offset > prior_una {
            progress.advanced = true;
            self.timeouts_in_row = 0;
        }
        let before = Before {
            una: prior_una,
            highest_sacked: self.board.highest_sacked(prior_una),
            in_flight: self.in_flight(),
            delivered: prior_delivered,
            lost: self.rate.lost,
            reneging: self.episode.reneging,
        };
        progress.not_duplicate |= self.update_window(ack);
        self.una = ack.offset;
        self.take_sacks(ack, prior_una, &mut progress);
        self.probes_unanswered = 0;
        self.heard_at = now;
        if self.board.is_empty() {
            return self.ack_of_nothing(ack, &before, &mut progress);
        }
        self.ack_of_segments(ack, &before, &mut progress);
    }

    fn take_sacks(&mut self, ack: &Ack, prior_una: u64, progress: &mut Progress) {
        if self.sack && !ack.sack.is_empty() {
            self.tag_sacked(ack, prior_una, progress);
            self.rate.delivered += u64::from(progress.sack_delivered);
        }
    }

    /// An ACK that came late: what it says by SACK still counts.
    fn old_ack(&mut self, ack: &Ack, progress: &mut Progress) {
        if !self.sack || ack.sack.is_empty() {
            return;
        }
        self.tag_sacked(ack, self.una, progress);
        self.alert(self.una, 0, progress);
    }

    /// Nothing was in flight: at most the window has opened, or a DSACK undoes a reduction.
    fn ack_of_nothing(&mut self, ack: &Ack, before: &Before, progress: &mut Progress) {
        if progress.duplicated {
            self.alert(before.una, 0, progress);
        }
        self.answer_to_probe();
        self.answer_to_loss_probe(ack.offset, progress);
    }

    fn ack_of_segments(&mut self, ack: &Ack, before: &Before, progress: &mut Progress) {
        let cleaned = self.clean_queue(progress);
        let delivered = (self.rate.delivered - before.delivered) as u32;
        self.heed_marks(ack.echo, delivered, progress);
        self.after_cleaning(&cleaned, before, progress);
        let prior_delivered = progress.gathering.prior_delivered();
        self.rack.adapt(prior_delivered, self.rate.delivered);
        self.answer_to_loss_probe(ack.offset, progress);
        // A segment that was refused brings an ACK, but no duplicate one.
        let refused = self.heed_refusals();
        progress.not_duplicate |= refused;
        let plain = progress.not_duplicate || progress.acked;
        let calm = self.episode.state == Recovery::Open;
        if !plain || progress.sacked || progress.ece || refused || !calm {
            let duplicate = !(progress.advanced || plain || progress.duplicated);
            self.alert(before.una, u32::from(duplicate), progress);
        }
        if progress.set_timer {
            self.set_transmission_timer();
        }
        self.control_congestion(before, progress);
    }

    /// Takes what is acknowledged off the queue.
    fn clean_queue(&mut self, progress: &mut Progress) -> Cleaned {
        let mut cleaned = Cleaned {
            prior_sacked: self.left_by_sack(),
            lowest_reordered: u64::MAX,
            ..Cleaned::default()
        };
        while !self.board.is_empty() {
            let number = self.board.first();
            let end = self.board.end_of(number);
            if end > self.una {
                break;
            }
            let start = self.board.start(number);
            if let Some(sent) = self.board.pop() {
                cleaned.segments += 1;
                self.take_off(&sent, (start, end), &mut cleaned, progress);
            }
        }
        progress.acked = cleaned.segments > 0;
        progress.reneging = self
            .board
            .head()
            .is_some_and(|head| head.tags.has(Tags::SACKED));
        cleaned
    }

    fn take_off(
        &mut self,
        sent: &Sent,
        (start, end): (u64, u64),
        cleaned: &mut Cleaned,
        progress: &mut Progress,
    ) {
        self.check_refusal(sent);
        let ever = sent.tags.has(Tags::EVER_RETRANS);
        let sacked = sent.tags.has(Tags::SACKED);
        if ever {
            progress.retransmitted_acked = true;
        } else if !sacked {
            cleaned.first_sent.get_or_insert(sent.at);
            cleaned.last_sent = Some(sent.at);
            cleaned.lowest_reordered = cleaned.lowest_reordered.min(start);
            progress.original_acked |= end <= self.episode.high;
        }
        if !sacked && self.sack {
            self.rate.delivered += 1;
            // An echo from before a retransmission is the original's: no news of the later one.
            if !(ever && self.echo_is_before(sent.at)) {
                self.rack
                    .advance(self.now, (sent.at, end), ever, self.rtt.min_us());
            }
        }
        self.rate.deliver(&mut progress.gathering, sent, end);
    }

    /// Round trips, reordering and the congestion control's `pkts_acked`.
    fn after_cleaning(&mut self, cleaned: &Cleaned, before: &Before, progress: &mut Progress) {
        let measured = self.measure(cleaned, before, progress);
        let updated = self.take_measurement(&measured, progress);
        if progress.acked {
            progress.set_timer = true;
            if !self.sack {
                self.discount_duplicate_acks(cleaned.segments);
                // Without SACK an advance over a retransmission proves nothing of the others.
                progress.original_acked &= !progress.retransmitted_acked;
            } else if cleaned.lowest_reordered < before.highest_sacked {
                self.note_reordering(cleaned.lowest_reordered);
            }
        } else if let (true, Some(rtt), Some(head)) = (updated, measured.by_sack, self.board.head())
        {
            // Otherwise the timeout could be put off for ever while the head stays missing.
            progress.set_timer |= rtt > micros(head.at, self.now);
        }
        let sample = AckSample {
            acked: cleaned.segments,
            rtt: progress.rtt(),
            in_flight: (self.rate.delivered - progress.gathering.prior_delivered()) as u32,
            timestamps: self.heard,
        };
        let flight = self.flight();
        self.cc.pkts_acked(&mut self.window, &flight, &sample);
    }

    fn measure(&self, cleaned: &Cleaned, before: &Before, progress: &mut Progress) -> Measured {
        let since = |sent: Option<Instant>| sent.map(|sent| micros(sent, self.now));
        let mut measured = Measured::default();
        if !progress.retransmitted_acked {
            measured.in_order = since(cleaned.first_sent);
            measured.latest = since(cleaned.last_sent);
            // A lone short segment: its ACK may well have been delayed.
            progress.delayed = cleaned.first_sent.is_some()
                && cleaned.segments == 1
                && cleaned.prior_sacked == 0
                && self.una - before.una < u64::from(self.mss)
                && progress.gathering.prior_delivered() + 1 == self.rate.delivered;
        }
        if progress.first_sacked.is_some() {
            measured.by_sack = since(progress.first_sacked);
            measured.latest = since(progress.last_sacked);
        }
        measured
    }

    /// Updates the estimates; whether there was anything to learn (`tcp_ack_update_rtt`).
    fn take_measurement(&mut self, measured: &Measured, progress: &mut Progress) -> bool {
        let mut latest = measured.latest;
        let mut sample = measured.in_order.or(measured.by_sack);
        // Only where retransmissions make it ambiguous (Karn) are timestamps, which tick in
        // milliseconds, the better clock. RTTM's rule: only if the ACK advances.
        if sample.is_none() && progress.acked {
            sample = self.echo().map(|echo| {
                let ticks = self.tick(self.now).wrapping_sub(echo);
                ticks.max(1).saturating_mul(1000)
            });
            latest = sample;
        }
        progress.rtt_us = latest;
        let (Some(sample), Some(latest)) = (sample, latest) else {
            return false;
        };
        self.rtt.sample_min(self.now, latest, progress.delayed);
        self.rtt.sample(sample, self.una, self.board.end());
        true
    }

    /// The ACK's effect on the window (`tcp_rate_gen`, `tcp_cong_control`).
    fn control_congestion(&mut self, before: &Before, progress: &Progress) {
        let delivered = (self.rate.delivered - before.delivered) as u32;
        let outcome = Outcome {
            acked_sacked: delivered,
            marked: progress.marked,
            losses: (self.rate.lost - before.lost) as u32,
            prior_in_flight: before.in_flight,
            rtt: progress.rtt(),
            ack_delayed: progress.delayed,
            reneging: before.reneging,
        };
        let min_rtt = self.rtt.min_us();
        let sample = self
            .rate
            .sample(self.now, &progress.gathering, &outcome, min_rtt);
        if self.cc.controls_rate() {
            let flight = self.flight();
            self.cc.control(&mut self.window, &flight, &sample);
        } else if self.is_reducing() {
            self.reduce_window(delivered, outcome.losses, progress.advanced);
        } else if self.may_raise_window(progress) {
            let flight = self.flight();
            self.cc.cong_avoid(&mut self.window, &flight, delivered);
            self.usage.full_at = self.now;
        }
        self.window.cwnd = self.window.cwnd.min(self.window.clamp);
    }

    /// Where segments are reordered much, any delivery counts, else only in order
    /// (`tcp_may_raise_cwnd`).
    fn may_raise_window(&self, progress: &Progress) -> bool {
        progress.acked || (self.episode.reordering > DUP_THRESH && progress.sacked)
    }

    /// Takes the window of an ACK if it is newer than the one known; whether it was
    /// (`tcp_ack_update_window`, which says why RFC 9293's SND.WL2 is not needed).
    fn update_window(&mut self, ack: &Ack) -> bool {
        let newer = ack.offset > self.una
            || ack.peer_offset > self.window_from
            || (ack.peer_offset == self.window_from
                && (ack.window > self.peer_window || ack.window == 0));
        if newer {
            self.window_from = ack.peer_offset;
            if ack.window != self.peer_window {
                self.peer_window = ack.window;
                self.max_window = self.max_window.max(ack.window);
                if self.unsent() > 0 {
                    self.restart_after_idle();
                }
            }
        }
        newer
    }

    /// Our timestamp clock, as segments carry it.
    pub(super) fn tick(&self, at: Instant) -> u32 {
        crate::connection::timestamps::tick(at).wrapping_add(self.timestamp_offset)
    }

    /// Whether the ACK answers something sent before `at` (`tcp_tsopt_ecr_before`).
    pub(super) fn echo_is_before(&self, at: Instant) -> bool {
        self.echo()
            .is_some_and(|echo| (echo.wrapping_sub(self.tick(at)) as i32) < 0)
    }

    fn echo(&self) -> Option<u32> {
        self.heard.map(|option| option.ecr).filter(|&ecr| ecr != 0)
    }
}

/// How things stood before an ACK.
#[derive(Clone, Copy, Debug)]
struct Before {
    una: u64,
    highest_sacked: u64,
    in_flight: u32,
    delivered: u64,
    lost: u64,
    reneging: bool,
}
