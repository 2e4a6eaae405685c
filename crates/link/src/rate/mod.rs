//! How much a link carries, and when.
//!
//! Two kinds of rate exist. A *fluid* rate ([`Rate::constant`], [`RateSeries`]) serialises packet
//! after packet. *Opportunities* ([`Trace`], [`ScheduledSeries`], [`CellModel`], [`SignalWalk`]) are
//! instants at which a number of bytes may leave at once; what the queue cannot fill is lost.
//!
//! Each kind is a file of its own, whose type is a [`Model`].

mod ahead;
mod capacity;
mod cell;
mod constant;
mod fluid;
mod model;
mod opportunities;
mod scheduled;
mod series;
mod trace;
mod tti;
mod walk;

pub use capacity::Capacity;
pub(crate) use capacity::Meter;
pub use cell::{CellKind, CellModel};
pub(crate) use constant::Constant;
pub(crate) use fluid::{Fluid, NANOBITS_PER_BYTE};
pub use model::Rate;
pub(crate) use model::{Model, Service};
pub(crate) use opportunities::{Burst, Granted, Opportunities};
pub use scheduled::ScheduledSeries;
pub use series::{RateSeries, StepsError};
pub use trace::Trace;
pub(crate) use walk::Signal;
pub use walk::{Fading, SignalWalk, WalkError};

/// Whole bits per second, at least 1.
fn whole_bps(bits_per_second: f64) -> u64 {
    (bits_per_second.round() as u64).max(1)
}
