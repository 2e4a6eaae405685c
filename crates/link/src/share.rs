//! A cell that several users share: whose turn it is in each transmission time interval (TTI).
//!
//! [`SharedLink`] carries real packets of several users. [`Sharing`] gives one [`Link`](crate::Link)
//! neighbours that are only amounts of bytes. Both ask the same scheduler.

mod contention;
mod scheduler;
mod shared_link;

pub(crate) use contention::Contention;
pub use contention::{CrossTraffic, Sharing};
pub use scheduler::{Scheduler, SchedulerKind};
pub use shared_link::{CellConfig, SharedLink};
