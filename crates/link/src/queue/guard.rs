//! What watches over a queue.

use super::backlog::{Backlog, Queued};
use crate::Instant;
use std::fmt::Debug;

/// Active queue management of what is first in, first out, besides the limits.
pub(super) trait Guard<P>: Debug + Send + Sync {
    /// Whether it takes in the packet that arrives at `now` to find `backlog`.
    fn admits(&mut self, _now: Instant, _backlog: &Backlog<P>) -> bool {
        true
    }

    /// Takes out the next packet to be transmitted, from `at` on; counts in `dropped` what it drops
    /// before that.
    fn pop(
        &mut self,
        at: Instant,
        backlog: &mut Backlog<P>,
        dropped: &mut u64,
    ) -> Option<Queued<P>>;
}
