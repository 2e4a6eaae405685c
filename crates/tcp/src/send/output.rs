//! What leaves, in Linux's order: what a timer has decided, then retransmissions, then new data
//! (`tcp_xmit_recovery`, `tcp_write_xmit`).

use super::scoreboard::Tags;
use super::timer::Timer;
use super::train::{Next, Train};
use super::{Sender, Transmission};
use crate::cc::Event;
use tidegate_time::Instant;

/// What an ACK wants sent before new data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Resend {
    /// Nothing.
    #[default]
    Nothing,
    /// What is lost.
    Lost,
    /// New data, for F-RTO; what is lost only if there are none.
    NewFirst,
}

/// What is left to do until the next call brings news. While there is nothing,
/// [`Sender::transmit`] changes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    /// A timer's segment.
    pub(super) outbox: Option<Transmission>,
    pub(super) resend: Resend,
    /// New data may be sent.
    pub(super) push: bool,
    /// The application has written after a pause, perhaps.
    pub(super) check_idle: bool,
    /// The retransmission timer takes over from the reordering timer.
    pub(super) rearm: bool,
    /// The train in hand.
    train: Option<Train>,
    /// Something could have left and waits for the congestion window to grow.
    deferred: bool,
    /// New segments sent since the last news, and whether the first had the queue for itself.
    sent: u32,
    alone: bool,
    /// The head of the queue was among what was sent again.
    head_resent: bool,
}

impl Work {
    pub(super) fn retransmit_lost(&mut self) {
        self.resend = Resend::Lost;
    }

    fn is_done(&self) -> bool {
        !self.push && !self.rearm && self.resend == Resend::Nothing
    }
}

impl Sender {
    /// The next segment to be sent at `now`.
    pub fn transmit(&mut self, now: Instant) -> Option<Transmission> {
        if let Some(segment) = self.work.outbox.take() {
            return Some(segment);
        }
        if self.work.is_done() || !self.is_established() {
            return None;
        }
        self.now = now;
        if std::mem::take(&mut self.work.check_idle) {
            self.restart_after_idle();
        }
        self.transmit_recovery().or_else(|| self.transmit_new())
    }

    fn transmit_recovery(&mut self) -> Option<Transmission> {
        if self.work.resend == Resend::NewFirst {
            if let Some(segment) = self.send_new(false) {
                return Some(segment);
            }
            self.end_of_burst();
            if self.next() > self.episode.high {
                self.work.resend = Resend::Nothing;
            } else {
                self.episode.frto = false;
                self.work.retransmit_lost();
            }
        }
        if self.work.resend == Resend::Lost {
            if let Some(segment) = self.resend_lost() {
                return Some(segment);
            }
            if std::mem::take(&mut self.work.head_resent) {
                self.set_timer_paced(Timer::Retransmission, self.rtt.rto_us().into());
            }
            self.work.resend = Resend::Nothing;
        }
        if std::mem::take(&mut self.work.rearm) && !self.timer_is(Timer::Retransmission) {
            self.rearm();
        }
        None
    }

    fn transmit_new(&mut self) -> Option<Transmission> {
        if !self.work.push {
            return None;
        }
        if let Some(segment) = self.send_new(true) {
            return Some(segment);
        }
        self.end_of_burst();
        self.work.push = false;
        None
    }

    /// The next lost segment, as far as the window allows (`tcp_xmit_retransmit_queue`).
    fn resend_lost(&mut self) -> Option<Transmission> {
        if self.board.is_empty() || self.pacing_blocks() || self.in_flight() >= self.window.cwnd {
            return None;
        }
        if self.board.retrans() >= self.board.lost() {
            return None;
        }
        let number = self.board.next_hole()?;
        let segment = self.resend(number)?;
        if self.is_reducing() {
            self.prr.out += 1;
        }
        self.work.head_resent |= number == self.board.first() && !self.timer_is(Timer::Reordering);
        Some(segment)
    }

    /// Segment `number` once more, counted as in flight (`tcp_retransmit_skb`).
    pub(super) fn resend(&mut self, number: u32) -> Option<Transmission> {
        let segment = self.retransmit(number)?;
        let sent = *self.board.get(number);
        self.board.retag(number, sent.tags.with(Tags::RETRANS));
        self.episode.retransmitted(sent.at);
        Some(segment)
    }

    /// Segment `number` once more, if the peer still has room for it: what it has taken back its
    /// window from is held, but for the head, which serves as a probe (`__tcp_retransmit_skb`).
    /// Unlike Linux, small segments are not merged on the way.
    pub(super) fn retransmit(&mut self, number: u32) -> Option<Transmission> {
        let start = self.board.start(number).max(self.una);
        let end = self.board.end_of(number);
        let fin = self.fin_sent && end == self.next();
        let payload = end - start - u64::from(fin);
        let mut room = self.window_end().saturating_sub(start);
        // Half a segment would count as all of it, and AFC's window has no whole number of them. A shut
        // window has probes of its own.
        if self.credit.is_some() && room < payload && (start != self.una || self.is_shut()) {
            return None;
        }
        if room == 0 {
            if start != self.una {
                return None;
            }
            room = self.mss.into();
        }
        let len = payload.min(room).min(self.current_mss().into()) as u32;
        let at = self.depart(len.into());
        self.segments_sent += 1;
        let snapshot = self.rate.sent(at, self.board.len(), self.in_flight() + 1);
        self.board.resent(number, at, snapshot);
        self.tag_credit(number);
        self.retransmits += 1;
        Some(self.transmission(start, len, fin && u64::from(len) == payload))
    }

    /// The next new segment, as far as both windows and Nagle's algorithm allow
    /// (`tcp_write_xmit`).
    fn send_new(&mut self, nagle: bool) -> Option<Transmission> {
        let train = match self.work.train.take() {
            Some(train) => train,
            None => self.begin_train(nagle)?,
        };
        if self.work.sent == 0 {
            self.work.alone = self.board.is_empty();
        }
        self.work.sent += 1;
        let (full, fin) = self.next_segment();
        let len = train.left.min(full.into()) as u32;
        // A FIN rides with the last data (`tcp_send_fin`), if the peer's window has room for it.
        let fin = fin && len == full && self.next() + u64::from(len) < self.window_end();
        let left = train.left.saturating_sub(u64::from(len) + u64::from(fin));
        self.work.train = (left > 0).then_some(Train { left, ..train });
        let mut segment = self.send_at(train.at, len, fin);
        // The peer had better not wait for more of it (`__tcp_transmit_skb`).
        segment.push |= train.long && left == 0 && len > 0;
        Some(segment)
    }

    /// What may leave together now.
    fn begin_train(&mut self, nagle: bool) -> Option<Train> {
        if self.unsent() == 0
            || self.pacing_blocks()
            || self.in_flight() >= self.window.cwnd
            || !self.next_segment_fits()
        {
            return None;
        }
        let (len, fin) = self.next_segment();
        // Nagle's algorithm with Minshall's change: one small segment at a time.
        let small = len < self.current_mss() && !fin;
        let nagle = nagle && !self.nodelay;
        if nagle && small && self.is_small_one_out() {
            return None;
        }
        match self.next_train(nagle) {
            Next::Train(left) => Some(Train {
                left,
                at: self.depart(left),
                long: left > self.current_mss().into(),
            }),
            Next::Later { cwnd_limited } => {
                self.work.deferred = cwnd_limited;
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
        self.segments_sent += 1;
        let snapshot = self.rate.sent(at, self.board.len(), self.in_flight() + 1);
        let offset = self.next();
        let number = self.board.push(len + u32::from(fin), at, snapshot);
        self.tag_credit(number);
        self.fin_sent |= fin;
        if len < self.current_mss() {
            self.small_end = self.next();
        }
        if self.is_reducing() {
            self.prr.out += 1;
        }
        Transmission {
            new: len > 0,
            ..self.transmission(offset, len, fin)
        }
    }

    /// So many bytes leave together: when, by the pacing.
    fn depart(&mut self, len: u64) -> Instant {
        if len > 0 {
            if self.in_flight() == 0 {
                self.cc_event(Event::TransmitStart);
            }
            self.usage.sent_at = self.now;
        }
        self.leave(len)
    }

    fn transmission(&self, offset: u64, len: u32, fin: bool) -> Transmission {
        Transmission {
            offset,
            len,
            fin,
            push: len > 0 && offset + u64::from(len) == self.written,
            new: false,
        }
    }

    /// All has left that may.
    fn end_of_burst(&mut self) {
        let sent = std::mem::take(&mut self.work.sent);
        if sent == 0 && self.unsent() == 0 {
            return;
        }
        let deferred = std::mem::take(&mut self.work.deferred);
        let full = deferred || self.in_flight() >= self.window.cwnd;
        if sent > 0 || full {
            self.validate_window(full);
        }
        if sent > 0 {
            let unset = self.work.alone || self.timer_is(Timer::LossProbe);
            if !self.schedule_loss_probe(false) && unset {
                self.rearm();
            }
        } else if self.board.is_empty() {
            self.start_window_probes();
        }
    }

    /// Payload of the next new segment, and whether the FIN follows it.
    pub(super) fn next_segment(&self) -> (u32, bool) {
        let left = self.written.saturating_sub(self.next());
        let len = left.min(self.current_mss().into()) as u32;
        let fin = self.finishing && !self.fin_sent && u64::from(len) == left;
        (len, fin)
    }

    /// Payload of a full segment as things stand.
    pub(super) fn current_mss(&self) -> u32 {
        self.mss - self.reserved
    }

    /// Sequence numbers not sent yet, the FIN's included.
    pub(super) fn unsent(&self) -> u64 {
        let fin = self.finishing && !self.fin_sent;
        self.written.saturating_sub(self.next()) + u64::from(fin)
    }

    /// Whether the peer's window has room for the whole next segment: never less, however small it
    /// is (RFC 9293 §3.8.6.2.1; Linux knows no half of the largest window).
    pub(super) fn next_segment_fits(&self) -> bool {
        let (len, fin) = self.next_segment();
        self.next() + u64::from(len) + u64::from(fin) <= self.window_end()
    }

    /// Offset after the last byte that the peer takes.
    pub(super) fn window_end(&self) -> u64 {
        self.una + self.flow_window()
    }
}
