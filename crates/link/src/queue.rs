//! The buffer in front of the transmitter: limits and drop policy.

use crate::codel::{Codel, Taken};
use crate::{Instant, Packet, Policy, QueueConfig};
use std::collections::VecDeque;

/// A packet and when it arrived.
#[derive(Debug)]
pub(crate) struct Queued<P> {
    pub(crate) packet: P,
    pub(crate) arrival: Instant,
}

/// First in, first out, within the limits of a [`QueueConfig`].
#[derive(Debug)]
pub(crate) struct Queue<P> {
    fifo: Fifo<P>,
    max_packets: usize,
    max_bytes: usize,
    drop_head: bool,
    codel: Option<Codel>,
    dropped: u64,
}

impl<P: Packet> Queue<P> {
    pub(crate) fn new(config: QueueConfig) -> Self {
        let codel = match config.policy {
            Policy::Codel { target, interval } => Some(Codel::new(target, interval)),
            Policy::DropTail | Policy::DropHead => None,
        };
        Self {
            fifo: Fifo {
                packets: VecDeque::new(),
                bytes: 0,
            },
            max_packets: config.packets.unwrap_or(usize::MAX),
            max_bytes: config.bytes.unwrap_or(usize::MAX),
            drop_head: config.policy == Policy::DropHead,
            codel,
            dropped: 0,
        }
    }

    /// Takes the packet in, or drops it or older ones.
    pub(crate) fn push(&mut self, queued: Queued<P>) {
        let bytes = queued.packet.wire_bytes();
        // What an empty queue could not hold is not worth emptying the queue for.
        if self.drop_head && bytes <= self.max_bytes && self.max_packets > 0 {
            while !self.fits(bytes) {
                self.fifo.pop();
                self.dropped += 1;
            }
        }
        if self.fits(bytes) {
            self.fifo.push(queued);
        } else {
            self.dropped += 1;
        }
    }

    /// Takes out the next packet to be transmitted, from `at` on; CoDel may drop some before it.
    pub(crate) fn pop(&mut self, at: Instant) -> Option<Queued<P>> {
        let Self {
            fifo,
            codel,
            dropped,
            ..
        } = self;
        let Some(codel) = codel else {
            return fifo.pop();
        };
        let take = || {
            fifo.pop().map(|queued| Taken {
                arrival: queued.arrival,
                backlog: fifo.bytes,
                item: queued,
            })
        };
        codel.dequeue(at, take, |_| *dropped += 1)
    }

    /// When the oldest packet arrived.
    pub(crate) fn oldest(&self) -> Option<Instant> {
        self.fifo.packets.front().map(|q| q.arrival)
    }

    pub(crate) fn len(&self) -> usize {
        self.fifo.packets.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.fifo.bytes
    }

    /// Packets dropped so far, by a limit or by CoDel.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Whether a packet of `bytes` keeps both limits.
    fn fits(&self, bytes: usize) -> bool {
        self.len() < self.max_packets && bytes <= self.max_bytes.saturating_sub(self.bytes())
    }
}

/// Packets and the sum of their bytes.
#[derive(Debug)]
struct Fifo<P> {
    packets: VecDeque<Queued<P>>,
    bytes: usize,
}

impl<P: Packet> Fifo<P> {
    fn push(&mut self, queued: Queued<P>) {
        self.bytes += queued.packet.wire_bytes();
        self.packets.push_back(queued);
    }

    fn pop(&mut self) -> Option<Queued<P>> {
        let queued = self.packets.pop_front()?;
        self.bytes -= queued.packet.wire_bytes();
        Some(queued)
    }
}

#[cfg(test)]
mod tests;
