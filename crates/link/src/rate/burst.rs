//! Opportunities one after another, whatever they come from.

use super::cell::Radio;
use super::scheduled::Turns;
use super::tti::Cursor;
use super::walk::Signal;
use super::{CellModel, ScheduledSeries, SignalWalk, Trace, trace};
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
///
/// One without bytes stands for one yet to be looked for: it comes at that instant at the earliest,
/// and [`Bursts::seek`] finds it.
#[derive(Debug)]
pub(crate) enum Bursts {
    Trace(trace::Cursor),
    Cell(Box<Cursor<Radio>>),
    Walk(Box<Cursor<Signal>>),
    Scheduled(Box<Cursor<Turns>>),
    /// What a scheduler leaves of them.
    Shared(Box<Contention>),
    /// None but those that the transmitter is given.
    Granted,
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

    /// A scheduled series' opportunities from the start of the run.
    pub(crate) fn scheduled(series: &Arc<ScheduledSeries>) -> Self {
        Self::Scheduled(Box::new(ScheduledSeries::cursor(series)))
    }

    /// The next opportunity.
    pub(crate) fn peek(&self) -> Burst {
        match self {
            Self::Trace(cursor) => cursor.peek(),
            Self::Cell(cursor) => cursor.peek(),
            Self::Walk(cursor) => cursor.peek(),
            Self::Scheduled(cursor) => cursor.peek(),
            Self::Shared(contention) => contention.peek(),
            Self::Granted => Burst {
                at: Instant::MAX,
                bytes: 0,
            },
        }
    }

    /// The next opportunity, found if need be, given that there is something to send until then.
    pub(crate) fn seek(&mut self) -> Burst {
        if let Self::Shared(contention) = self {
            contention.seek();
        }
        self.peek()
    }

    /// Goes on to the one after the next.
    pub(crate) fn advance(&mut self) -> Burst {
        match self {
            Self::Trace(cursor) => cursor.advance(),
            Self::Cell(cursor) => cursor.advance(),
            Self::Walk(cursor) => cursor.advance(),
            Self::Scheduled(cursor) => cursor.advance(),
            Self::Shared(contention) => contention.advance(),
            Self::Granted => {}
        }
        self.peek()
    }

    /// Goes on to the first opportunity later than `now`; until then there was nothing to send.
    pub(crate) fn skip_past(&mut self, now: Instant) -> Burst {
        match self {
            Self::Trace(cursor) => cursor.skip_past(now),
            Self::Cell(cursor) => cursor.skip_past(now),
            Self::Walk(cursor) => cursor.skip_past(now),
            Self::Scheduled(cursor) => cursor.skip_past(now),
            Self::Shared(contention) => contention.skip_past(now),
            Self::Granted => {}
        }
        self.peek()
    }
}
