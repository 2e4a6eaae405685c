//! Marks in place of drops (RFC 3168 §5, RFC 7567 §4.2.1).

use super::backlog::Queued;
use super::little::PacketTime;
use crate::{Ecn, Instant, Packet};
use std::time::Duration;

/// When a queue marks what is ECN-capable. By default it never does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marking {
    /// Active queue management marks where it would drop, as Linux's does with `ecn`. It still drops packets that are
    /// not ECN-capable, and a limit drops any packet.
    pub ecn: bool,
    /// CoDel and FQ-CoDel also mark each packet that has waited for longer than this, as data centres'
    /// switches do (Linux's `ce_threshold`).
    pub ce_threshold: Option<Duration>,
}

/// How a queue signals congestion, and how often it has done so.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signals {
    marking: Marking,
    /// Packets dropped, by a limit or by the policy.
    pub(super) dropped: u64,
    /// Packets that the queue marked: they came without CE and left with it.
    pub(super) marked: u64,
    /// Waits of packets that were dropped after they had been taken in.
    pub(super) waited: PacketTime,
}

impl Signals {
    pub(super) fn new(marking: Marking) -> Self {
        Self {
            marking,
            dropped: 0,
            marked: 0,
            waited: PacketTime::default(),
        }
    }

    /// A packet that had been taken in is dropped at `at`.
    pub(super) fn drop<P>(&mut self, queued: &Queued<P>, at: Instant) {
        self.dropped += 1;
        self.waited.waited(queued.wait(at));
    }

    /// Signals congestion to the packet's sender: marks the packet, or drops it at `at`. Returns it if it goes on.
    pub(super) fn signal<P: Packet>(
        &mut self,
        mut queued: Queued<P>,
        at: Instant,
    ) -> Option<Queued<P>> {
        if self.marks(&mut queued.packet) {
            return Some(queued);
        }
        self.drop(&queued, at);
        None
    }

    /// Marks a packet instead of dropping it, if this queue marks. Returns whether it is marked.
    pub(super) fn marks<P: Packet>(&mut self, packet: &mut P) -> bool {
        self.marking.ecn && self.mark(packet)
    }

    /// Marks a packet that leaves at `at` and has waited for too long.
    pub(super) fn step<P: Packet>(&mut self, queued: &mut Queued<P>, at: Instant) {
        let threshold = self.marking.ce_threshold;
        if threshold.is_some_and(|threshold| at - queued.arrival > threshold) {
            self.mark(&mut queued.packet);
        }
    }

    /// Sets CE. Returns whether the packet is ECN-capable (`INET_ECN_set_ce`).
    pub(super) fn mark<P: Packet>(&mut self, packet: &mut P) -> bool {
        let ecn = packet.ecn();
        if ecn.is_capable() && ecn != Ecn::Ce {
            packet.mark();
            self.marked += 1;
        }
        ecn.is_capable()
    }
}

#[cfg(test)]
mod tests;
