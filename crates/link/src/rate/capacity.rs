//! What a rate could have carried, which is what utilisation is measured against.

use super::cell::Radio;
use super::tti::{Cursor, Intervals};
use super::walk::Signal;
use super::{Rate, RateSeries, ScheduledSeries, SignalWalk, Trace, fluid, whole_bps};
use crate::{CellModel, Instant};
use std::sync::Arc;

/// A meter of the bytes that a link of some rate could have carried.
///
/// A generated cell or walk is generated once more for it, which is cheap as long as questions come in
/// order of time; a question about the past starts again from zero.
#[derive(Clone, Debug)]
pub struct Capacity(Source);

#[derive(Clone, Debug)]
enum Source {
    /// Bit/s.
    Constant(u64),
    Series(Arc<RateSeries>),
    Scheduled(Arc<ScheduledSeries>),
    Opportunities(Arc<Trace>),
    Cell(CellModel, Box<Cursor<Radio>>),
    Walk(Arc<SignalWalk>, Box<Cursor<Signal>>),
}

impl Capacity {
    /// A meter for `rate`.
    pub fn new(rate: &Rate) -> Self {
        Self(match rate {
            Rate::Constant(bps) => Source::Constant(whole_bps(*bps)),
            Rate::Series(series) => Source::Series(series.clone()),
            Rate::Scheduled(series) => Source::Scheduled(series.clone()),
            Rate::Opportunities(trace) => Source::Opportunities(trace.clone()),
            Rate::Cell(model) => Source::Cell(*model, Box::new(model.cursor())),
            Rate::Walk(walk) => Source::Walk(walk.clone(), Box::new(SignalWalk::cursor(walk))),
        })
    }

    /// Bytes that could have been carried in [`from`, `to`): whole ones, rounded so that the sums
    /// over adjacent intervals add up.
    pub fn bytes(&mut self, from: Instant, to: Instant) -> u64 {
        let before = self.bytes_before(from);
        self.bytes_before(to.max(from)) - before
    }

    /// Bytes that could have been carried before `t`.
    fn bytes_before(&mut self, t: Instant) -> u64 {
        match &mut self.0 {
            Source::Constant(bps) => whole_bytes(u128::from(*bps) * u128::from(t.as_nanos())),
            Source::Series(series) => whole_bytes(series.nanobits_before(t)),
            Source::Scheduled(series) => whole_bytes(series.nanobits_before(t)),
            Source::Opportunities(trace) => trace.bytes_before(t),
            Source::Cell(model, cursor) => generated(cursor, t, || model.cursor()),
            Source::Walk(walk, cursor) => generated(cursor, t, || SignalWalk::cursor(walk)),
        }
    }
}

/// Bytes of the opportunities before `t`; those of the past are generated `anew`.
fn generated<R: Intervals>(
    cursor: &mut Cursor<R>,
    t: Instant,
    anew: impl FnOnce() -> Cursor<R>,
) -> u64 {
    if cursor.passed() >= t {
        *cursor = anew();
    }
    cursor.bytes_before(t)
}

fn whole_bytes(nanobits: u128) -> u64 {
    (nanobits / u128::from(fluid::NANOBITS_PER_BYTE)) as u64
}

#[cfg(test)]
mod tests;
