//! Files over a connection: offered by name and length, continued where the last try ended, verified as a whole, and
//! under their names only when they are complete.
//!
//! ```text
//!  sender                                      receiver
//!  Offer(name, length, BLAKE3 of the whole) ─▶
//!                                           ◀─  Have(bytes of it that are there), or Received
//!  the rest of the bytes                    ─▶
//!                                           ◀─  Received, or Failed(why) at any time
//!  the next Offer, or the end of the stream
//! ```
//!
//! A part of a file belongs to those who know the hash of the whole, and so have the file: no other sender learns about
//! it, continues it or truncates it.

mod message;
mod name;
mod part;
mod receive;
mod room;
mod send;

pub use receive::{Receive, receive};
pub use room::Room;
pub use send::{check, send};

use crate::ConnectionError;
use std::io;
use std::path::{Path, PathBuf};

/// Bytes that are read, hashed and written at a time.
const CHUNK: usize = 256 << 10;

/// The progress of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// Its name.
    pub name: &'a str,
    /// Bytes that have arrived.
    pub done: u64,
    /// Bytes of the whole.
    pub length: u64,
}

/// A file that has been transferred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transferred {
    /// Its name.
    pub name: String,
    /// Bytes of the whole.
    pub length: u64,
    /// Bytes that had arrived in an earlier try.
    pub resumed: u64,
    /// BLAKE3 of the whole.
    pub hash: String,
}

/// Why a file could not be transferred.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// An operation on a local file failed.
    #[error("{what} {}: {source}", .path.display())]
    File {
        /// The operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The connection.
    #[error("{0}; the same command again goes on where this one ended")]
    Connection(#[from] io::Error),
    /// A file that cannot be sent or received as asked.
    #[error("{0}")]
    Refused(String),
    /// The receiver's reason.
    #[error("the receiver says: {0}")]
    Receiver(String),
    /// The content arrived changed.
    #[error("{0}: wrong checksum; the received part was removed: send the file again")]
    Corrupt(String),
    /// The peer violates the protocol.
    #[error("unexpected message from the other end: {0}")]
    Protocol(&'static str),
}

impl FileError {
    /// Why the connection has ended, if that is the reason.
    pub fn connection_error(&self) -> Option<&ConnectionError> {
        let Self::Connection(error) = self else {
            return None;
        };
        error.get_ref().and_then(|inner| inner.downcast_ref())
    }

    /// The receiver's text comes from a stranger: removes what could control a terminal.
    fn receiver(why: &str) -> Self {
        Self::Receiver(tidegate_terminal::shown(why).into_owned())
    }

    /// The error as the other end is told it, without this machine's paths.
    fn told(&self) -> String {
        match self {
            Self::File { what, path, source } => {
                let name = path.file_name().unwrap_or_default();
                format!("{what} {}: {source}", name.display())
            }
            other => other.to_string(),
        }
    }

    fn file(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File {
            what,
            path: path.to_owned(),
            source,
        }
    }
}

/// Runs `work`, which may block, where that is allowed.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, FileError> + Send + 'static,
) -> Result<T, FileError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic.into_panic()),
    }
}
