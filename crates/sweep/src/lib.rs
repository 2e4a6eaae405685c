//! The results of a sweep, from which it can continue: rows of a CSV file, or a folder of shards of such rows.
//!
//! ```text
//!  runs, in order ──▶ identity: what was varied, the run's name, its key ──▶ a row
//!    in one process:   rows.csv, a line appended as soon as its run is over
//!    in many:          folder/000000-6c0e….csv, some seconds of work, written whole or not at all
//! ```
//!
//! A row begins with its run's *identity*: the values that were varied, the run's name and its key
//! (`tidegate_sim::Key`), in the columns that the `identifiers` name. A run that has a row is not run again; a row of a
//! run with other settings is refused, so that results of two experiments are never mixed.

mod batch;
mod known;
mod rows;
#[cfg(test)]
mod samples;
mod shards;

pub use batch::{Batch, batches};
pub use rows::{Rows, cells};
pub use shards::Shards;

/// The existing files do not belong to this sweep, and have been left as they were.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);
