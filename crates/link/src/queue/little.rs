//! Little's law, checked on every queue in a debug build. A release build contains none of this.
//!
//! ```text
//!     L = λ·W     L: packets that wait, on average over time;  λ: packets a second;  W: how long each waits
//! ```
//!
//! (J. D. C. Little, "A proof for the queuing formula: L = λW", Operations Research 9(3), 1961). Multiplied by the
//! length of the run, both sides are packets × time. The left is the queue's length summed over time. The right is the
//! sum of the waits of packets that were sent, of packets that were dropped after they had been taken in, and, so far,
//! of packets still inside. Both are integers, so they agree to the nanosecond.
//!
//! The left side comes from lengths and the clock alone, the right side from the wait that is reported of each packet.
//! A packet that goes missing, a wait that belongs to another packet and a clock that goes back all break the
//! equality.

#[cfg(debug_assertions)]
use super::{Backlog, Queue};
use crate::Instant;
#[cfg(debug_assertions)]
use crate::Packet;
use std::time::Duration;

/// A sum of packets × nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PacketTime(#[cfg(debug_assertions)] u128);

impl PacketTime {
    /// Adds one packet's wait.
    #[inline]
    pub(crate) fn waited(&mut self, time: Duration) {
        self.add(1, time);
    }

    /// Adds the same wait of several packets.
    #[cfg(debug_assertions)]
    fn add(&mut self, packets: usize, time: Duration) {
        self.0 += packets as u128 * time.as_nanos();
    }

    #[cfg(not(debug_assertions))]
    fn add(&mut self, _: usize, _: Duration) {}

    /// The sum.
    #[cfg(debug_assertions)]
    pub(crate) fn get(self) -> u128 {
        self.0
    }
}

/// A backlog's length over time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Standing {
    #[cfg(debug_assertions)]
    sum: PacketTime,
    #[cfg(debug_assertions)]
    until: Instant,
}

impl Standing {
    /// Adds the current length up to `now`, just before the length changes.
    #[cfg(debug_assertions)]
    pub(super) fn change(&mut self, packets: usize, now: Instant) {
        assert!(now >= self.until, "{now} after {}", self.until);
        self.sum.add(packets, now - self.until);
        self.until = now;
    }

    #[cfg(not(debug_assertions))]
    pub(super) fn change(&mut self, _: usize, _: Instant) {}
}

/// Both sides of the law, in packets × nanoseconds.
#[cfg(debug_assertions)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Law {
    /// Packets, and the queue's length summed over time.
    pub(crate) packets: usize,
    pub(crate) stood: u128,
    /// Waits so far of the packets that are inside.
    pub(crate) waiting: u128,
}

#[cfg(debug_assertions)]
impl Law {
    /// The two sides for one backlog, until `now`.
    pub(crate) fn of<P: Packet>(backlog: &Backlog<P>, now: Instant) -> Self {
        let mut standing = backlog.standing();
        standing.change(backlog.len(), now);
        let waits = backlog
            .iter()
            .map(|queued| (now - queued.arrival).as_nanos());
        Self {
            packets: backlog.len(),
            stood: standing.sum.get(),
            waiting: waits.sum(),
        }
    }

    fn and(self, other: Self) -> Self {
        Self {
            packets: self.packets + other.packets,
            stood: self.stood + other.stood,
            waiting: self.waiting + other.waiting,
        }
    }
}

#[cfg(debug_assertions)]
impl<P: Packet> Queue<P> {
    /// The law for all backlogs together until `now`, with the waits of packets that were dropped.
    ///
    /// # Panics
    /// If a packet has gone missing.
    pub(crate) fn law(&self, now: Instant) -> Law {
        let backlogs: Vec<&Backlog<P>> = match self {
            Self::Fifo(fifo) => vec![fifo.backlog()],
            Self::FqCodel(fq) => fq.backlogs().collect(),
            Self::DualPi2(dual) => dual.backlogs().into(),
        };
        let laws = backlogs.into_iter().map(|backlog| Law::of(backlog, now));
        let mut law = laws.fold(Law::default(), Law::and);
        assert_eq!(self.len(), law.packets, "packets in the queue");
        law.waiting += self.signals().waited.get();
        law
    }
}
