//! How much a link carries, and when.
//!
//! Two kinds of rate exist. A *fluid* rate ([`Rate::Constant`], [`Rate::Series`]) serialises packet
//! after packet. *Opportunities* ([`Rate::Opportunities`], [`Rate::Scheduled`], [`Rate::Cell`],
//! [`Rate::Walk`]) are instants at which a number of bytes may leave at once; what the queue cannot
//! fill is lost.

mod burst;
mod capacity;
mod cell;
mod fluid;
mod scheduled;
mod series;
mod trace;
mod tti;
mod walk;

pub(crate) use burst::{Burst, Bursts};
pub use capacity::Capacity;
pub use cell::{Cell, CellModel};
pub(crate) use fluid::{Fluid, NANOBITS_PER_BYTE};
pub use scheduled::ScheduledSeries;
pub use series::{RateSeries, StepsError};
pub use trace::Trace;
pub(crate) use walk::Signal;
pub use walk::{Fading, SignalWalk, WalkError};

use std::sync::Arc;
use std::time::Duration;

/// The capacity of a link over time.
#[derive(Clone, Debug)]
pub enum Rate {
    /// The same rate for ever, in bit/s; rounded to whole bits per second, at least 1.
    Constant(f64),
    /// A recorded trace in Mahimahi's format, looped.
    Opportunities(Arc<Trace>),
    /// A piecewise constant rate, looped.
    Series(Arc<RateSeries>),
    /// A recorded rate handed out in bursts, looped.
    Scheduled(Arc<ScheduledSeries>),
    /// A generated cell.
    Cell(CellModel),
    /// A user's walk through a cell.
    Walk(Arc<SignalWalk>),
}

impl Rate {
    /// Long-run mean rate in bit/s.
    pub fn mean_bps(&self) -> f64 {
        match self {
            Self::Constant(bps) => whole_bps(*bps) as f64,
            Self::Opportunities(trace) => trace.mean_bps(),
            Self::Series(series) => series.mean_bps(),
            Self::Scheduled(series) => series.mean_bps(),
            Self::Cell(model) => model.mean_bps(),
            Self::Walk(walk) => walk.mean_bps(),
        }
    }

    /// What the `index`th of `users` in the same cell has, and how far ahead of this one in its
    /// loop: what is random has a seed of its own, what is recorded begins elsewhere.
    pub(crate) fn neighbour(&self, index: u64, users: u64) -> (Self, Duration) {
        let ahead = |period: Duration| {
            // Whole milliseconds, as recorded opportunities are.
            Duration::from_millis((period.as_millis() as u64).saturating_mul(index) / users)
        };
        match self {
            Self::Constant(_) => (self.clone(), Duration::ZERO),
            Self::Opportunities(trace) => (self.clone(), ahead(trace.period())),
            Self::Series(series) => (self.clone(), ahead(series.period())),
            Self::Scheduled(series) => (self.clone(), ahead(series.period())),
            Self::Cell(model) => (Self::Cell(model.neighbour(index)), Duration::ZERO),
            Self::Walk(walk) => (
                Self::Walk(Arc::new(walk.neighbour(index))),
                ahead(walk.period()),
            ),
        }
    }
}

/// Whole bits per second, at least 1.
fn whole_bps(bits_per_second: f64) -> u64 {
    (bits_per_second.round() as u64).max(1)
}
