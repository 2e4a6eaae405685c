//! Opportunities one after another, whatever they come from.

use super::{CellModel, Trace, cell, trace};
use crate::Instant;
use std::sync::Arc;

/// At `at`, `bytes` may leave at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Burst {
    pub(crate) at: Instant,
    pub(crate) bytes: u64,
}

/// A cursor over opportunities, which never end.
#[derive(Clone, Debug)]
pub(crate) enum Bursts {
    Trace(trace::Cursor),
    Cell(Box<cell::Cursor>),
}

impl Bursts {
    /// A recorded trace's opportunities from the start of the run.
    pub(crate) fn trace(trace: Arc<Trace>) -> Self {
        Self::Trace(trace::Cursor::new(trace))
    }

    /// A generated cell's opportunities from the start of the run.
    pub(crate) fn cell(model: &CellModel) -> Self {
        Self::Cell(Box::new(cell::Cursor::new(model)))
    }

    /// The next opportunity.
    pub(crate) fn peek(&self) -> Burst {
        match self {
            Self::Trace(cursor) => cursor.peek(),
            Self::Cell(cursor) => cursor.peek(),
        }
    }

    /// Goes on to the one after it.
    pub(crate) fn advance(&mut self) {
        match self {
            Self::Trace(cursor) => cursor.advance(),
            Self::Cell(cursor) => cursor.advance(),
        }
    }

    /// Goes on to the first opportunity later than `now`.
    pub(crate) fn skip_past(&mut self, now: Instant) {
        match self {
            Self::Trace(cursor) => cursor.skip_past(now),
            Self::Cell(cursor) => cursor.skip_past(now),
        }
    }
}
