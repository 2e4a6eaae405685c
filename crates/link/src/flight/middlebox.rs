//! A box in the carrier's network that wants to read every stream in order.

use crate::link::Delivery;
use crate::{Instant, Packet, Sequence};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// A middlebox that holds what comes out of order until the hole is filled, as Z. Wang et al. found
/// carriers' to do ("An untold story of middleboxes in cellular networks", SIGCOMM 2011) and as the
/// DRWA report suspects behind its retransmission timeouts: a receiver behind it sees no hole and
/// sends no duplicate ACKs.
///
/// It holds each packet for `patience` at most. When that is over it lets the packet go, with those
/// held that come before it in sequence or follow it without a hole. Packets that carry no sequence
/// space pass at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Middlebox {
    /// How long a packet is held at most.
    pub patience: Duration,
}

/// With more flows than this, flows that have been silent are forgotten.
const MANY_FLOWS: usize = 1024;

/// How long a flow must be silent to be forgotten.
const FORGET_AFTER: Duration = Duration::from_secs(300);

/// A [`Middlebox`] under way.
#[derive(Debug)]
pub(super) struct Boxed<P> {
    patience: Duration,
    flows: BTreeMap<u64, Flow<P>>,
    /// When the patience with a flow's packet ends, in order of time. The packet may have left.
    ends: VecDeque<(Instant, u64)>,
    held: usize,
    /// Number of flows at which silent ones are looked for next.
    sweep_at: usize,
}

#[derive(Debug)]
struct Flow<P> {
    /// The first number that has not passed.
    next: u32,
    /// In order of `start`, each beyond `next`.
    held: VecDeque<Delayed<P>>,
    last_seen: Instant,
}

#[derive(Debug)]
struct Delayed<P> {
    delivery: Delivery<P>,
    sequence: Sequence,
}

impl<P: Packet> Boxed<P> {
    pub(super) fn new(middlebox: Middlebox) -> Self {
        Self {
            patience: middlebox.patience,
            flows: BTreeMap::new(),
            ends: VecDeque::new(),
            held: 0,
            sweep_at: MANY_FLOWS,
        }
    }

    /// A packet arrives at its `due`; what may leave goes `out`.
    pub(super) fn take(&mut self, delivery: Delivery<P>, out: &mut VecDeque<Delivery<P>>) {
        let Some(sequence) = delivery.packet.sequence() else {
            out.push_back(delivery);
            return;
        };
        let (now, key) = (delivery.due, delivery.packet.flow());
        self.forget_silent(now);
        let flow = self.flows.entry(key).or_insert_with(|| Flow {
            next: sequence.start,
            held: VecDeque::new(),
            last_seen: now,
        });
        flow.last_seen = now;
        if sequence.opens {
            // Another connection on the same ports: release everything that was held of the old one.
            self.held -= flow.release(|_| true, now, out);
            flow.next = sequence.start;
        }
        if after(sequence.start, flow.next) {
            flow.hold(Delayed { delivery, sequence });
            self.held += 1;
            self.ends.push_back((now + self.patience, key));
            return;
        }
        flow.pass(sequence.end);
        out.push_back(delivery);
        self.held -= flow.release_in_order(now, out);
        if self.held == 0 {
            self.ends.clear();
        }
    }

    /// When the patience with some packet ends.
    pub(super) fn next_event(&self) -> Option<Instant> {
        self.ends.front().map(|&(at, _)| at)
    }

    /// The patience that ends at `now` is over.
    pub(super) fn give_up(&mut self, now: Instant, out: &mut VecDeque<Delivery<P>>) {
        let Some((_, key)) = self.ends.pop_front() else {
            return;
        };
        let Some(flow) = self.flows.get_mut(&key) else {
            return;
        };
        let patience = self.patience;
        let overdue = |held: &Delayed<P>| held.delivery.due + patience <= now;
        if let Some(last) = flow.held.iter().rposition(overdue) {
            let end = flow.held[last].sequence.start;
            self.held -= flow.release(|held| !after(held.sequence.start, end), now, out);
            self.held -= flow.release_in_order(now, out);
        }
    }

    /// Packets held.
    pub(super) fn len(&self) -> usize {
        self.held
    }

    /// Keeps the memory of a run that opens connection after connection flat.
    fn forget_silent(&mut self, now: Instant) {
        if self.flows.len() >= self.sweep_at {
            self.flows
                .retain(|_, f| !f.held.is_empty() || now - f.last_seen < FORGET_AFTER);
            self.sweep_at = MANY_FLOWS.max(2 * self.flows.len());
        }
    }
}

impl<P> Flow<P> {
    /// Everything before `end` has passed.
    fn pass(&mut self, end: u32) {
        if after(end, self.next) {
            self.next = end;
        }
    }

    fn hold(&mut self, held: Delayed<P>) {
        let start = held.sequence.start;
        let place = self
            .held
            .iter()
            .rposition(|h| !after(h.sequence.start, start))
            .map_or(0, |i| i + 1);
        self.held.insert(place, held);
    }

    /// Lets those go that have no hole before them any more. Returns how many.
    fn release_in_order(&mut self, now: Instant, out: &mut VecDeque<Delivery<P>>) -> usize {
        let mut released = 0;
        while let Some(first) = self.held.front().map(|h| h.sequence.start) {
            if after(first, self.next) {
                break;
            }
            released += self.release(|h| h.sequence.start == first, now, out);
        }
        released
    }

    /// Releases packets from the front as long as the condition holds for them. Returns how many.
    fn release(
        &mut self,
        mut goes: impl FnMut(&Delayed<P>) -> bool,
        now: Instant,
        out: &mut VecDeque<Delivery<P>>,
    ) -> usize {
        let before = self.held.len();
        while let Some(held) = self.held.pop_front_if(|h| goes(h)) {
            self.pass(held.sequence.end);
            out.push_back(Delivery {
                due: now,
                ..held.delivery
            });
        }
        before - self.held.len()
    }
}

/// Whether `a` comes after `b`, modulo 2³².
fn after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

#[cfg(test)]
mod tests;
