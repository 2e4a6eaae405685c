//! What a folder has room for.

use super::FileError;
use nix::sys::statvfs::statvfs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The part of a file system that files from elsewhere leave free.
const FREE: u64 = 20;

/// Bytes that senders were promised and have not sent yet, of all connections.
#[derive(Clone, Debug, Default)]
pub struct Room(Arc<AtomicU64>);

/// The bytes that one file still lacks.
#[derive(Debug)]
pub struct Promise {
    room: Room,
    bytes: u64,
}

impl Room {
    /// So many bytes of a file, if the folder has room for them beside all that were promised.
    ///
    /// # Errors
    /// When it has not, and a twentieth of the file system shall stay free.
    pub fn promise(&self, folder: &Path, name: &str, bytes: u64) -> Result<Promise, FileError> {
        let about =
            statvfs(folder).map_err(|e| FileError::file("cannot look at", folder)(e.into()))?;
        let unit = about.fragment_size();
        let kept = about.blocks() / FREE;
        let free = about
            .blocks_available()
            .saturating_sub(kept)
            .saturating_mul(unit);
        let promised = self.0.fetch_update(Relaxed, Relaxed, |promised| {
            promised.checked_add(bytes).filter(|all| *all <= free)
        });
        if promised.is_err() {
            let why = "the receiver has no room for it";
            return Err(FileError::Refused(format!("{name}: {bytes} bytes: {why}")));
        }
        let room = self.clone();
        Ok(Promise { room, bytes })
    }
}

impl Promise {
    /// So many of them are there.
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
