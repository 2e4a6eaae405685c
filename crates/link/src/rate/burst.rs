//! Opportunities one after another, whatever they come from.

use super::cell::Radio;
use super::tti::Cursor;
use super::walk::Signal;
use super::{CellModel, SignalWalk, Trace, trace};
use crate::Instant;
use crate::share::Contention;
use std::sync::Arc;

/// At `at`, `bytes` may leave at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Burst {
    pub(crate) at: Instant,
    pub(crate) bytes: u64,
}

/// A cursor over opportunities, which never end.
#[derive(Debug)]
pub(crate) enum Bursts {
    Trace(trace::Cursor),
    Cell(Box<Cursor<Radio>>),
    Walk(Box<Cursor<Signal>>),
    /// What a scheduler leaves of them.
    Shared(Box<Contention>),
    /// Only what is given by [`Self::grant`].
    Granted(Option<Burst>),
}

impl Bursts {
    /// A recorded trace's opportunities from the start of the run.
    pub(crate) fn trace(trace: Arc<Trace>) -> Self {
        Self::Trace(trace::Cursor::new(trace))
    }

    /// A generated cell's opportunities from the start of the run.
    pub(crate) fn cell(model: &CellModel) -> Self {
        Self::Cell(Box::new(model.cursor()))
    }

    /// A walk's opportunities from the start of the run.
    pub(crate) fn walk(walk: &Arc<SignalWalk>) -> Self {
        Self::Walk(Box::new(SignalWalk::cursor(walk)))
    }

    /// Looks for the next opportunity, if that is any work: to be called before [`Self::peek`]
    /// whenever there is something to send.
    pub(crate) fn seek(&mut self) {
        if let Self::Shared(contention) = self {
            contention.seek();
        }
    }

    /// The next opportunity, given that there is always something to send until then; none as yet
    /// lies at [`Instant::MAX`].
    pub(crate) fn peek(&self) -> Burst {
        match self {
            Self::Trace(cursor) => cursor.peek(),
            Self::Cell(cursor) => cursor.peek(),
            Self::Walk(cursor) => cursor.peek(),
            Self::Shared(contention) => contention.peek(),
            Self::Granted(burst) => burst.unwrap_or(Burst {
                at: Instant::MAX,
                bytes: 0,
            }),
        }
    }

    /// Goes on to the one after it.
    pub(crate) fn advance(&mut self) {
        match self {
            Self::Trace(cursor) => cursor.advance(),
            Self::Cell(cursor) => cursor.advance(),
            Self::Walk(cursor) => cursor.advance(),
            Self::Shared(contention) => contention.advance(),
            Self::Granted(burst) => *burst = None,
        }
    }

    /// Goes on to the first opportunity later than `now`; until then there was nothing to send.
    pub(crate) fn skip_past(&mut self, now: Instant) {
        match self {
            Self::Trace(cursor) => cursor.skip_past(now),
            Self::Cell(cursor) => cursor.skip_past(now),
            Self::Walk(cursor) => cursor.skip_past(now),
            Self::Shared(contention) => contention.skip_past(now),
            Self::Granted(burst) => {
                burst.take_if(|b| b.at <= now);
            }
        }
    }

    /// Gives the next opportunity.
    pub(crate) fn grant(&mut self, burst: Burst) {
        *self = Self::Granted(Some(burst));
    }
}
