//! Errors in a file: where, what, and what to do.

use std::fmt::{self, Display, Formatter};

/// Where in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// All of it.
    Whole,
    /// A line, from 1.
    Line(u64),
    /// A packet of a capture, from 1, and the byte, from 0, at which its record begins.
    Packet(u64, u64),
}

/// A file that cannot be imported. Nothing was written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Refused {
    /// Where.
    pub place: Place,
    /// What was found there, what was expected, and what to do.
    pub message: String,
}

impl Refused {
    /// The file as a whole.
    pub fn whole(message: impl Into<String>) -> Self {
        Self::at(Place::Whole, message)
    }

    /// A line of it.
    pub(crate) fn line(line: u64, message: impl Into<String>) -> Self {
        Self::at(Place::Line(line), message)
    }

    pub(crate) fn at(place: Place, message: impl Into<String>) -> Self {
        Self {
            place,
            message: message.into(),
        }
    }

    pub(crate) fn unreadable(error: std::io::Error) -> Self {
        Self::whole(format!("cannot be read: {error}"))
    }
}

/// Formatted to follow the file's name: `:12: …`, `: packet 3 at byte 88: …`, `: …`.
impl Display for Refused {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Whole => write!(to, ": {}", self.message),
            Place::Line(line) => write!(to, ":{line}: {}", self.message),
            Place::Packet(number, byte) => {
                write!(to, ": packet {number} at byte {byte}: {}", self.message)
            }
        }
    }
}

/// Largest number of characters of a cell that are quoted.
const QUOTED: usize = 40;

/// Largest number of characters of another program's message that are quoted.
const MESSAGE: usize = 400;

/// A cell from a file, shortened for a sentence.
pub(crate) fn quoted(text: &str) -> String {
    shortened(text, QUOTED)
}

/// Another program's message, for people to read.
pub(crate) fn message(text: &str) -> String {
    shortened(text, MESSAGE)
}

fn shortened(text: &str, longest: usize) -> String {
    match text.chars().count() {
        0 => "nothing".into(),
        long if long > longest => {
            let begun: String = text.chars().take(longest).collect();
            format!("\"{begun}…\"")
        }
        _ => format!("\"{text}\""),
    }
}
