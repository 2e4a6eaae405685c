//! What has been sent and not yet acknowledged cumulatively: one entry a segment, in the order of
//! the stream, and a second order by the time of the last transmission.
//!
//! Entries are named by *numbers* that count segments and stay valid while the queue moves on;
//! they wrap. A segment knows where it starts; it ends where the next one starts.
//!
//! Tags are those of Linux (the comment above `tcp_sacktag_one`), and so are the counters:
//!
//! | tags | in flight | |
//! | --- | --- | --- |
//! | – | 1 | the original is on its way |
//! | S | 0 | the original has arrived |
//! | L | 0 | the original is lost |
//! | R | 2 | both are on their way |
//! | L R | 1 | the original is lost, the retransmission is on its way |
//! | S R | 1 | the original has arrived, the retransmission is on its way |

#[cfg(test)]
pub(super) mod tests;

use super::rate::Snapshot;
use std::collections::VecDeque;
use tidegate_time::Instant;

/// How far off a guess may be before it is searched for.
const NEIGHBOURS: u32 = 4;

/// What is known of a segment: a set of the constants below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tags(u16);

impl Tags {
    /// The peer has reported it with SACK.
    pub(super) const SACKED: Self = Self(0x01);
    /// A retransmission is in flight.
    pub(super) const RETRANS: Self = Self(0x02);
    /// What was sent before any retransmission in flight is lost.
    pub(super) const LOST: Self = Self(0x04);
    /// Sent more than once.
    pub(super) const EVER_RETRANS: Self = Self(0x08);
    /// In the order by time.
    const LINKED: Self = Self(0x10);
    /// Taken from the order by time because of a timeout, not because RACK judged it.
    const PARKED: Self = Self(0x20);
    /// Has given its delivery-rate sample.
    pub(super) const RATED: Self = Self(0x40);
    /// Lost, because the peer had no room: it has said so.
    pub(super) const REFUSED: Self = Self(0x80);
    /// The peer may refuse it: it had not said, when this was sent last, that it had room for it.
    pub(super) const ON_CREDIT: Self = Self(0x100);

    /// Whether any of `other` is set.
    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Lost, and not sent again since.
    const fn is_hole(self) -> bool {
        self.has(Self::LOST) && !self.has(Self::RETRANS.with(Self::SACKED))
    }
}

/// A segment that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    /// When it was sent last.
    pub(super) at: Instant,
    /// What the delivery rate was about then.
    pub(super) snapshot: Snapshot,
    /// Low half of the offset of its first byte.
    start: u32,
    /// Its neighbours in the order by time; itself at an end.
    earlier: u32,
    later: u32,
    pub(super) tags: Tags,
}

/// The queue, its orders and its counters.
#[derive(Debug)]
pub(super) struct Scoreboard {
    queue: VecDeque<Sent>,
    /// Number of the first entry.
    first: u32,
    /// Offset after the last entry (`snd_nxt`).
    end: u64,
    oldest: u32,
    newest: u32,
    linked: u32,
    sacked: u32,
    lost: u32,
    refused: u32,
    retrans: u32,
    holes: u32,
    /// No hole has a smaller number.
    hole_hint: u32,
    /// End of the highest segment ever reported with SACK.
    highest_sacked: u64,
}

impl Scoreboard {
    /// Nothing sent; the next byte is at `offset`.
    pub(super) fn new(offset: u64) -> Self {
        Self {
            queue: VecDeque::new(),
            first: 0,
            end: offset,
            oldest: 0,
            newest: 0,
            linked: 0,
            sacked: 0,
            lost: 0,
            refused: 0,
            retrans: 0,
            holes: 0,
            hole_hint: 0,
            highest_sacked: offset,
        }
    }

    /// Segments in the queue (`packets_out`).
    pub(super) fn len(&self) -> u32 {
        self.queue.len() as u32
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// `sacked_out`, as far as SACK has reported it.
    pub(super) fn sacked(&self) -> u32 {
        self.sacked
    }

    /// `lost_out`.
    pub(super) fn lost(&self) -> u32 {
        self.lost
    }

    /// Those of the lost that the peer has refused: no loss of the network's.
    pub(super) fn refused(&self) -> u32 {
        self.refused
    }

    /// `retrans_out`.
    pub(super) fn retrans(&self) -> u32 {
        self.retrans
    }

    /// Offset after everything sent (`snd_nxt`).
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// End of the highest segment that SACK reports, or `una` if there is none
    /// (`tcp_highest_sack_seq`).
    pub(super) fn highest_sacked(&self, una: u64) -> u64 {
        if self.sacked == 0 {
            una
        } else {
            self.highest_sacked
        }
    }

    /// Number of the first entry.
    pub(super) fn first(&self) -> u32 {
        self.first
    }

    /// Number after the last entry.
    pub(super) fn after_last(&self) -> u32 {
        self.first.wrapping_add(self.len())
    }

    fn index(&self, number: u32) -> usize {
        number.wrapping_sub(self.first) as usize
    }

    pub(super) fn get(&self, number: u32) -> &Sent {
        &self.queue[self.index(number)]
    }

    fn get_mut(&mut self, number: u32) -> &mut Sent {
        let index = self.index(number);
        &mut self.queue[index]
    }

    /// The oldest segment of the stream that is still here.
    pub(super) fn head(&self) -> Option<&Sent> {
        self.queue.front()
    }

    /// Offset of the first byte of entry `number`.
    pub(super) fn start(&self, number: u32) -> u64 {
        self.offset(self.get(number).start)
    }

    /// Offset after entry `number`.
    pub(super) fn end_of(&self, number: u32) -> u64 {
        match self.queue.get(self.index(number) + 1) {
            Some(next) => self.offset(next.start),
            None => self.end,
        }
    }

    /// The offset whose low half is `low`, at most 4 GB before the end.
    fn offset(&self, low: u32) -> u64 {
        self.end - u64::from((self.end as u32).wrapping_sub(low))
    }

    /// Number of the entry that holds `offset`, or else of the one after the last. Most segments
    /// are of one size, so a guess by proportion is right or nearly so.
    pub(super) fn containing(&self, offset: u64) -> u32 {
        if offset >= self.end || self.is_empty() {
            return self.after_last();
        }
        let first = self
            .queue
            .front()
            .map_or(self.end, |sent| self.offset(sent.start));
        let ahead = offset.saturating_sub(first);
        let guess = ahead * u64::from(self.len()) / (self.end - first).max(1);
        let mut number = self.first.wrapping_add(guess as u32);
        for _ in 0..NEIGHBOURS {
            if self.start(number) > offset && number != self.first {
                number = number.wrapping_sub(1);
            } else if self.end_of(number) <= offset {
                number = number.wrapping_add(1);
            } else {
                return number;
            }
        }
        let after = self
            .queue
            .partition_point(|sent| self.offset(sent.start) <= offset);
        self.first.wrapping_add(after.saturating_sub(1) as u32)
    }

    /// A segment of `seq_len` sequence numbers is sent for the first time.
    pub(super) fn push(&mut self, seq_len: u32, at: Instant, snapshot: Snapshot) -> u32 {
        let number = self.after_last();
        self.queue.push_back(Sent {
            at,
            snapshot,
            start: self.end as u32,
            earlier: number,
            later: number,
            tags: Tags::default(),
        });
        self.end += u64::from(seq_len);
        self.link(number);
        number
    }

    /// Takes the first entry away.
    pub(super) fn pop(&mut self) -> Option<Sent> {
        let number = self.first;
        let sent = *self.queue.front()?;
        self.retag(number, Tags::default());
        self.unlink(number);
        self.queue.pop_front();
        self.first = number.wrapping_add(1);
        if is_before(self.hole_hint, self.first) {
            self.hole_hint = self.first;
        }
        Some(sent)
    }

    /// Entry `number` is sent again.
    pub(super) fn resent(&mut self, number: u32, at: Instant, snapshot: Snapshot) {
        self.unlink(number);
        let sent = self.get_mut(number);
        sent.at = at;
        sent.snapshot = snapshot;
        sent.tags = sent
            .tags
            .with(Tags::EVER_RETRANS)
            .without(Tags::PARKED.with(Tags::RATED));
        // A loss probe may repeat what has arrived; RACK need not watch that.
        if !sent.tags.has(Tags::SACKED) {
            self.link(number);
        }
    }

    /// Sets S, R, L and the lasting tags of entry `number`, and keeps the counters.
    pub(super) fn retag(&mut self, number: u32, tags: Tags) {
        let old = self.get(number).tags;
        let place = Tags::LINKED.with(Tags::PARKED);
        let mut new = Tags((tags.0 & !place.0) | (old.0 & place.0));
        if !new.has(Tags::LOST) {
            new = new.without(Tags::REFUSED);
        }
        self.get_mut(number).tags = new;
        recount(&mut self.sacked, old, new, Tags::SACKED);
        recount(&mut self.lost, old, new, Tags::LOST);
        recount(&mut self.refused, old, new, Tags::REFUSED);
        recount(&mut self.retrans, old, new, Tags::RETRANS);
        self.holes = self.holes + u32::from(new.is_hole()) - u32::from(old.is_hole());
        if new.is_hole() && is_before(number, self.hole_hint) {
            self.hole_hint = number;
        }
        if new.has(Tags::SACKED) && !old.has(Tags::SACKED) {
            self.highest_sacked = if self.sacked == 1 {
                self.end_of(number)
            } else {
                self.highest_sacked.max(self.end_of(number))
            };
            self.unlink(number);
            let sent = self.get_mut(number);
            sent.tags = sent.tags.without(Tags::PARKED);
        }
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
        if self.get(number).tags.is_hole() && self.unlink(number) && parked {
            let sent = self.get_mut(number);
            sent.tags = sent.tags.with(Tags::PARKED);
        }
        news
    }

    /// The peer had no room for what was sent last of entry `number`.
    pub(super) fn mark_refused(&mut self, number: u32) {
        self.mark_lost(number, true);
        let tags = self.get(number).tags;
        self.retag(number, tags.with(Tags::REFUSED));
    }

    /// Believes nothing lost any more (`tcp_undo_cwnd_reduction`). What a timeout had marked is
    /// RACK's to watch again; what RACK had marked is not, as in Linux.
    pub(super) fn unmark_losses(&mut self) {
        for number in self.numbers() {
            let tags = self.get(number).tags;
            self.retag(number, tags.without(Tags::LOST));
        }
        let mut watched: Vec<u32> = self
            .numbers()
            .filter(|&n| self.get(n).tags.has(Tags::LINKED.with(Tags::PARKED)))
            .collect();
        watched.sort_by_key(|&number| (self.get(number).at, self.index(number)));
        for &number in &watched {
            self.unlink(number);
            let sent = self.get_mut(number);
            sent.tags = sent.tags.without(Tags::PARKED);
        }
        for number in watched {
            self.link(number);
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

    /// All numbers, in the order of the stream.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        let first = self.first;
        (0..self.len()).map(move |index| first.wrapping_add(index))
    }

    /// The segment whose last transmission is longest ago, of those that RACK watches.
    pub(super) fn oldest(&self) -> Option<u32> {
        (self.linked > 0).then_some(self.oldest)
    }

    /// The one sent after `number`.
    pub(super) fn later(&self, number: u32) -> Option<u32> {
        (number != self.newest).then(|| self.get(number).later)
    }

    /// Puts entry `number` at the end of the order by time.
    fn link(&mut self, number: u32) {
        let newest = self.newest;
        let alone = self.linked == 0;
        let sent = self.get_mut(number);
        sent.tags = sent.tags.with(Tags::LINKED);
        sent.later = number;
        sent.earlier = if alone { number } else { newest };
        if alone {
            self.oldest = number;
        } else {
            self.get_mut(newest).later = number;
        }
        self.newest = number;
        self.linked += 1;
    }

    /// Takes entry `number` from the order by time; whether it was there.
    fn unlink(&mut self, number: u32) -> bool {
        let sent = self.get_mut(number);
        if !sent.tags.has(Tags::LINKED) {
            return false;
        }
        sent.tags = sent.tags.without(Tags::LINKED);
        let (earlier, later) = (sent.earlier, sent.later);
        let (is_oldest, is_newest) = (number == self.oldest, number == self.newest);
        self.linked -= 1;
        if is_oldest {
            self.oldest = later;
        } else {
            self.get_mut(earlier).later = if is_newest { earlier } else { later };
        }
        if is_newest {
            self.newest = earlier;
        } else {
            self.get_mut(later).earlier = if is_oldest { later } else { earlier };
        }
        true
    }
}

/// Whether `a` is the smaller number.
fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// Keeps the count of entries with `tag`.
fn recount(count: &mut u32, old: Tags, new: Tags, tag: Tags) {
    *count = *count + u32::from(new.has(tag)) - u32::from(old.has(tag));
}
