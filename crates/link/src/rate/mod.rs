//! How much a link carries, and when.
//!
//! Two kinds of rate exist. A *fluid* rate ([`Rate::Constant`], [`Rate::Series`]) serialises packet
//! after packet. *Opportunities* ([`Rate::Opportunities`], [`Rate::Cell`]) are instants at which a
//! number of bytes may leave at once; what the queue cannot fill is lost.

mod burst;
mod capacity;
mod cell;
mod fluid;
mod series;
mod trace;

pub(crate) use burst::{Burst, Bursts};
pub use capacity::Capacity;
pub use cell::{Cell, CellModel};
pub(crate) use fluid::Fluid;
pub use series::RateSeries;
pub use trace::Trace;

use std::sync::Arc;

/// The capacity of a link over time.
#[derive(Clone, Debug)]
pub enum Rate {
    /// The same rate for ever, in bit/s; rounded to whole bits per second, at least 1.
    Constant(f64),
    /// A recorded trace in Mahimahi's format, looped.
    Opportunities(Arc<Trace>),
    /// A piecewise constant rate, looped.
    Series(Arc<RateSeries>),
    /// A generated cell.
    Cell(CellModel),
}

/// Whole bits per second, at least 1.
fn whole_bps(bits_per_second: f64) -> u64 {
    (bits_per_second.round() as u64).max(1)
}
