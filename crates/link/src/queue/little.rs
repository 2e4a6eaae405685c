//! Little's law, which every queue of a debug build is held to. A release build has none of this.
//!
//! ```text
//!     L = λ·W     L: packets that wait, on average over time;  λ: packets a second;  W: how long each waits
//! ```
//!
//! (J. D. C. Little, "A proof for the queuing formula: L = λW", Operations Research 9(3), 1961). Times the length of the run
//! both sides are packets × time: the queue's length summed over time, and the waits summed over packets: those that
//! were sent, those that were dropped after they had been taken in, and, so far, those that are still inside. Both are
//! integers, so they agree to the nanosecond.
//!
//! The left side is of lengths and the clock alone, the right one of what is reported of each packet. A packet that is lost
//! count of, a wait that is another's and a clock that goes back all break it.

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
    /// A packet has waited for so long.
    #[inline]
    pub(crate) fn waited(&mut self, time: Duration) {
        self.add(1, time);
    }

    /// So many packets have waited for so long.
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
    /// So many packets have stood there until `now`, when that changes.
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
    /// How long those that are inside have waited so far.
    pub(crate) waiting: u128,
}

#[cfg(debug_assertions)]
impl Law {
    /// That of a backlog until `now`.
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
    /// The law of all its backlogs until `now`, what was dropped among those that wait no more.
    ///
    /// # Panics
    /// If it has lost count of a packet.
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
