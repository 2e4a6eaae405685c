//! Opportunities one after another, from any source.

use crate::Instant;
use std::fmt::Debug;

/// At `at`, `bytes` may leave at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Burst {
    pub(crate) at: Instant,
    pub(crate) bytes: u64,
}

/// A cursor over opportunities, which never end.
///
/// A burst without bytes stands for an opportunity not yet found: it comes at that instant at the earliest, and
/// [`Self::seek`] finds it.
pub(crate) trait Opportunities: Debug + Send + Sync {
    /// The next opportunity.
    fn peek(&self) -> Burst;

    /// The next opportunity, found if necessary. The caller has something to send until then.
    fn seek(&mut self) -> Burst {
        self.peek()
    }

    /// Passes the next opportunity, and goes on to the one after it.
    fn advance(&mut self) -> Burst;

    /// Goes on to the first opportunity later than `now`; until then there was nothing to send.
    fn skip_past(&mut self, now: Instant) -> Burst;
}

/// Only the opportunities that the transmitter is granted.
#[derive(Debug)]
pub(crate) struct Granted;

impl Opportunities for Granted {
    fn peek(&self) -> Burst {
        Burst {
            at: Instant::MAX,
            bytes: 0,
        }
    }

    fn advance(&mut self) -> Burst {
        self.peek()
    }

    fn skip_past(&mut self, _: Instant) -> Burst {
        self.peek()
    }
}
