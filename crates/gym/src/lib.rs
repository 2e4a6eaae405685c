//! Environments for an agent that sets a flow's window or rate: episodes over a [`Session`](tidegate_sim::Session),
//! with the arithmetic of actions, observations and rewards, and many episodes at once on threads.
//!
//! An episode neither waits nor reads a clock: the caller says how long it may go on at a time, so that interrupts are
//! noticed.

mod episode;
mod pool;
mod task;
mod vector;

pub use episode::{Episode, FEATURES, Step};
pub use pool::Pool;
pub use task::{Act, Reward, Task};
pub use vector::{Shared, Vector};
