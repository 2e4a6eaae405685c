//! Active queue management.

use super::backlog::{Backlog, Queued};
use super::marking::Signals;
use crate::Instant;
use std::fmt::Debug;

/// Active queue management of a first-in, first-out queue, in addition to its limits.
pub(super) trait Guard<P>: Debug + Send + Sync {
    /// Whether it takes in the packet that arrives at `now` to find `backlog`.
    fn admits(&mut self, _now: Instant, _backlog: &Backlog<P>) -> bool {
        true
    }

    /// Whether a packet that it has just refused can be marked instead, if it is ECN-capable.
    fn marks(&self) -> bool {
        true
    }

    /// Takes out the next packet to be transmitted, from `at` on; `signals` takes those that it drops or marks before.
    fn pop(
        &mut self,
        at: Instant,
        backlog: &mut Backlog<P>,
        signals: &mut Signals,
    ) -> Option<Queued<P>>;
}
