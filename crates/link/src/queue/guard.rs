//! What watches over a queue.

use super::backlog::{Backlog, Queued};
use super::marking::Signals;
use crate::Instant;
use std::fmt::Debug;

/// Active queue management of what is first in, first out, besides the limits.
pub(super) trait Guard<P>: Debug + Send + Sync {
    /// Whether it takes in the packet that arrives at `now` to find `backlog`.
    fn admits(&mut self, _now: Instant, _backlog: &Backlog<P>) -> bool {
        true
    }

    /// Whether the packet that it has just not taken in may be marked instead, if it can be.
    fn marks(&self) -> bool {
        true
    }

    /// Takes out the next packet to be transmitted, from `at` on; `signals` takes what it drops before
    /// that, or marks.
    fn pop(
        &mut self,
        at: Instant,
        backlog: &mut Backlog<P>,
        signals: &mut Signals,
    ) -> Option<Queued<P>>;
}
