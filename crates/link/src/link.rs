//! The link: its stages in a row.

use crate::arq::ArqProcess;
use crate::delay::Propagation;
use crate::flight::Flight;
use crate::loss::LossProcess;
use crate::queue::{PacketTime, Queue, Queued};
use crate::rate::Burst;
use crate::shaper::Shaper;
use crate::transmitter::Transmitter;
use crate::{Capacity, Config, FqCodelPolicy, Instant, Packet};
use std::time::Duration;
use tidegate_basics::time::earlier;

/// A packet at the far end of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery<P> {
    /// The packet that was pushed.
    pub packet: P,
    /// When its last byte leaves the far end.
    pub due: Instant,
    /// True queueing delay: from arrival at the queue until transmission began or, with opportunities, until the first
    /// one that carried some of the packet. Excludes time before it, in the shaper, and after it, in retransmission or
    /// in a middlebox.
    pub queued: Duration,
}

/// Counts of packets so far. At any time `arrived_packets` plus `duplicated` equals the sum of `delivered_packets`,
/// `dropped`, `lost`, [`Link::shaper_len`], [`Link::queue_len`] and [`Link::in_flight`].
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
    /// Packets that the queue or the shaper dropped.
    pub dropped: u64,
    /// Packets that the queue marked as having met congestion.
    pub marked: u64,
    /// Packets that the loss model took, or that the link gave up after the last retransmission.
    pub lost: u64,
    /// Copies made on the way.
    pub duplicated: u64,
}

/// One direction of a path.
///
/// Time must not go backwards from call to call; an earlier `now` counts as the latest one.
/// Everything that happens at an instant happens before the packets that are pushed at it.
#[derive(Debug)]
pub struct Link<P> {
    /// The latest time that a call has brought.
    clock: Instant,
    shaper: Option<Box<Shaper<P>>>,
    queue: Queue<P>,
    transmitter: Transmitter<P>,
    arq: Option<Box<ArqProcess>>,
    loss: LossProcess,
    propagation: Propagation,
    /// Being sent or on the way.
    flight: Flight<P>,
    stats: Stats,
    /// Sum of the reported waits of the packets that were sent.
    waited: PacketTime,
    capacity: Capacity,
}

impl<P: Packet> Link<P> {
    /// An empty link at [`Instant::ZERO`]. `seed` covers everything random in it except the rate and other users,
    /// which have seeds of their own.
    pub fn new(config: Config, seed: u64) -> Self {
        let transmitter = Transmitter::new(&config);
        Self::with_transmitter(transmitter, config, seed)
    }

    /// A link that sends only what [`Self::grant`] allows.
    pub(crate) fn granted(config: Config, seed: u64) -> Self {
        Self::with_transmitter(Transmitter::granted(), config, seed)
    }

    fn with_transmitter(transmitter: Transmitter<P>, config: Config, seed: u64) -> Self {
        // A stream for each stage, so that none changes another's fate.
        let stream = |n: u64| seed ^ n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self {
            clock: Instant::ZERO,
            shaper: config.shaper.map(|bucket| Box::new(Shaper::new(bucket))),
            queue: Queue::new(config.queue, &config.rate, stream(1)),
            transmitter,
            arq: config
                .arq
                .map(|arq| Box::new(ArqProcess::new(arq, stream(2)))),
            loss: LossProcess::new(config.loss, seed),
            propagation: Propagation::new(config.delay),
            flight: Flight::new(config.disorder, config.middlebox, stream(3)),
            stats: Stats::default(),
            waited: PacketTime::default(),
            capacity: Capacity::new(&config.rate),
        }
    }

    /// A packet arrives at the link: at its queue or, if it has one, at its shaper.
    #[inline]
    pub fn push(&mut self, now: Instant, packet: P) {
        let arrival = self.advance(now);
        self.stats.arrived_packets += 1;
        self.stats.arrived_bytes += packet.wire_bytes() as u64;
        let queued = Queued { packet, arrival };
        match &mut self.shaper {
            None => self.queue.push(queued),
            Some(shaper) => shaper.push(queued),
        }
        self.count_signals();
        // An idle transmitter starts at once.
        self.advance(now);
    }

    /// The next packet that has reached the far end by `now`, in order of `due`; call it until it
    /// is none.
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Option<Delivery<P>> {
        let now = self.advance(now);
        self.collect(now)
    }

    /// The next packet that has reached the far end by `until`, up to which the link has been
    /// advanced.
    #[inline]
    pub(crate) fn collect(&mut self, until: Instant) -> Option<Delivery<P>> {
        let delivery = self.flight.pop(until)?;
        self.stats.delivered_packets += 1;
        self.stats.delivered_bytes += delivery.packet.wire_bytes() as u64;
        Some(delivery)
    }

    /// When to wake up next: no [`Self::poll`] before this instant yields anything, unless something is pushed. It
    /// lies after the last `now` once `poll` has yielded none. None: nothing will happen without a push.
    ///
    /// A poll at that instant may still yield none, if loss or CoDel took the packet, a middlebox
    /// holds it or it needs more than one opportunity; it then says when to try again.
    #[inline]
    pub fn next_event(&self) -> Option<Instant> {
        let flight = self.flight.next_event();
        if !self.flight.may_be_overtaken() {
            // The packet under way is due first; nothing else has to happen before.
            return flight;
        }
        let transmitter = self.transmitter.next_event(&self.queue);
        let shaper = self.shaper.as_ref().and_then(|s| s.next_event());
        earlier(earlier(flight, transmitter), shaper)
    }

    /// From `now` on the shaper has another rate, in bit/s, and its queue, if it is FQ-CoDel's, other parameters; the
    /// number of flows stays. Only for links that serialise one packet after another. [`Self::capacity_bytes`] goes on
    /// with the initial rate.
    pub fn reshape(&mut self, now: Instant, bits_per_second: f64, policy: FqCodelPolicy) {
        let now = self.advance(now);
        self.transmitter.set_rate(now, bits_per_second);
        self.queue.retune(policy);
    }

    /// Counts of packets so far.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Bytes that the link could have carried in [`from`, `to`), had there been no other users. Cheap
    /// if asked in order of time; see [`Capacity`].
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

    /// Packets in the shaper, as of the last [`Self::push`] or [`Self::poll`].
    pub fn shaper_len(&self) -> usize {
        self.shaper.as_ref().map_or(0, |s| s.len())
    }

    /// Packets that have left the queue but not yet the far end.
    pub fn in_flight(&self) -> usize {
        self.flight.len() + usize::from(self.transmitter.is_sending())
    }

    /// Asserts what holds for every link: no packet goes missing ([`Stats`]), and Little's law, that the queue's
    /// length summed over time equals the sum of the waits (`queue/little.rs`). Does nothing in a release build.
    ///
    /// # Panics
    /// If the link is at fault.
    pub fn assert_sound(&self) {
        #[cfg(debug_assertions)]
        {
            let Stats {
                arrived_packets,
                delivered_packets,
                dropped,
                lost,
                duplicated,
                ..
            } = self.stats;
            let inside = self.shaper_len() + self.queue_len() + self.in_flight();
            let out = delivered_packets + dropped + lost + inside as u64;
            assert_eq!(
                arrived_packets + duplicated,
                out,
                "packets, {:?}",
                self.stats
            );
            let law = self.queue.law(self.clock);
            let sent = self.waited.get() + self.transmitter.waited().as_nanos();
            assert_eq!(law.stood, sent + law.waiting, "packets × ns in the queue");
            if let Some(shaper) = &self.shaper {
                shaper.assert_littles_law(self.clock);
            }
        }
    }

    /// Whether there is something to send.
    pub(crate) fn has_work(&self) -> bool {
        self.transmitter.has_work(&self.queue)
    }

    /// When something happens that needs no [`Self::grant`].
    pub(crate) fn next_ungranted(&self) -> Option<Instant> {
        let shaper = self.shaper.as_ref().and_then(|s| s.next_event());
        [shaper, self.flight.next_event()]
            .into_iter()
            .flatten()
            .min()
    }

    /// When the shaper lets the next packet go.
    pub(crate) fn next_arrival(&self) -> Option<Instant> {
        self.shaper.as_ref().and_then(|s| s.next_event())
    }

    /// Lets a [granted](Self::granted) link send `bytes` at `at`.
    pub(crate) fn grant(&mut self, at: Instant, bytes: u64) {
        self.transmitter.grant(Burst { at, bytes });
        self.advance(at);
    }

    /// Lets everything leave the queue that does until `now`. Returns `now`, or the latest time of an earlier call.
    #[inline]
    pub(crate) fn advance(&mut self, now: Instant) -> Instant {
        self.clock = self.clock.max(now);
        if self.shaper.is_some() {
            self.release();
        }
        if self.transmitter.is_due(self.clock, &self.queue) {
            self.transmit(self.clock);
        }
        self.clock
    }

    /// Lets everything leave the shaper that does until `now`, and meanwhile the queue.
    #[cold]
    fn release(&mut self) {
        while let Some((arrival, packet)) = self
            .shaper
            .as_mut()
            .and_then(|shaper| shaper.release(self.clock))
        {
            self.transmit(arrival);
            self.queue.push(Queued { packet, arrival });
            self.count_signals();
        }
    }

    #[inline]
    fn count_signals(&mut self) {
        self.stats.dropped = self.queue.dropped();
        self.stats.marked = self.queue.marked();
        if let Some(shaper) = &self.shaper {
            self.stats.dropped += shaper.dropped();
        }
    }

    /// Lets everything leave the queue that does until `now`.
    #[inline(never)]
    fn transmit(&mut self, now: Instant) {
        while let Some(departure) = self.transmitter.next_departure(now, &mut self.queue) {
            self.waited.waited(departure.queued);
            let received = match &mut self.arq {
                None => Some(departure.at),
                Some(arq) => arq.deliver(departure.at),
            };
            let Some(at) = received.filter(|_| !self.loss.strikes()) else {
                self.stats.lost += 1;
                continue;
            };
            let due = self.propagation.due(at);
            self.stats.duplicated += self.flight.push(departure.packet, due, departure.queued);
        }
        self.count_signals();
    }
}

#[cfg(test)]
mod tests;
