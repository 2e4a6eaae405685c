//! Packets that wait.

use crate::{Instant, Packet};
use std::collections::VecDeque;

/// A packet and when it arrived.
#[derive(Debug)]
pub(crate) struct Queued<P> {
    pub(crate) packet: P,
    pub(crate) arrival: Instant,
}

/// Packets in order of arrival, and the sum of their bytes.
#[derive(Debug)]
pub(crate) struct Backlog<P> {
    packets: VecDeque<Queued<P>>,
    bytes: usize,
}

impl<P> Default for Backlog<P> {
    fn default() -> Self {
        Self {
            packets: VecDeque::new(),
            bytes: 0,
        }
    }
}

impl<P: Packet> Backlog<P> {
    pub(crate) fn push(&mut self, queued: Queued<P>) {
        self.bytes += queued.packet.wire_bytes();
        self.packets.push_back(queued);
    }

    pub(crate) fn pop(&mut self) -> Option<Queued<P>> {
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
}
