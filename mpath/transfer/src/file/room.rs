//! The room that a folder has.

use super::FileError;
use nix::sys::statvfs::statvfs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The share of a file system's bytes, and of its inodes, that received files leave free: one in this many.
const FREE: u64 = 20;

/// The most bytes that they leave free: a twentieth of a large disk is more than other programs need.
const MOST_FREE: u64 = 1 << 30;

/// Bytes that senders were promised and have not sent yet, over all connections.
#[derive(Clone, Debug, Default)]
pub struct Room(Arc<AtomicU64>);

/// The bytes of one file that have not arrived.
#[derive(Debug)]
pub struct Promise {
    room: Room,
    bytes: u64,
}

impl Room {
    /// Promises room for `bytes` of a file, if the folder has it beside all other promises.
    ///
    /// # Errors
    /// If it has not, since a twentieth of the file system must stay free, but no more than 1 GiB.
    pub fn promise(&self, folder: &Path, name: &str, bytes: u64) -> Result<Promise, FileError> {
        let no_room = || {
            let why = "the receiver has no room for it";
            FileError::Refused(format!("{name}: {bytes} bytes: {why}"))
        };
        let about =
            statvfs(folder).map_err(|e| FileError::file("cannot look at", folder)(e.into()))?;
        let bytes_of = |blocks: u64| blocks.saturating_mul(about.fragment_size());
        let kept = (bytes_of(about.blocks()) / FREE).min(MOST_FREE);
        let free = bytes_of(about.blocks_available()).saturating_sub(kept);
        // Empty files must not use up the file system's inodes either. Some file systems do not count inodes.
        if about.files_available() < about.files() / FREE {
            return Err(no_room());
        }
        let promised = self.0.fetch_update(Relaxed, Relaxed, |promised| {
            promised.checked_add(bytes).filter(|all| *all <= free)
        });
        promised.map_err(|_| no_room())?;
        let room = self.clone();
        Ok(Promise { room, bytes })
    }
}

impl Promise {
    /// `bytes` of them have arrived.
    pub fn keep(&mut self, bytes: u64) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        self.room.0.fetch_sub(bytes, Relaxed);
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        self.keep(self.bytes);
    }
}
