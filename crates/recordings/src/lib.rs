//! Other people's recordings of links, read and written as what a scenario plays.
//!
//! ```text
//!  a file ─▶ kind: told, or found by what only that kind has
//!         ─▶ kinds/…: samples of a rate, or packets with their times
//!         ─▶ sessions: one of those in the file   ─▶ steps: gaps, times that repeat
//!         ─▶ Recorded ─▶ a rate series, or a trace in Mahimahi's format
//! ```
//!
//! Hardly any of them recorded a link's capacity: most have the goodput of an application, which may not have filled the
//! link. Every [`Import`] says which it is. Nothing here asks for the time or draws at random, and nothing but the reader
//! that is handed in does I/O.

mod kind;
mod kinds;
mod options;
mod packets;
mod recorded;
mod refused;
mod samples;
mod sessions;
mod stamp;
mod steps;
mod table;

pub use kind::{Kind, detect};
pub use options::{Direction, Endpoint, Filter, Options};
pub use packets::Packet;
pub use recorded::{Form, Recorded, Written};
pub use refused::{Place, Refused};
pub use steps::Step;

use std::io::BufRead;

/// A recording that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// What it was read as.
    pub kind: Kind,
    /// What it says of the link.
    pub recorded: Recorded,
    /// The form in which it loses least.
    pub form: Form,
    /// What was read, and what its numbers are: a sentence.
    pub is: String,
    /// What was found on the way and changed or left out: a sentence each.
    pub notes: Vec<String>,
}

/// Reads a recording.
///
/// # Errors
/// Says where something is not what it should be, what was expected, and what to do.
pub fn import(mut from: impl BufRead + Send, options: &Options) -> Result<Import, Refused> {
    let head = from.fill_buf().map_err(Refused::unreadable)?;
    if head.is_empty() {
        return Err(Refused::whole("the file is empty, expected a recording"));
    }
    let kind = match options.kind.or_else(|| detect(head)) {
        Some(kind) => kind,
        None => return Err(kind::unknown()),
    };
    let import = kinds::read(kind, from, options)?;
    import.recorded.check()?;
    Ok(import)
}
