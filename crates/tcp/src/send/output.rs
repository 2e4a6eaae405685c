//! The order in which segments leave, which is Linux's: first those that a timer has decided on, then retransmissions,
//! then new data (`tcp_xmit_recovery`, `tcp_write_xmit`).

use super::scoreboard::Tags;
use super::timer::Timer;
use super::train::{Next, Train};
use super::work::Resend;
use super::{Sender, Transmission};
use crate::cc::Event;
use tidegate_basics::time::Instant;

/// The segments that have left since the last news, and those that are about to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    /// The train in hand.
    train: Option<Train>,
    /// Something could have left and waits for the congestion window to grow.
    deferred: bool,
    /// New segments sent, and whether the first had the queue for itself.
    sent: u32,
    alone: bool,
    /// The head of the queue was among the retransmissions.
    head_resent: bool,
}

impl Sender {
    /// The next segment to be sent at `now`.
    pub fn transmit(&mut self, now: Instant) -> Option<Transmission> {
        if let Some(segment) = self.work.take_timed() {
            return Some(segment);
        }
        if self.work.is_done() || !self.is_established() {
            return None;
        }
        self.now = now;
        if self.work.take_written() {
            self.restart_after_idle();
        }
        self.transmit_recovery().or_else(|| self.transmit_new())
    }

    /// Whether [`Self::transmit`] has nothing to send and changes nothing.
    pub fn is_done(&self) -> bool {
        self.work.is_all_done()
    }

    fn transmit_recovery(&mut self) -> Option<Transmission> {
        if self.work.resend() == Resend::NewFirst {
            if let Some(segment) = self.send_new(false) {
                return Some(segment);
            }
            self.end_of_burst();
            if self.board.end() > self.episode.high() {
                self.work.resent();
            } else {
                self.episode.set_frto(false);
                self.work.retransmit_lost();
            }
        }
        if self.work.resend() == Resend::Lost {
            if let Some(segment) = self.resend_lost() {
                return Some(segment);
            }
            if std::mem::take(&mut self.burst.head_resent) {
                self.set_timer_paced(Timer::Retransmission, self.rtt.rto_us().into());
            }
            self.work.resent();
        }
        if self.work.take_rearm() && !self.timers.runs(Timer::Retransmission) {
            self.rearm();
        }
        None
    }

    fn transmit_new(&mut self) -> Option<Transmission> {
        if !self.work.may_push() {
            return None;
        }
        if let Some(segment) = self.send_new(true) {
            return Some(segment);
        }
        self.end_of_burst();
        self.work.pushed();
        None
    }

    /// The next lost segment, as far as the window allows (`tcp_xmit_retransmit_queue`).
    fn resend_lost(&mut self) -> Option<Transmission> {
        if self.board.is_empty() || self.pacing_blocks() || !self.window_has_room() {
            return None;
        }
        if !self.board.any_to_resend() {
            return None;
        }
        let number = self.board.next_hole()?;
        let segment = self.resend(number)?;
        self.count_for_prr();
        let head = number == self.board.first();
        self.burst.head_resent |= head && !self.timers.runs(Timer::Reordering);
        Some(segment)
    }

    /// Segment `number` once more, counted as in flight (`tcp_retransmit_skb`).
    pub(super) fn resend(&mut self, number: u32) -> Option<Transmission> {
        let segment = self.retransmit(number)?;
        let sent = *self.board.get(number);
        self.board.retag(number, sent.tags.with(Tags::RETRANS));
        self.episode.resent(sent.at);
        self.undo.resent();
        Some(segment)
    }

    /// Segment `number` once more, if the peer still has room for it. A segment for which the peer has withdrawn the
    /// window is held back, except for the head, which serves as a probe (`__tcp_retransmit_skb`). Unlike Linux, small
    /// segments are not merged on the way.
    pub(super) fn retransmit(&mut self, number: u32) -> Option<Transmission> {
        let start = self.board.start(number).max(self.board.una());
        let end = self.board.end_of(number);
        let fin = self.outbox.fin_sent() && end == self.board.end();
        let payload = end - start - u64::from(fin);
        let room = self.room_for(start, payload)?;
        let len = payload.min(room).min(self.mss.current().into()) as u32;
        let at = self.depart(len.into());
        self.counters.sent();
        let snapshot = self
            .rate
            .sent(at, self.board.len(), self.board.in_flight() + 1);
        self.board.resent(number, at, snapshot);
        self.tag_credit(number);
        self.counters.retransmitted();
        Some(self.transmission(start, len, fin && u64::from(len) == payload))
    }

    /// Bytes that the peer has room for from `start` on, for a segment that has `payload` left to be sent again; none:
    /// it is held back. The head is sent even to a closed window.
    fn room_for(&self, start: u64, payload: u64) -> Option<u64> {
        let room = self.window_end().saturating_sub(start);
        let head = start == self.board.una();
        // Half a segment would count as a whole one, and AFC's window does not hold a whole number of segments. A shut
        // window has probes of its own.
        if self.credit.is_some() && room < payload && (!head || self.is_shut()) {
            return None;
        }
        match room {
            0 => head.then_some(self.mss.full().into()),
            _ => Some(room),
        }
    }

    /// The next new segment, as far as both windows and Nagle's algorithm allow
    /// (`tcp_write_xmit`).
    fn send_new(&mut self, nagle: bool) -> Option<Transmission> {
        let train = match self.burst.train.take() {
            Some(train) => train,
            None => self.begin_train(nagle)?,
        };
        if self.burst.sent == 0 {
            self.burst.alone = self.board.is_empty();
        }
        self.burst.sent += 1;
        let (full, fin) = self.next_segment();
        let len = train.left().min(full.into()) as u32;
        // A FIN rides with the last data (`tcp_send_fin`), if the peer's window has room for it.
        let fin = fin && len == full && self.board.end() + u64::from(len) < self.window_end();
        let rest = train.after(u64::from(len) + u64::from(fin));
        self.burst.train = rest;
        let mut segment = self.send_at(train.at(), len, fin);
        // The peer should not wait for more of the train (`__tcp_transmit_skb`).
        segment.push |= train.is_long() && rest.is_none() && len > 0;
        Some(segment)
    }

    /// What may leave together now.
    fn begin_train(&mut self, nagle: bool) -> Option<Train> {
        if self.unsent() == 0
            || self.pacing_blocks()
            || !self.window_has_room()
            || !self.next_segment_fits()
        {
            return None;
        }
        let (len, fin) = self.next_segment();
        // Nagle's algorithm with Minshall's change: one small segment at a time.
        let small = len < self.mss.current() && !fin;
        let nagle = nagle && self.outbox.uses_nagle();
        if nagle && small && self.is_small_one_out() {
            return None;
        }
        match self.next_train(nagle) {
            Next::Train(left) => {
                let at = self.depart(left);
                Some(Train::new(left, at, self.mss.current()))
            }
            Next::Later { cwnd_limited } => {
                self.burst.deferred = cwnd_limited;
                None
            }
        }
    }

    /// Sends a new segment; setting the timer is left to the caller.
    pub(super) fn send(&mut self, len: u32, fin: bool) -> Transmission {
        let at = self.depart(len.into());
        self.send_at(at, len, fin)
    }

    fn send_at(&mut self, at: Instant, len: u32, fin: bool) -> Transmission {
        self.counters.sent();
        let snapshot = self
            .rate
            .sent(at, self.board.len(), self.board.in_flight() + 1);
        let offset = self.board.end();
        let number = self.board.push(len + u32::from(fin), at, snapshot);
        self.tag_credit(number);
        let small = len < self.mss.current();
        self.outbox.sent(self.board.end(), small, fin);
        self.count_for_prr();
        Transmission {
            new: len > 0,
            ..self.transmission(offset, len, fin)
        }
    }

    /// `len` bytes leave together. Returns when, by the pacing.
    fn depart(&mut self, len: u64) -> Instant {
        if len > 0 {
            if self.board.in_flight() == 0 {
                self.tell_congestion(Event::TransmitStart);
            }
            self.usage.data_sent(self.now);
        }
        self.leave(len)
    }

    fn transmission(&self, offset: u64, len: u32, fin: bool) -> Transmission {
        Transmission {
            offset,
            len,
            fin,
            push: len > 0 && self.outbox.ends_at(offset + u64::from(len)),
            new: false,
        }
    }

    /// All segments that may leave have left.
    fn end_of_burst(&mut self) {
        let sent = std::mem::take(&mut self.burst.sent);
        if sent == 0 && self.unsent() == 0 {
            return;
        }
        let deferred = std::mem::take(&mut self.burst.deferred);
        let full = deferred || !self.window_has_room();
        if sent > 0 || full {
            self.validate_window(full);
        }
        if sent > 0 {
            let unset = self.burst.alone || self.timers.runs(Timer::LossProbe);
            if !self.schedule_loss_probe(false) && unset {
                self.rearm();
            }
        } else if self.board.is_empty() {
            self.start_window_probes();
        }
    }

    /// Payload of the next new segment, and whether the FIN follows it.
    pub(super) fn next_segment(&self) -> (u32, bool) {
        self.outbox
            .next_segment(self.board.end(), self.mss.current())
    }

    /// Sequence numbers not sent yet, the FIN's included.
    pub(super) fn unsent(&self) -> u64 {
        self.outbox.unsent(self.board.end())
    }

    /// Whether the peer's window has room for the whole next segment: no smaller segment is sent, however small the
    /// window is (RFC 9293 §3.8.6.2.1; Linux ignores its rule about half of the largest window).
    pub(super) fn next_segment_fits(&self) -> bool {
        let (len, fin) = self.next_segment();
        self.board.end() + u64::from(len) + u64::from(fin) <= self.window_end()
    }

    /// Offset after the last byte that the peer takes.
    pub(super) fn window_end(&self) -> u64 {
        self.board.una() + self.flow_window()
    }

    /// Whether the congestion window has room for another segment.
    pub(super) fn window_has_room(&self) -> bool {
        self.board.in_flight() < self.congestion.cwnd()
    }
}
