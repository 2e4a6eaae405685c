//! What an agent meets that has a flow's window or rate: episodes over a [`Session`](tidegate_sim::Session), with the
//! arithmetic of actions, observations and rewards, and many episodes at once on threads.
//!
//! An episode neither waits nor reads a clock: whoever steps it says how long it may go on at a time, so that an interrupt
//! is heard.

mod episode;
mod pool;
mod task;
mod vector;

pub use episode::{Episode, FEATURES, Step};
pub use pool::Pool;
pub use task::{Act, Reward, Task};
pub use vector::{Shared, Vector};
