//! Token-bucket shaping.

#[cfg(debug_assertions)]
use crate::queue::Law;
use crate::queue::{Backlog, PacketTime, Queued};
use crate::rate::NANOBITS_PER_BYTE;
use crate::{Instant, Packet};
use std::time::Duration;

/// A token bucket with a queue, as Linux's `tbf`: a packet leaves as soon as the bucket holds a token for each of its
/// bytes, and enters the link's queue without further delay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenBucket {
    /// Tokens a second, in bit/s; rounded to whole bits per second, at least 1.
    pub rate_bps: f64,
    /// Size of the bucket in bytes: how much can leave at once. A larger packet can never leave and is dropped.
    pub burst_bytes: u32,
    /// How many packets may wait; the next is dropped.
    pub queue_packets: usize,
}

/// A [`TokenBucket`] under way.
#[derive(Debug)]
pub(crate) struct Shaper<P> {
    bits_per_second: u64,
    /// The bucket's size, in nanobits.
    size: u64,
    queue_packets: usize,
    burst_bytes: usize,
    waiting: Backlog<P>,
    /// Nanobits in the bucket at `counted`.
    tokens: u64,
    counted: Instant,
    dropped: u64,
    /// Sum of the waits of packets that have left.
    waited: PacketTime,
}

impl<P: Packet> Shaper<P> {
    /// A shaper whose bucket is full.
    pub(crate) fn new(bucket: TokenBucket) -> Self {
        let size = u64::from(bucket.burst_bytes).saturating_mul(NANOBITS_PER_BYTE);
        Self {
            bits_per_second: (bucket.rate_bps.round() as u64).max(1),
            size,
            queue_packets: bucket.queue_packets,
            burst_bytes: bucket.burst_bytes as usize,
            waiting: Backlog::default(),
            tokens: size,
            counted: Instant::ZERO,
            dropped: 0,
            waited: PacketTime::default(),
        }
    }

    /// Takes the packet in, or drops it.
    pub(crate) fn push(&mut self, queued: Queued<P>) {
        let fits = queued.packet.wire_bytes() <= self.burst_bytes;
        if fits && self.waiting.len() < self.queue_packets {
            self.waiting.push(queued);
        } else {
            self.dropped += 1;
        }
    }

    /// When the next packet leaves.
    pub(crate) fn next_event(&self) -> Option<Instant> {
        let next = self.waiting.first()?;
        let missing = need(&next.packet).saturating_sub(self.tokens);
        let wait = Duration::from_nanos(missing.div_ceil(self.bits_per_second));
        Some((self.counted + wait).max(next.arrival))
    }

    /// The next packet that leaves by `now`, and when.
    pub(crate) fn release(&mut self, now: Instant) -> Option<(Instant, P)> {
        let at = self.next_event().filter(|&at| at <= now)?;
        let queued = self.waiting.pop(at)?;
        self.waited.waited(queued.wait(at));
        let packet = queued.packet;
        let gained = self
            .bits_per_second
            .saturating_mul((at - self.counted).as_nanos() as u64);
        self.tokens = self.tokens.saturating_add(gained).min(self.size) - need(&packet);
        self.counted = at;
        Some((at, packet))
    }

    /// Packets that wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Little's law (`queue/little.rs`): the queue's length over time is the sum of the waits.
    #[cfg(debug_assertions)]
    pub(crate) fn assert_littles_law(&self, now: Instant) {
        let law = Law::of(&self.waiting, now);
        let waits = self.waited.get() + law.waiting;
        assert_eq!(law.stood, waits, "packets × ns in the shaper's queue");
    }

    /// Packets dropped so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// The tokens that a packet takes.
fn need(packet: &impl Packet) -> u64 {
    packet.wire_bytes() as u64 * NANOBITS_PER_BYTE
}

#[cfg(test)]
mod tests;
