//! A cell that several users share: who is served in each transmission time interval (TTI).
//!
//! [`SharedLink`] carries real packets of several users. [`Sharing`] gives one [`Link`](crate::Link) neighbours whose
//! traffic is modelled in bytes, without packets. Both use the same scheduler.

mod contention;
mod scheduler;
mod shared_link;

pub(crate) use contention::Contention;
pub use contention::{CrossTraffic, Sharing};
pub use scheduler::{Scheduler, SchedulerKind};
pub use shared_link::{CellConfig, SharedLink};
