//! What a sweep leaves behind, and goes on from: rows of a CSV file, or a folder of shards of such rows.
//!
//! ```text
//!  runs, in order ──▶ identity: what was varied, the run's name, its key ──▶ a row
//!    in one process:   rows.csv, a line appended as soon as its run is over
//!    in many:          folder/000000-6c0e….csv, some seconds of work, written whole or not at all
//! ```
//!
//! A row begins with its run's *identity*: the values that were varied, the run's name and its
//! key (`tidegate_sim::Key`), in the columns that the `identifiers` name. What is there is not run again; what is
//! there and was run otherwise is refused, so that nothing of two experiments is ever mixed.

mod batch;
mod known;
mod rows;
#[cfg(test)]
mod samples;
mod shards;

pub use batch::{Batch, batches};
pub use rows::{Rows, cells};
pub use shards::Shards;

/// What is there is not what was expected, and has been left as it was.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);
