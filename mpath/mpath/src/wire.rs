//! Packets as bytes, version 1; `docs/internals/mpath.md` has the layout.
//!
//! Numbers are in network order. Each header states its length: fields that a later version adds follow those that this
//! one knows, and are skipped.

mod cursor;
mod data;
mod feedback;
mod relay;
mod session;
#[cfg(test)]
mod tests;

pub use data::{DATA_HEADER, write_data};
pub use feedback::{feedback_bytes, write_feedback};
pub use relay::{CAPABILITY_MAX, Relay, relay_header, write_relay};
pub use session::{
    Answer, CONTROL_HEADER, Control, Hello, PROOF, SEAL, SEALED_HEADER, Sealed, TAG, write_answer,
    write_control, write_hello, write_sealed,
};

use crate::{Data, Feedback};
use cursor::Cursor;

/// The version that is written and read.
pub const VERSION: u8 = 1;

/// Kinds of packets.
const DATA: u8 = 1;
const FEEDBACK: u8 = 2;
const RELAY: u8 = 3;
const SEALED: u8 = 4;
const HELLO: u8 = 5;
const ANSWER: u8 = 6;
const CONTROL: u8 = 7;

/// Why bytes are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Fewer bytes than the header needs or promises.
    #[error("the packet is shorter than its header says")]
    Truncated,
    /// Another version.
    #[error("version {0}, expected 1")]
    Version(u8),
    /// No kind of this version.
    #[error("packet kind {0}, expected {DATA} to {CONTROL}")]
    Kind(u8),
    /// A header shorter than its kind's.
    #[error("a header of {0} bytes, too short for its kind of packet")]
    Header(usize),
    /// More entries than a feedback may have.
    #[error(
        "a feedback with {0} entries of a kind, expected at most {most}",
        most = Feedback::GAPS
    )]
    Entries(usize),
    /// Neither IPv4 nor IPv6.
    #[error("address family {0}, neither 4 nor 6")]
    Family(u8),
    /// More bytes than a sealed packet's header says.
    #[error("the packet is longer than its header says")]
    Oversized,
    /// A control message that this version does not know.
    #[error("unknown control message {0}")]
    Control(u32),
}

/// A packet that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    /// A packet of a stream.
    Data {
        /// The connection.
        connection: u64,
        /// The fields for the receiver's protocol.
        data: Data,
        /// The stream's bytes.
        payload: &'a [u8],
    },
    /// The receiver's feedback.
    Feedback {
        /// The connection.
        connection: u64,
        /// Its contents.
        feedback: Feedback,
    },
    /// A packet for a proxy to forward.
    Relay(Relay<'a>),
    /// A packet that only the two ends can read.
    Sealed(Sealed<'a>),
    /// The first packet of a session.
    Hello(Hello<'a>),
    /// The second.
    Answer(Answer<'a>),
    /// A message about the session.
    Control {
        /// The connection.
        connection: u64,
        /// Its contents.
        control: Control,
    },
}

/// Reads a packet.
///
/// # Errors
/// If it is no packet of this version, or cut short. Nothing else happens, whatever the bytes are.
pub fn parse(bytes: &[u8]) -> Result<Packet<'_>, Malformed> {
    let mut cursor = Cursor::new(bytes);
    let first = cursor.u8()?;
    let (version, kind) = (first >> 4, first & 0xf);
    if version != VERSION {
        return Err(Malformed::Version(version));
    }
    let header = usize::from(cursor.u8()?) * WORD;
    if header < HEAD {
        return Err(Malformed::Header(header));
    }
    let (head, body) = bytes.split_at_checked(header).ok_or(Malformed::Truncated)?;
    let mut head = Cursor::of_header(&head[HEAD_READ..], header);
    match kind {
        DATA => data::parse(&mut head, body),
        FEEDBACK => feedback::parse(&mut head, body),
        RELAY => relay::parse(&mut head, body),
        SEALED => session::parse_sealed(&mut head, body),
        HELLO => session::parse_hello(&mut head, body),
        ANSWER => session::parse_answer(&mut head, body),
        CONTROL => session::parse_control(&mut head),
        kind => Err(Malformed::Kind(kind)),
    }
}

/// The beginning of all headers: version and kind, length in words, flags.
const HEAD: usize = 4;

/// The part of it that has been read when the kind is known.
const HEAD_READ: usize = 2;

/// Headers are counted in words of this many bytes.
const WORD: usize = 4;

/// Writes the beginning of a header of `header` bytes.
fn write_head(out: &mut Vec<u8>, kind: u8, header: usize, flags: u16) {
    out.push(VERSION << 4 | kind);
    out.push((header / WORD) as u8);
    out.extend(flags.to_be_bytes());
}
