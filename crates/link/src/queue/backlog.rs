//! Packets that wait.

use super::little::Standing;
use crate::{Instant, Packet};
use std::collections::VecDeque;
use std::time::Duration;

/// A packet and when it arrived.
#[derive(Debug)]
pub(crate) struct Queued<P> {
    pub(crate) packet: P,
    pub(crate) arrival: Instant,
}

impl<P> Queued<P> {
    /// How long it has waited if it leaves at `at`.
    #[inline]
    pub(crate) fn wait(&self, at: Instant) -> Duration {
        at - self.arrival
    }
}

/// Packets in order of arrival, and the sum of their bytes.
#[derive(Debug)]
pub(crate) struct Backlog<P> {
    packets: VecDeque<Queued<P>>,
    bytes: usize,
    standing: Standing,
}

impl<P> Default for Backlog<P> {
    fn default() -> Self {
        Self {
            packets: VecDeque::new(),
            bytes: 0,
            standing: Standing::default(),
        }
    }
}

impl<P: Packet> Backlog<P> {
    pub(crate) fn push(&mut self, queued: Queued<P>) {
        self.standing.change(self.packets.len(), queued.arrival);
        self.bytes += queued.packet.wire_bytes();
        self.packets.push_back(queued);
    }

    /// The oldest leaves at `at`.
    pub(crate) fn pop(&mut self, at: Instant) -> Option<Queued<P>> {
        self.standing.change(self.packets.len(), at);
        let queued = self.packets.pop_front()?;
        self.bytes -= queued.packet.wire_bytes();
        Some(queued)
    }

    pub(crate) fn first(&self) -> Option<&Queued<P>> {
        self.packets.front()
    }

    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    #[cfg(debug_assertions)]
    pub(super) fn standing(&self) -> Standing {
        self.standing
    }

    #[cfg(debug_assertions)]
    pub(super) fn iter(&self) -> impl Iterator<Item = &Queued<P>> {
        self.packets.iter()
    }
}
