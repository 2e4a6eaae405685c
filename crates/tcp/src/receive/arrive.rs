//! What a segment does to the receiver.

use super::ack::Data;
use super::ecn::Haste;
use super::memory;
use super::reassembly::{Overlap, Range};
use super::{Arrival, Receiver, stock};
use crate::Ecn;
use tidegate_basics::time::Instant;

/// Segments smaller than this say nothing about the sender's rate (`tcp_event_data_recv`).
const TELLING: u32 = 128;

impl Receiver {
    /// An acceptable segment. Bytes before or beyond the window are ignored; returns the others, which have arrived
    /// now.
    pub fn segment(&mut self, now: Instant, arrival: &Arrival) -> std::ops::Range<u64> {
        if self.finished() && arrival.offset >= self.next() {
            return 0..0;
        }
        if let Some(age) = arrival.echo_age {
            let full = arrival.end() - arrival.offset >= u64::from(self.acks.mss());
            self.autotune.echoed(now, age, full, self.unread() == 0);
        }
        self.sack.set_duplicate(None);
        let next = self.next();
        let kept = self.queue(now, arrival);
        self.note_arrival(now);
        self.decide(now);
        let first = arrival.offset.max(next);
        let end = arrival.offset + u64::from(arrival.len);
        if kept && first < end {
            first..end
        } else {
            0..0
        }
    }

    /// Whether it is kept (`tcp_data_queue`).
    fn queue(&mut self, now: Instant, arrival: &Arrival) -> bool {
        if arrival.cwr && self.marks.reduced() && arrival.len > 0 {
            self.acks.hasten();
        }
        let next = self.next();
        let open = self.edge().saturating_sub(next);
        let bare_fin = arrival.fin && arrival.len == 0;
        if arrival.offset < next {
            self.repeated(Range::new(arrival.offset, arrival.end().min(next)));
        }
        let closed = open == 0 && !bare_fin;
        if arrival.end() <= next || closed || arrival.offset >= next + open.max(1) {
            self.acks.enter_quick_mode(self.window.size());
            self.acks.owe();
            false
        } else if arrival.offset <= next {
            self.in_order(now, arrival)
        } else {
            self.out_of_order(arrival)
        }
    }

    pub(super) fn repeated(&mut self, part: Option<Range>) {
        self.duplicates += part.map_or(0, Range::len);
        self.sack.set_duplicate(part);
    }

    fn in_order(&mut self, now: Instant, arrival: &Arrival) -> bool {
        if !self.admit() {
            self.acks.urge();
            self.starved = true;
            if self.unread() > 0 && arrival.len > 0 {
                self.dropped += 1;
                return false;
            }
        }
        if arrival.fin {
            self.reassembly.fin(arrival.end() - 1);
        }
        let start = self.next();
        self.memory.charge(arrival.len.into());
        self.reassembly.advance(arrival.end());
        if arrival.len > 0 {
            self.data_received(now, arrival);
        }
        if !self.reassembly.is_in_order() {
            let arrived = Range {
                start,
                end: arrival.end(),
            };
            self.fill(arrived);
        }
        if self.finished() {
            self.acks.fin();
            self.sack.clear();
        }
        true
    }

    /// `arrived` may have filled a hole (`tcp_ofo_queue`).
    fn fill(&mut self, arrived: Range) {
        let overlap = self.reassembly.join(arrived);
        self.overlapped(overlap);
        self.sack.advance(self.next());
        // RFC 5681 §4.2.
        if self.reassembly.is_in_order() {
            self.acks.urge();
        }
    }

    /// A part of a segment was already held beyond a hole.
    fn overlapped(&mut self, overlap: Overlap) {
        self.duplicates += overlap.bytes;
        if overlap.first.is_some() {
            self.sack.set_duplicate(overlap.first);
        }
    }

    /// `tcp_event_data_recv`.
    fn data_received(&mut self, now: Instant, arrival: &Arrival) {
        let Arrival { len, push, fin, .. } = *arrival;
        let owed = self.acks.is_delayed();
        let data = Data { len, push, fin };
        if self.acks.data(now, data, self.window.size()) && self.memory.learn(len.into()) {
            self.window.rescale(&self.memory);
            self.autotune.limit(self.window.clamp());
        }
        self.autotune
            .arrived(now, self.reassembly.next(), self.window.size());
        self.heed_mark(arrival.ecn, owed);
        if len >= TELLING {
            self.grow_window(len);
        }
    }

    /// `tcp_data_ecn_check`; `owed`: an ACK of earlier data is being delayed.
    fn heed_mark(&mut self, ecn: Ecn, owed: bool) {
        match self.marks.data(ecn, self.next(), owed) {
            Haste::None => {}
            Haste::Quick => self.acks.quicken(self.window.size()),
            Haste::Now => self.acks.hasten(),
        }
    }

    fn grow_window(&mut self, len: u32) {
        let len = u64::from(len);
        let stock = stock(&self.memory, &self.reassembly, self.copied, &self.acks);
        if self.window.grow(&stock, len, memory::truesize(len)) {
            self.acks.window_grew();
        }
    }

    /// `tcp_data_queue_ofo`.
    fn out_of_order(&mut self, arrival: &Arrival) -> bool {
        if !self.admit() {
            self.dropped += 1;
            return false;
        }
        let end = arrival.end();
        if arrival.fin {
            self.reassembly.fin(end - 1);
        }
        let Some(range) = Range::new(arrival.offset, end) else {
            return false;
        };
        self.acks.owe();
        let owed = self.acks.is_delayed();
        self.heed_mark(arrival.ecn, owed);
        let overlap = self.reassembly.out_of_order(range);
        self.overlapped(overlap);
        if overlap.bytes < range.len() {
            self.memory.charge(arrival.len.into());
        }
        if self.terms.sack {
            if self.sack.out_of_order(range) {
                self.acks.flush();
            }
            // Without SACK, a window that grows would hide duplicate ACKs.
            self.grow_window(arrival.len);
        }
        if !self.memory.is_plain() {
            let span = self.reassembly.span();
            self.autotune
                .provide(&mut self.memory, &mut self.window, span);
        }
        true
    }

    /// Whether there is memory for one more segment; makes some if it can
    /// (`tcp_try_rmem_schedule`). Linux would then drop what is out of order, from the end
    /// (`tcp_prune_ofo_queue`); here the segment goes, which only meets tiny buffers.
    fn admit(&mut self) -> bool {
        if self.memory.has_room() {
            return true;
        }
        self.acks.calm();
        self.memory.stretch();
        if self.memory.has_room() {
            return true;
        }
        self.window.restart();
        self.memory.collapse(self.payload());
        self.memory.has_room()
    }

    /// `__tcp_ack_snd_check`.
    fn decide(&mut self, now: Instant) {
        if !self.acks.owed() {
            return;
        }
        if self.acks.is_hurried() || (self.behind() && self.keeps_up()) {
            self.acks.send();
        } else if self.reassembly.is_in_order() {
            self.acks.delay(now);
        } else if self.terms.sack {
            self.acks.compress(now, self.next(), self.autotune.rtt());
        } else {
            self.acks.send();
        }
    }

    /// Whether the right edge moves as data arrive; if not, the application's reading decides. A
    /// textbook's receiver acknowledges every second segment all the same.
    fn keeps_up(&self) -> bool {
        self.memory.is_plain() || self.select() >= self.window.size()
    }

    /// More than one full segment waits for its ACK.
    pub(super) fn behind(&self) -> bool {
        self.next() - self.window.left() > self.acks.mss().into()
    }
}
