//! CoDel's decisions (RFC 8289), separate from the queue that they apply to.

use super::backlog::{Backlog, Queued};
use super::guard::Guard;
use super::marking::Signals;
use crate::{Instant, Packet};
use std::time::Duration;

/// §5.3: the link's MTU. A backlog of at most this is no standing queue.
const MAXPACKET: usize = 1500;

/// CoDel's state (§5.2); names are the RFC's.
///
/// ```text
///               sojourn ≥ target for an interval: drop
///  not dropping ──────────────────────────────────────▶ dropping: drops at drop_next,
///       ▲                                                 │       interval/√count apart
///       └─────────────────────────────────────────────────┘
///               sojourn < target, or backlog ≤ MAXPACKET
/// ```
#[derive(Debug)]
pub(super) struct Codel {
    target: Duration,
    interval: Duration,
    /// When the delay will have stood for an interval; none while it is below target.
    first_above_time: Option<Instant>,
    /// When to drop next.
    drop_next: Instant,
    /// Packets dropped since entering the drop state.
    count: u32,
    /// `count` when the drop state was last entered.
    lastcount: u32,
    dropping: bool,
}

impl Codel {
    pub(super) fn new(target: Duration, interval: Duration) -> Self {
        Self {
            target,
            interval,
            first_above_time: None,
            drop_next: Instant::ZERO,
            count: 0,
            lastcount: 0,
            dropping: false,
        }
    }

    /// Other parameters, from the next packet on.
    pub(super) fn retune(&mut self, target: Duration, interval: Duration) {
        (self.target, self.interval) = (target, interval);
    }

    /// The oldest packet of `backlog` that is to be sent, from `at` on.
    #[inline]
    pub(super) fn next<P: Packet>(
        &mut self,
        at: Instant,
        backlog: &mut Backlog<P>,
        signals: &mut Signals,
    ) -> Option<Queued<P>> {
        let signal = |queued| signals.signal(queued, at);
        let mut queued = self.dequeue(at, || Taken::from(backlog, at), signal)?;
        signals.step(&mut queued, at);
        Some(queued)
    }

    /// The dequeue routine of §5.5. `take` hands out the oldest packet with its arrival and the backlog in bytes
    /// behind it. `signal` gets a packet to drop, and returns it if it has marked it instead (RFC 8289 §3: "drop or
    /// mark"; Linux's `codel_dequeue` shows how the two differ).
    #[inline]
    pub(super) fn dequeue<T>(
        &mut self,
        now: Instant,
        mut take: impl FnMut() -> Option<Taken<T>>,
        mut signal: impl FnMut(T) -> Option<T>,
    ) -> Option<T> {
        let (mut packet, mut ok_to_drop) = self.dodequeue(now, take());
        if self.dropping {
            self.dropping = ok_to_drop;
            // A large backlog might want the next drop now as well, hence a loop.
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                packet = packet.and_then(&mut signal);
                if packet.is_some() {
                    self.drop_next = self.control_law(self.drop_next);
                    break;
                }
                (packet, ok_to_drop) = self.dodequeue(now, take());
                if ok_to_drop {
                    self.drop_next = self.control_law(self.drop_next);
                } else {
                    self.dropping = false;
                }
            }
        } else if ok_to_drop {
            packet = packet.and_then(&mut signal);
            if packet.is_none() {
                (packet, _) = self.dodequeue(now, take());
            }
            self.enter_drop_state(now);
        }
        packet
    }

    /// A packet of this queue was dropped at a limit; counts as one of CoDel's own (RFC 8290 §4.1.3).
    pub(super) fn dropped_elsewhere(&mut self) {
        self.count += 1;
    }

    /// §5.6: whether the packet in hand may be dropped, because the delay has been above target
    /// for an interval.
    fn dodequeue<T>(&mut self, now: Instant, taken: Option<Taken<T>>) -> (Option<T>, bool) {
        let Some(taken) = taken else {
            self.first_above_time = None;
            return (None, false);
        };
        let below = now - taken.arrival < self.target || taken.backlog <= MAXPACKET;
        let ok_to_drop = match self.first_above_time {
            _ if below => {
                self.first_above_time = None;
                false
            }
            None => {
                self.first_above_time = Some(now + self.interval);
                false
            }
            Some(first_above_time) => now >= first_above_time,
        };
        (Some(taken.item), ok_to_drop)
    }

    /// §5.5: if the last drop state ended not long ago, its drop rate is a good one to start with.
    fn enter_drop_state(&mut self, now: Instant) {
        self.dropping = true;
        let delta = self.count - self.lastcount;
        let recent = now - self.drop_next < 16 * self.interval;
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.drop_next = self.control_law(now);
        self.lastcount = self.count;
    }

    /// §5.6: drops come interval/√count apart, so that a TCP's rate falls linearly in time.
    fn control_law(&self, t: Instant) -> Instant {
        t + self.interval.div_f64(f64::from(self.count).sqrt())
    }
}

/// Acts when a packet leaves.
impl<P: Packet> Guard<P> for Codel {
    fn pop(
        &mut self,
        at: Instant,
        backlog: &mut Backlog<P>,
        signals: &mut Signals,
    ) -> Option<Queued<P>> {
        self.next(at, backlog, signals)
    }
}

/// A packet just taken from the queue.
pub(super) struct Taken<T> {
    item: T,
    arrival: Instant,
    /// Bytes left in the queue.
    backlog: usize,
}

impl<P: Packet> Taken<Queued<P>> {
    /// The oldest of `backlog`, at `at`.
    #[inline]
    pub(super) fn from(backlog: &mut Backlog<P>, at: Instant) -> Option<Self> {
        let queued = backlog.pop(at)?;
        Some(Self {
            arrival: queued.arrival,
            backlog: backlog.bytes(),
            item: queued,
        })
    }
}

#[cfg(test)]
mod tests;
