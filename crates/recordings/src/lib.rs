//! Other people's recordings of links, converted to what a scenario can play.
//!
//! ```text
//!  a file ─▶ kind: told, or found by what only that kind has
//!         ─▶ kinds/…: samples of a rate, or packets with their times
//!         ─▶ sessions: one of those in the file   ─▶ steps: gaps, times that repeat
//!         ─▶ Recorded ─▶ a rate series, or a trace in Mahimahi's format
//! ```
//!
//! Hardly any recording holds a link's capacity: most hold the goodput of an application, which may not have filled
//! the link. Every [`Import`] says which it is. This crate reads no clock, draws no random numbers, and does I/O only
//! through the reader that it is given.

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
    /// The kind as which it was read.
    pub kind: Kind,
    /// The rates or packets.
    pub recorded: Recorded,
    /// The form that keeps most of it.
    pub form: Form,
    /// What was read and what its numbers mean, as a sentence.
    pub is: String,
    /// What was changed or left out, a sentence each.
    pub notes: Vec<String>,
}

/// Reads a recording.
///
/// # Errors
/// Says where the file is wrong, what was expected, and what to do.
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
