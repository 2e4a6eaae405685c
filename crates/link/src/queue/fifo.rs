//! First in, first out, with limits and active queue management.

use super::backlog::{Backlog, Queued};
use super::guard::Guard;
use super::marking::Signals;
use crate::{Instant, Packet, Policy, QueueConfig};

/// First in, first out, within the limits of a [`QueueConfig`].
#[derive(Debug)]
pub(crate) struct Fifo<P> {
    backlog: Backlog<P>,
    max_packets: usize,
    max_bytes: usize,
    /// Whether the oldest packets are dropped to make room for the newest.
    drops_head: bool,
    /// Active queue management, if there is any.
    guard: Option<Box<dyn Guard<P>>>,
    signals: Signals,
}

impl<P: Packet> Fifo<P> {
    pub(super) fn new(config: QueueConfig, guard: Option<Box<dyn Guard<P>>>) -> Self {
        Self {
            backlog: Backlog::default(),
            max_packets: config.packets.unwrap_or(usize::MAX),
            max_bytes: config.bytes.unwrap_or(usize::MAX),
            drops_head: config.policy == Policy::DropHead,
            guard,
            signals: Signals::new(config.marking),
        }
    }

    #[inline]
    pub(super) fn push(&mut self, mut queued: Queued<P>) {
        let bytes = queued.packet.wire_bytes();
        if self.drops_head {
            self.make_room(bytes, queued.arrival);
        }
        if self.admits(&mut queued) && self.fits(bytes) {
            self.backlog.push(queued);
        } else {
            self.signals.dropped += 1;
        }
    }

    /// Whether the guard takes in a packet that has just arrived, marked or not.
    #[inline]
    fn admits(&mut self, queued: &mut Queued<P>) -> bool {
        match &mut self.guard {
            None => true,
            Some(guard) => {
                guard.admits(queued.arrival, &self.backlog)
                    || guard.marks() && self.signals.marks(&mut queued.packet)
            }
        }
    }

    /// Drops the oldest packets until one of `bytes` that arrives at `now` fits.
    fn make_room(&mut self, bytes: usize, now: Instant) {
        // Do not empty the queue for a packet that even an empty queue cannot hold.
        if bytes <= self.max_bytes && self.max_packets > 0 {
            while !self.fits(bytes) {
                if let Some(oldest) = self.backlog.pop(now) {
                    self.signals.drop(&oldest, now);
                }
            }
        }
    }

    #[inline]
    pub(super) fn pop(&mut self, at: Instant) -> Option<Queued<P>> {
        match &mut self.guard {
            None => self.backlog.pop(at),
            Some(guard) => guard.pop(at, &mut self.backlog, &mut self.signals),
        }
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

    #[cfg(debug_assertions)]
    pub(super) fn backlog(&self) -> &Backlog<P> {
        &self.backlog
    }

    pub(super) fn signals(&self) -> Signals {
        self.signals
    }

    /// Whether a packet of `bytes` keeps both limits.
    #[inline]
    fn fits(&self, bytes: usize) -> bool {
        self.len() < self.max_packets && bytes <= self.max_bytes.saturating_sub(self.bytes())
    }
}

#[cfg(test)]
mod tests;
