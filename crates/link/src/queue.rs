//! The buffer in front of the transmitter: limits, drop policy and, with FQ-CoDel, whose turn it is.

mod abc;
mod backlog;
mod codel;
mod config;
mod dualpi2;
mod fifo;
mod fq_codel;
mod guard;
mod little;
mod marking;
mod pie;
mod red;

pub use abc::{AbcFeedback, AbcPolicy};
pub(crate) use backlog::{Backlog, Queued};
pub use config::{Policy, QueueConfig, QueuePolicy};
pub use dualpi2::DualPi2Policy;
pub use fq_codel::FqCodelPolicy;
#[cfg(debug_assertions)]
pub(crate) use little::Law;
pub(crate) use little::PacketTime;
pub use marking::Marking;
pub use red::RedPolicy;

use crate::{Instant, Packet, Rate};
use abc::Abc;
use codel::Codel;
use dualpi2::DualPi2;
use fifo::Fifo;
use fq_codel::FqCodel;
use guard::Guard;
use marking::Signals;
use pie::Pie;
use red::Red;

/// A queue of whichever discipline the [`QueueConfig`] names.
///
/// The transmitter takes a packet as soon as it is free, so every packet that waits arrived while it was busy:
/// whichever is next, it arrived before it can leave.
#[derive(Debug)]
pub(crate) enum Queue<P> {
    /// First in, first out.
    Fifo(Fifo<P>),
    /// A queue for each flow.
    FqCodel(Box<FqCodel<P>>),
    /// One queue for L4S, and one for all others.
    DualPi2(Box<DualPi2<P>>),
}

impl<P: Packet> Queue<P> {
    /// An empty queue in front of a link with that rate, which ABC needs to know; `seed` is for RED, PIE and DualPI2.
    pub(crate) fn new(config: QueueConfig, rate: &Rate, seed: u64) -> Self {
        let guard: Box<dyn Guard<P>> = match config.policy {
            Policy::DropTail | Policy::DropHead => return Self::Fifo(Fifo::new(config, None)),
            Policy::Codel { target, interval } => Box::new(Codel::new(target, interval)),
            Policy::Red(policy) => Box::new(Red::new(policy, seed)),
            Policy::Abc(policy) => Box::new(Abc::new(policy, rate)),
            Policy::Pie { target } => Box::new(Pie::new(target, seed)),
            Policy::FqCodel(policy) => {
                return Self::FqCodel(Box::new(FqCodel::new(config, policy)));
            }
            Policy::DualPi2(policy) => {
                return Self::DualPi2(Box::new(DualPi2::new(config, policy, seed)));
            }
        };
        Self::Fifo(Fifo::new(config, Some(guard)))
    }

    /// Takes the packet in, or drops it or others.
    #[inline]
    pub(crate) fn push(&mut self, queued: Queued<P>) {
        match self {
            Self::Fifo(fifo) => fifo.push(queued),
            Self::FqCodel(fq) => fq.push(queued),
            Self::DualPi2(dual) => dual.push(queued),
        }
    }

    /// Takes out the next packet to be transmitted, from `at` on; CoDel may drop some before it.
    #[inline]
    pub(crate) fn pop(&mut self, at: Instant) -> Option<Queued<P>> {
        match self {
            Self::Fifo(fifo) => fifo.pop(at),
            Self::FqCodel(fq) => fq.pop(at),
            Self::DualPi2(dual) => dual.pop(at),
        }
    }

    /// Sets other parameters, if this is FQ-CoDel.
    pub(crate) fn retune(&mut self, policy: FqCodelPolicy) {
        if let Self::FqCodel(fq) = self {
            fq.retune(policy);
        }
    }

    /// When an idle transmitter can have its next packet; none while the queue is empty.
    #[inline]
    pub(crate) fn ready(&self) -> Option<Instant> {
        match self {
            Self::Fifo(fifo) => fifo.oldest(),
            Self::FqCodel(fq) => fq.newest(),
            Self::DualPi2(dual) => dual.newest(),
        }
    }

    /// Packets in it.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Fifo(fifo) => fifo.len(),
            Self::FqCodel(fq) => fq.len(),
            Self::DualPi2(dual) => dual.len(),
        }
    }

    /// Bytes in it.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Fifo(fifo) => fifo.bytes(),
            Self::FqCodel(fq) => fq.bytes(),
            Self::DualPi2(dual) => dual.bytes(),
        }
    }

    /// Packets dropped so far, by a limit or by the policy.
    #[inline]
    pub(crate) fn dropped(&self) -> u64 {
        self.signals().dropped
    }

    /// Packets marked so far.
    #[inline]
    pub(crate) fn marked(&self) -> u64 {
        self.signals().marked
    }

    #[inline]
    fn signals(&self) -> Signals {
        match self {
            Self::Fifo(fifo) => fifo.signals(),
            Self::FqCodel(fq) => fq.signals(),
            Self::DualPi2(dual) => dual.signals(),
        }
    }
}

#[cfg(test)]
mod tests;
