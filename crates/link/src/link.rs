//! The link: queue, transmitter, loss and delay in a row.

use crate::delay::Propagation;
use crate::loss::LossProcess;
use crate::queue::{Queue, Queued};
use crate::transmitter::Transmitter;
use crate::{Capacity, Config, Instant, Packet};
use std::collections::VecDeque;
use std::time::Duration;

/// A packet at the far end of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery<P> {
    /// What was pushed.
    pub packet: P,
    /// When its last byte leaves the far end.
    pub due: Instant,
    /// True queueing delay: from its arrival until its transmission began or, with opportunities,
    /// until the first one that carried some of it.
    pub queued: Duration,
}

/// What became of the packets so far. At any time `arrived_packets` is the sum of
/// `delivered_packets`, `dropped`, `lost`, [`Link::queue_len`] and [`Link::in_flight`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Packets pushed.
    pub arrived_packets: u64,
    /// Bytes pushed.
    pub arrived_bytes: u64,
    /// Packets that [`Link::poll`] handed out.
    pub delivered_packets: u64,
    /// Their bytes.
    pub delivered_bytes: u64,
    /// Packets that the queue dropped.
    pub dropped: u64,
    /// Packets that the loss model took.
    pub lost: u64,
}

/// One direction of a path.
///
/// Time must not go backwards from call to call; an earlier `now` counts as the latest one.
/// Everything that happens at an instant happens before the packets that are pushed at it.
#[derive(Debug)]
pub struct Link<P> {
    /// The latest time heard of.
    clock: Instant,
    queue: Queue<P>,
    transmitter: Transmitter<P>,
    loss: LossProcess,
    propagation: Propagation,
    /// Being sent or on the way, in order of `due`.
    flight: VecDeque<Delivery<P>>,
    stats: Stats,
    capacity: Capacity,
}

impl<P: Packet> Link<P> {
    /// An empty link at [`Instant::ZERO`]; `seed` is for the loss model.
    pub fn new(config: Config, seed: u64) -> Self {
        Self {
            clock: Instant::ZERO,
            queue: Queue::new(config.queue),
            transmitter: Transmitter::new(&config.rate),
            loss: LossProcess::new(config.loss, seed),
            propagation: Propagation::new(config.delay),
            flight: VecDeque::new(),
            stats: Stats::default(),
            capacity: Capacity::new(&config.rate),
        }
    }

    /// A packet arrives at the queue.
    pub fn push(&mut self, now: Instant, packet: P) {
        let arrival = self.advance(now);
        self.stats.arrived_packets += 1;
        self.stats.arrived_bytes += packet.wire_bytes() as u64;
        self.queue.push(Queued { packet, arrival });
        // An idle transmitter starts at once.
        self.advance(now);
    }

    /// The next packet that has reached the far end by `now`, in order of `due`; call it until it
    /// is none.
    pub fn poll(&mut self, now: Instant) -> Option<Delivery<P>> {
        let now = self.advance(now);
        let delivery = self.flight.pop_front_if(|d| d.due <= now)?;
        self.stats.delivered_packets += 1;
        self.stats.delivered_bytes += delivery.packet.wire_bytes() as u64;
        Some(delivery)
    }

    /// No [`Self::poll`] before this instant yields anything, unless something is pushed: when to
    /// wake up next. Later than the last `now` once `poll` has yielded none. None: nothing will
    /// ever happen without a push.
    ///
    /// A poll at that instant may still yield none, if loss or CoDel took the packet or it needs
    /// more than one opportunity; it then says when to try again.
    pub fn next_event(&self) -> Option<Instant> {
        match self.flight.front() {
            // Nothing overtakes it, so what else happens until then can wait.
            Some(delivery) => Some(delivery.due),
            None => self.transmitter.next_event(&self.queue),
        }
    }

    /// What became of the packets so far.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Bytes that the link could have carried in [`from`, `to`). Cheap if asked in order of time;
    /// see [`Capacity`].
    pub fn capacity_bytes(&mut self, from: Instant, to: Instant) -> u64 {
        self.capacity.bytes(from, to)
    }

    /// Packets in the queue, as of the last [`Self::push`] or [`Self::poll`].
    pub fn queue_len(&self) -> usize {
        self.queue.len()
    }

    /// Bytes in the queue, as of the last [`Self::push`] or [`Self::poll`].
    pub fn queue_bytes(&self) -> usize {
        self.queue.bytes()
    }

    /// Packets that have left the queue but not yet the far end.
    pub fn in_flight(&self) -> usize {
        self.flight.len() + usize::from(self.transmitter.is_sending())
    }

    /// Everything that leaves the queue until `now`. Returns `now`, or the latest time heard of.
    fn advance(&mut self, now: Instant) -> Instant {
        self.clock = self.clock.max(now);
        while let Some(departure) = self.transmitter.next_departure(self.clock, &mut self.queue) {
            if self.loss.strikes() {
                self.stats.lost += 1;
                continue;
            }
            self.flight.push_back(Delivery {
                packet: departure.packet,
                due: self.propagation.due(departure.at),
                queued: departure.queued,
            });
        }
        self.stats.dropped = self.queue.dropped();
        self.clock
    }
}

#[cfg(test)]
mod tests;
