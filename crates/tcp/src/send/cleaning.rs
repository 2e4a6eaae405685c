//! What an ACK removes from the queue (`tcp_clean_rtx_queue`), and the round trips that this measures.

use super::Sender;
use super::ack::Before;
use super::clock::micros;
use super::progress::Progress;
use super::scoreboard::{Sent, Tags};
use crate::cc::AckSample;
use tidegate_basics::time::Instant;

/// The segments that were removed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cleaned {
    segments: u32,
    /// Segments that had arrived before, as SACK or duplicate ACKs showed.
    prior_sacked: u32,
    /// When the first and the last of those were sent that were neither retransmitted nor SACKed.
    first_sent: Option<Instant>,
    last_sent: Option<Instant>,
    lowest_reordered: u64,
}

/// Round trips that an ACK measured, in microseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Measured {
    /// Of the earliest segment acknowledged in order; the timeout is computed from it.
    in_order: Option<u32>,
    /// Of the earliest reported by SACK.
    by_sack: Option<u32>,
    /// Of the latest; congestion control uses it.
    latest: Option<u32>,
}

impl Sender {
    /// Removes what is acknowledged from the queue.
    pub(super) fn clean_queue(&mut self, progress: &mut Progress) -> Cleaned {
        let mut cleaned = Cleaned {
            segments: 0,
            prior_sacked: self.board.arrived(),
            first_sent: None,
            last_sent: None,
            lowest_reordered: u64::MAX,
        };
        while !self.board.is_empty() {
            let number = self.board.first();
            let end = self.board.end_of(number);
            if end > self.board.una() {
                break;
            }
            let start = self.board.start(number);
            if let Some(sent) = self.board.pop() {
                cleaned.segments += 1;
                self.take_off(&sent, (start, end), &mut cleaned, progress);
            }
        }
        progress.cleaned(cleaned.segments, self.board.is_head_sacked());
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
            progress.retransmission_acked();
        } else if !sacked {
            cleaned.first_sent.get_or_insert(sent.at);
            cleaned.last_sent = Some(sent.at);
            cleaned.lowest_reordered = cleaned.lowest_reordered.min(start);
            progress.original_arrived(end <= self.episode.high());
        }
        if !sacked && self.sack {
            self.rate.count_delivered(1);
            // An echo from before a retransmission is the original's, and says nothing about the later one.
            if !(ever && self.echoes.is_before(sent.at)) {
                self.rack
                    .advance(self.now, (sent.at, end), ever, self.rtt.min_us());
            }
        }
        self.rate.deliver(progress.gathering_mut(), sent, end);
    }

    /// Round trips, reordering and the congestion control's `pkts_acked`.
    pub(super) fn after_cleaning(
        &mut self,
        cleaned: &Cleaned,
        before: &Before,
        progress: &mut Progress,
    ) {
        let measured = self.measure(cleaned, before, progress);
        let updated = self.take_measurement(&measured, progress);
        if progress.acked() {
            progress.restart_timer(true);
            if !self.sack {
                self.discount_duplicate_acks(cleaned.segments);
                progress.doubt_originals();
            } else if cleaned.lowest_reordered < before.highest_sacked {
                self.note_reordering(cleaned.lowest_reordered);
            }
        } else if let (true, Some(rtt), Some(head)) = (updated, measured.by_sack, self.board.head())
        {
            // Otherwise the timeout could be put off for ever while the head stays missing.
            progress.restart_timer(rtt > micros(head.at, self.now));
        }
        let prior_delivered = progress.gathering().prior_delivered();
        let sample = AckSample {
            acked: cleaned.segments,
            rtt: progress.rtt(),
            in_flight: (self.rate.delivered() - prior_delivered) as u32,
            timestamps: self.echoes.last(),
        };
        let flight = self.flight();
        self.congestion.segments_acked(&flight, &sample);
    }

    fn measure(&self, cleaned: &Cleaned, before: &Before, progress: &mut Progress) -> Measured {
        let since = |sent: Instant| micros(sent, self.now);
        let mut measured = Measured::default();
        if !progress.any_retransmission_acked() {
            measured.in_order = cleaned.first_sent.map(since);
            measured.latest = cleaned.last_sent.map(since);
            progress.perhaps_delayed(self.is_lone_and_short(cleaned, before, progress));
        }
        if let Some((first, last)) = progress.originals_sacked() {
            measured.by_sack = Some(since(first));
            measured.latest = Some(since(last));
        }
        measured
    }

    /// Whether a short segment was acknowledged alone: its ACK may well have been delayed.
    fn is_lone_and_short(&self, cleaned: &Cleaned, before: &Before, progress: &Progress) -> bool {
        cleaned.first_sent.is_some()
            && cleaned.segments == 1
            && cleaned.prior_sacked == 0
            && self.board.una() - before.una < u64::from(self.mss.full())
            && progress.gathering().prior_delivered() + 1 == self.rate.delivered()
    }

    /// Updates the estimates; whether there was anything to learn (`tcp_ack_update_rtt`).
    fn take_measurement(&mut self, measured: &Measured, progress: &mut Progress) -> bool {
        let mut latest = measured.latest;
        let mut sample = measured.in_order.or(measured.by_sack);
        // Only where retransmissions make it ambiguous (Karn) are timestamps, which tick in
        // milliseconds, the better clock. RTTM's rule: only if the ACK advances.
        if sample.is_none() && progress.acked() {
            sample = self.echoes.age_us(self.now);
            latest = sample;
        }
        progress.took(latest);
        let (Some(sample), Some(latest)) = (sample, latest) else {
            return false;
        };
        self.rtt.sample_min(self.now, latest, progress.is_delayed());
        self.rtt.sample(sample, self.board.una(), self.board.end());
        true
    }
}
