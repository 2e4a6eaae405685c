//! Figures and tables of papers, reproduced in the simulator and compared with what the papers print.
//!
//! ```text
//!   Paper ── Figure ── Case      a scenario with one run, repeated with every seed
//!               │        │
//!               │     Results    what the runs measured
//!               │        │
//!               └── Quantity ──▶ Estimate ──▶ Verdict      ours, with its interval; against the paper's
//! ```
//!
//! The same runs can be done on the real kernel too ([`Case::run_by`]); its numbers and verdicts then stand beside
//! ours.
//!
//! This crate holds what all studies share; the studies themselves are in `reproductions/`, a file for each figure.

mod case;
mod extent;
mod figure;
mod listing;
mod means;
mod number;
mod page;
mod report;
mod sample;
mod statistics;
mod study;
mod table;
mod verdict;

pub use case::Case;
pub use extent::{Extent, Seeds};
pub use figure::{Drawing, Figure, Listed, Measure, Paper, Quantity, Reading, Selection};
pub use listing::{Entry, Listing};
pub use means::means;
pub use page::page;
pub use report::{Comparison, Doubtful, FigureReport, KernelNumber, LeftOut, Report};
pub use sample::{Results, Sample};
pub use statistics::Estimate;
pub use study::{Job, Study};
pub use table::table;
pub use verdict::{Claim, Verdict};
