//! First in, first out: limits, and what watches over the queue.

use super::backlog::{Backlog, Queued};
use super::codel::{Codel, Taken};
use super::pie::Pie;
use super::red::Red;
use crate::{Instant, Packet, Policy, QueueConfig};

/// First in, first out, within the limits of a [`QueueConfig`].
#[derive(Debug)]
pub(crate) struct Fifo<P> {
    backlog: Backlog<P>,
    max_packets: usize,
    max_bytes: usize,
    guard: Guard,
    dropped: u64,
}

/// What keeps the queue short.
#[derive(Debug)]
enum Guard {
    /// Nothing but the limits.
    DropTail,
    /// The limits, which the newest packet keeps at the oldest ones' cost.
    DropHead,
    /// Acts when a packet leaves.
    Codel(Codel),
    /// Acts when a packet arrives.
    Red(Box<Red>),
    /// Acts when a packet arrives.
    Pie(Box<Pie>),
}

impl<P: Packet> Fifo<P> {
    pub(super) fn new(config: QueueConfig, seed: u64) -> Self {
        let guard = match config.policy {
            Policy::DropHead => Guard::DropHead,
            Policy::Codel { target, interval } => Guard::Codel(Codel::new(target, interval)),
            Policy::Red(policy) => Guard::Red(Box::new(Red::new(policy, seed))),
            Policy::Pie { target } => Guard::Pie(Box::new(Pie::new(target, seed))),
            // FQ-CoDel with a single flow would be CoDel; it is a discipline of its own.
            Policy::DropTail | Policy::FqCodel(_) => Guard::DropTail,
        };
        Self {
            backlog: Backlog::default(),
            max_packets: config.packets.unwrap_or(usize::MAX),
            max_bytes: config.bytes.unwrap_or(usize::MAX),
            guard,
            dropped: 0,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, queued: Queued<P>) {
        let bytes = queued.packet.wire_bytes();
        if self.admits(queued.arrival, bytes) && self.fits(bytes) {
            self.backlog.push(queued);
        } else {
            self.dropped += 1;
        }
    }

    /// Whether the guard takes in a packet of `bytes` that arrives at `now`; it may drop others.
    #[inline]
    fn admits(&mut self, now: Instant, bytes: usize) -> bool {
        match &mut self.guard {
            Guard::DropTail | Guard::Codel(_) => true,
            Guard::DropHead => {
                self.make_room(bytes);
                true
            }
            Guard::Red(red) => !red.refuses(now, self.backlog.len()),
            Guard::Pie(pie) => !pie.refuses(now, self.backlog.bytes()),
        }
    }

    /// Drops the oldest packets until one of `bytes` fits.
    fn make_room(&mut self, bytes: usize) {
        // What an empty queue could not hold is not worth emptying the queue for.
        if bytes <= self.max_bytes && self.max_packets > 0 {
            while !self.fits(bytes) {
                self.backlog.pop();
                self.dropped += 1;
            }
        }
    }

    #[inline]
    pub(super) fn pop(&mut self, at: Instant) -> Option<Queued<P>> {
        match self.guard {
            Guard::DropTail | Guard::DropHead => self.backlog.pop(),
            _ => self.pop_guarded(at),
        }
    }

    #[inline(never)]
    fn pop_guarded(&mut self, at: Instant) -> Option<Queued<P>> {
        let Self {
            backlog,
            guard,
            dropped,
            ..
        } = self;
        if let Guard::Codel(codel) = guard {
            let take = || {
                backlog.pop().map(|queued| Taken {
                    arrival: queued.arrival,
                    backlog: backlog.bytes(),
                    item: queued,
                })
            };
            return codel.dequeue(at, take, |_| *dropped += 1);
        }
        let queued = backlog.pop()?;
        match guard {
            Guard::Red(red) if backlog.len() == 0 => red.emptied(at),
            Guard::Pie(pie) => pie.left(at, at - queued.arrival, backlog.bytes()),
            _ => {}
        }
        Some(queued)
    }

    /// When the oldest packet arrived.
    #[inline]
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.backlog.first().map(|q| q.arrival)
    }

    pub(super) fn len(&self) -> usize {
        self.backlog.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.backlog.bytes()
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Whether a packet of `bytes` keeps both limits.
    #[inline]
    fn fits(&self, bytes: usize) -> bool {
        self.len() < self.max_packets && bytes <= self.max_bytes.saturating_sub(self.bytes())
    }
}

#[cfg(test)]
mod tests;
