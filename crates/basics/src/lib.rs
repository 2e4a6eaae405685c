//! What link model, TCP, mPath and simulator have in common: the time of a run, the ECN field, and random draws.

#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

pub mod ecn;
pub mod random;
pub mod time;
