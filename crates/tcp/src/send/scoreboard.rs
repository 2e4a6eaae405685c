//! The segments sent and not yet acknowledged cumulatively: one entry a segment, in the order of the stream ([`queue`])
//! and in the order of their last transmission ([`order`]), each with its state ([`tags`]). The counters are Linux's.

mod order;
mod queue;
mod tags;
#[cfg(test)]
pub(super) mod tests;

use super::rate::Snapshot;
use order::Order;
use queue::Queue;
pub(super) use queue::Sent;
pub(super) use tags::Tags;
use tidegate_basics::time::Instant;

/// The queue, its orders and its counters.
#[derive(Debug)]
pub(super) struct Scoreboard {
    queue: Queue,
    order: Order,
    /// Offset of the oldest unacknowledged byte (SND.UNA).
    una: u64,
    sacked: u32,
    lost: u32,
    refused: u32,
    retrans: u32,
    holes: u32,
    /// No hole has a smaller number.
    hole_hint: u32,
    /// End of the highest segment ever reported with SACK.
    highest_sacked: u64,
    /// Segments that have arrived, as duplicate ACKs show, from a peer without SACK.
    duplicate_acks: u32,
}

impl Scoreboard {
    /// Nothing sent; the next byte is at `offset`.
    pub(super) fn new(offset: u64) -> Self {
        Self {
            queue: Queue::new(offset),
            order: Order::default(),
            una: 0,
            sacked: 0,
            lost: 0,
            refused: 0,
            retrans: 0,
            holes: 0,
            hole_hint: 0,
            highest_sacked: offset,
            duplicate_acks: 0,
        }
    }

    /// Segments in the queue (`packets_out`).
    pub(super) fn len(&self) -> u32 {
        self.queue.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// `sacked_out`, as far as SACK has reported it.
    pub(super) fn sacked(&self) -> u32 {
        self.sacked
    }

    /// Segments that have arrived and are not acknowledged (`sacked_out`).
    pub(super) fn arrived(&self) -> u32 {
        self.sacked + self.duplicate_acks
    }

    /// `lost_out`.
    pub(super) fn lost(&self) -> u32 {
        self.lost
    }

    /// The lost segments that the peer has refused: the network did not lose them.
    pub(super) fn refused(&self) -> u32 {
        self.refused
    }

    /// Whether the network has lost anything.
    pub(super) fn any_lost_on_the_way(&self) -> bool {
        self.lost > self.refused
    }

    /// `retrans_out`.
    pub(super) fn retrans(&self) -> u32 {
        self.retrans
    }

    /// Whether some lost segments have not been sent again.
    pub(super) fn any_to_resend(&self) -> bool {
        self.lost > self.retrans
    }

    /// Whether retransmissions are out, or may be (`tcp_any_retrans_done`).
    pub(super) fn any_resent(&self) -> bool {
        let head_resent = |head: &Sent| head.tags.has(Tags::EVER_RETRANS);
        self.retrans > 0 || self.head().is_some_and(head_resent)
    }

    /// Segments in flight, RFC 6675's pipe (`tcp_packets_in_flight`).
    pub(super) fn in_flight(&self) -> u32 {
        self.len() + self.retrans - self.arrived() - self.lost
    }

    /// Offset of the oldest unacknowledged byte (SND.UNA).
    pub(super) fn una(&self) -> u64 {
        self.una
    }

    /// Everything before `offset` is acknowledged.
    pub(super) fn acknowledge(&mut self, offset: u64) {
        self.una = offset;
    }

    /// Offset after everything sent (SND.NXT).
    pub(super) fn end(&self) -> u64 {
        self.queue.end()
    }

    /// End of the highest segment that SACK reports, or SND.UNA if there is none
    /// (`tcp_highest_sack_seq`).
    pub(super) fn highest_sacked(&self) -> u64 {
        if self.sacked == 0 {
            self.una
        } else {
            self.highest_sacked
        }
    }

    /// Number of the first entry.
    pub(super) fn first(&self) -> u32 {
        self.queue.first()
    }

    /// Number after the last entry.
    pub(super) fn after_last(&self) -> u32 {
        self.queue.after_last()
    }

    pub(super) fn get(&self, number: u32) -> &Sent {
        self.queue.get(number)
    }

    /// The oldest segment of the stream that is still here.
    pub(super) fn head(&self) -> Option<&Sent> {
        self.queue.head()
    }

    /// Whether the oldest segment of the stream has arrived and is not acknowledged: the peer may have gone
    /// back on its SACKs.
    pub(super) fn is_head_sacked(&self) -> bool {
        self.head().is_some_and(|head| head.tags.has(Tags::SACKED))
    }

    /// Offset of the first byte of entry `number`.
    pub(super) fn start(&self, number: u32) -> u64 {
        self.queue.start(number)
    }

    /// Offset after entry `number`.
    pub(super) fn end_of(&self, number: u32) -> u64 {
        self.queue.end_of(number)
    }

    /// Number of the entry that holds `offset`, or else of the one after the last.
    pub(super) fn containing(&self, offset: u64) -> u32 {
        self.queue.containing(offset)
    }

    /// All numbers, in the order of the stream.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        self.queue.numbers()
    }

    /// The segment whose last transmission is longest ago, of those that RACK watches.
    pub(super) fn oldest(&self) -> Option<u32> {
        self.order.oldest()
    }

    /// The one sent after `number`.
    pub(super) fn later(&self, number: u32) -> Option<u32> {
        self.order.later(&self.queue, number)
    }

    /// A segment of `seq_len` sequence numbers is sent for the first time.
    pub(super) fn push(&mut self, seq_len: u32, at: Instant, snapshot: Snapshot) -> u32 {
        let number = self.queue.push(seq_len, at, snapshot);
        self.order.link(&mut self.queue, number);
        number
    }

    /// Takes the first entry away.
    pub(super) fn pop(&mut self) -> Option<Sent> {
        let number = self.first();
        let sent = *self.head()?;
        self.retag(number, Tags::default());
        self.order.unlink(&mut self.queue, number);
        self.queue.pop();
        if is_before(self.hole_hint, self.first()) {
            self.hole_hint = self.first();
        }
        Some(sent)
    }

    /// Entry `number` is sent again.
    pub(super) fn resent(&mut self, number: u32, at: Instant, snapshot: Snapshot) {
        self.order.unlink(&mut self.queue, number);
        self.queue.resent(number, at, snapshot);
        // A loss probe may repeat a segment that has arrived; RACK need not watch it.
        if !self.get(number).tags.has(Tags::SACKED) {
            self.order.link(&mut self.queue, number);
        }
    }

    /// Sets S, R, L and the lasting tags of entry `number`, and keeps the counters.
    pub(super) fn retag(&mut self, number: u32, tags: Tags) {
        let sent = self.queue.get_mut(number);
        let old = sent.tags;
        let mut new = tags.placed_as(old);
        if !new.has(Tags::LOST) {
            new = new.without(Tags::REFUSED);
        }
        sent.tags = new;
        recount(&mut self.sacked, old, new, Tags::SACKED);
        recount(&mut self.lost, old, new, Tags::LOST);
        recount(&mut self.refused, old, new, Tags::REFUSED);
        recount(&mut self.retrans, old, new, Tags::RETRANS);
        self.holes = self.holes + u32::from(new.is_hole()) - u32::from(old.is_hole());
        if new.is_hole() && is_before(number, self.hole_hint) {
            self.hole_hint = number;
        }
        if new.has(Tags::SACKED) && !old.has(Tags::SACKED) {
            self.first_sacked(number);
        }
    }

    /// Entry `number` has just been counted as arrived: RACK need not watch it any more.
    fn first_sacked(&mut self, number: u32) {
        let end = self.end_of(number);
        self.highest_sacked = match self.sacked {
            1 => end,
            _ => self.highest_sacked.max(end),
        };
        self.order.unlink(&mut self.queue, number);
        self.park(number, false);
    }

    /// Marks entry `number` lost; whether that is news (`tcp_mark_skb_lost`).
    /// RACK looks at it again once it is retransmitted; `parked`: or once the mark is taken back.
    pub(super) fn mark_lost(&mut self, number: u32, parked: bool) -> bool {
        let tags = self.get(number).tags;
        if tags.has(Tags::SACKED) {
            return false;
        }
        let news = !tags.has(Tags::LOST) || tags.has(Tags::RETRANS);
        if tags.has(Tags::LOST) {
            self.retag(number, tags.without(Tags::RETRANS.with(Tags::REFUSED)));
        } else {
            self.retag(number, tags.with(Tags::LOST));
        }
        let hole = self.get(number).tags.is_hole();
        if hole && self.order.unlink(&mut self.queue, number) && parked {
            self.park(number, true);
        }
        news
    }

    fn park(&mut self, number: u32, parked: bool) {
        let sent = self.queue.get_mut(number);
        sent.tags = match parked {
            true => sent.tags.with(Tags::PARKED),
            false => sent.tags.without(Tags::PARKED),
        };
    }

    /// The peer had no room for the last transmission of entry `number`.
    pub(super) fn mark_refused(&mut self, number: u32) {
        self.mark_lost(number, true);
        let tags = self.get(number).tags;
        self.retag(number, tags.with(Tags::REFUSED));
    }

    /// Takes back all loss marks (`tcp_undo_cwnd_reduction`). RACK watches again what a timeout had marked, but not
    /// what RACK itself had marked, as in Linux.
    pub(super) fn unmark_losses(&mut self) {
        for number in self.numbers() {
            let tags = self.get(number).tags;
            self.retag(number, tags.without(Tags::LOST));
        }
        let mut watched: Vec<u32> = self
            .numbers()
            .filter(|&n| self.get(n).tags.has(Tags::LINKED.with(Tags::PARKED)))
            .collect();
        watched.sort_by_key(|&number| (self.get(number).at, self.queue.index(number)));
        for &number in &watched {
            self.order.unlink(&mut self.queue, number);
            self.park(number, false);
        }
        for number in watched {
            self.order.link(&mut self.queue, number);
        }
    }

    /// The first lost segment that is to be sent again.
    pub(super) fn next_hole(&mut self) -> Option<u32> {
        if self.holes == 0 {
            self.hole_hint = self.after_last();
            return None;
        }
        while !self.get(self.hole_hint).tags.is_hole() {
            self.hole_hint = self.hole_hint.wrapping_add(1);
        }
        Some(self.hole_hint)
    }

    /// Segments that have arrived, as duplicate ACKs show, from a peer without SACK.
    pub(super) fn duplicate_acks(&self) -> u32 {
        self.duplicate_acks
    }

    /// `count` more duplicate ACKs; returns how many of them count (`tcp_add_reno_sack`).
    pub(super) fn add_duplicate_acks(&mut self, count: u32) -> Duplicates {
        let prior = self.duplicate_acks;
        self.duplicate_acks += count;
        let exceeded = self.limit_duplicate_acks();
        Duplicates {
            delivered: self.duplicate_acks.saturating_sub(prior),
            exceeded,
        }
    }

    /// `acked` segments were acknowledged: one filled the hole, the others had been counted by
    /// duplicate ACKs (`tcp_remove_reno_sacks`).
    pub(super) fn discount_duplicate_acks(&mut self, acked: u32) -> Duplicates {
        let mut delivered = 0;
        if acked > 0 {
            delivered = acked.saturating_sub(self.duplicate_acks).max(1);
            self.duplicate_acks = self.duplicate_acks.saturating_sub(acked - 1);
        }
        Duplicates {
            delivered,
            exceeded: self.limit_duplicate_acks(),
        }
    }

    /// The duplicate ACKs are counted anew (`tcp_reset_reno_sack`).
    pub(super) fn reset_duplicate_acks(&mut self) {
        self.duplicate_acks = 0;
    }

    /// Whether there were more than segments can have caused.
    fn limit_duplicate_acks(&mut self) -> bool {
        let out = self.len();
        let holes = self.lost.max(1).min(out);
        let exceeded = self.duplicate_acks + holes > out;
        if exceeded {
            self.duplicate_acks = out - holes;
        }
        exceeded
    }
}

/// What a change of the count of duplicate ACKs means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Duplicates {
    /// Segments delivered that had not been counted.
    pub(super) delivered: u32,
    /// There were more than segments can have caused: they mean reordering.
    pub(super) exceeded: bool,
}

/// Whether `a` is the smaller number.
fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// Keeps the count of entries with `tag`.
fn recount(count: &mut u32, old: Tags, new: Tags, tag: Tags) {
    *count = *count + u32::from(new.has(tag)) - u32::from(old.has(tag));
}
