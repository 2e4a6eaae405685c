//! A folder of shards: each has the rows of some runs, like a file of rows, below a header of its own.
//!
//! A sweep continues from its shards, whichever process made them. A shard is written beside its final place and then
//! moved there, so it is either complete or absent. Its name has the number of its first run in the sweep, for the
//! order, and a hash of its rows: the same runs give the same file, whichever process wrote it.

use crate::Refused;
use crate::known::Known;
use crate::rows::text;
use anyhow::{Context, Result};
use blake3::Hasher;
use std::collections::HashMap;
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::Builder;
use tidegate_lock::{Lock, Taken};

/// The end of a shard's name.
const SHARD: &str = "csv";

/// The end of an incomplete shard's name.
const PART: &str = ".part";

/// The lock of the folder.
const LOCK: &str = ".lock";

/// A folder of shards that this process holds until it is dropped.
pub struct Shards {
    folder: PathBuf,
    rows: HashMap<Vec<String>, Vec<String>>,
    _lock: Option<Lock>,
}

impl Shards {
    /// A folder without shards; it is created if it does not exist.
    ///
    /// # Errors
    /// If it has shards ([`Refused`]), another process writes there, or it cannot be written.
    pub fn create(folder: &Path) -> Result<Self> {
        let new = Self::lock(folder)?;
        if let Some(shard) = new.files()?.first() {
            let advice = "go on with them (--resume), or write to another folder";
            return Err(Refused(format!("{} exists: {advice}", shard.display())).into());
        }
        Ok(new)
    }

    /// A folder that may have shards, to be continued. It holds only runs of one `sweep`, given by all their
    /// identities, as for [`Rows::resume`](crate::Rows::resume). Unfinished files of a process that was killed are
    /// removed.
    ///
    /// # Errors
    /// As for [`Self::create`]; and if a shard has other columns, or a row of a run that is not in `sweep`: then
    /// everything is left as it was.
    pub fn resume(folder: &Path, identifiers: &[String], sweep: &[Vec<String>]) -> Result<Self> {
        let mut new = Self::lock(folder)?;
        let known = Known::new(identifiers, sweep);
        for path in new.files()? {
            let text =
                fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
            let rows = known.rows_of(&text, &path)?;
            let owned = |cells: csv::StringRecord| cells.iter().map(str::to_owned).collect();
            new.rows.extend(
                rows.into_iter()
                    .map(|(identity, row)| (identity, owned(row))),
            );
        }
        new.remove_parts()?;
        Ok(new)
    }

    /// Locks the folder.
    fn lock(folder: &Path) -> Result<Self> {
        let here = || folder.display().to_string();
        // Without a slash at its end: a file is not found by a name with one.
        if folder.components().as_path().is_file() {
            let message = format!("{} is a file, expected a folder's name", here());
            return Err(Refused(message).into());
        }
        fs::create_dir_all(folder).with_context(|| format!("make the folder {}", here()))?;
        let file = File::open(folder).with_context(|| format!("open {}", here()))?;
        // The process's own lock, not an open file's as with flock: workers would inherit that, and outlive a killed
        // process.
        let taken = Lock::take(file.into(), LOCK);
        let lock = match taken.with_context(|| format!("write into {}", here()))? {
            Taken::Lock(lock) => Some(lock),
            Taken::By(pid) => return Err(Refused(refusal(&here(), pid)).into()),
            // A file system without locks is no reason not to write there.
            Taken::Unsupported(_) => None,
        };
        Ok(Self {
            folder: folder.into(),
            rows: HashMap::new(),
            _lock: lock,
        })
    }

    /// The existing shards, by name.
    fn files(&self) -> Result<Vec<PathBuf>> {
        let mut files = self.listed()?;
        files.retain(|path| path.extension().is_some_and(|end| end == SHARD));
        files.sort();
        Ok(files)
    }

    fn remove_parts(&self) -> Result<()> {
        for path in self.listed()? {
            if path.to_string_lossy().ends_with(PART) {
                fs::remove_file(&path).with_context(|| format!("remove {}", path.display()))?;
            }
        }
        Ok(())
    }

    fn listed(&self) -> Result<Vec<PathBuf>> {
        let entries = fs::read_dir(&self.folder)?.map(|entry| Ok(entry?.path()));
        entries
            .collect::<std::io::Result<_>>()
            .with_context(|| format!("read {}", self.folder.display()))
    }

    /// The row of the run with this identity, if it has one.
    pub fn row(&self, identity: &[String]) -> Option<&[String]> {
        self.rows.get(identity).map(Vec::as_slice)
    }

    /// Writes a shard of these rows. When this returns, it is on the disk, complete, or absent. Each row comes with its
    /// run's identity, and the first is that of the sweep's run number `first`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(
        &mut self,
        first: usize,
        identifiers: &[String],
        rows: Vec<(Vec<String>, Vec<String>)>,
    ) -> Result<PathBuf> {
        let path = self.folder.join(name(first, &rows));
        let text = text(identifiers, rows.iter().map(|(_, row)| row.clone()))?;
        self.put(&path, &text)
            .with_context(|| format!("write {}", path.display()))?;
        self.rows.extend(rows);
        Ok(path)
    }

    fn put(&self, path: &Path, text: &str) -> std::io::Result<()> {
        let mut part = Builder::new()
            .prefix(".")
            .suffix(PART)
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(&self.folder)?;
        // With the file itself, whose errors are the system's own.
        part.as_file_mut().write_all(text.as_bytes())?;
        part.as_file().sync_all()?;
        part.persist(path)?;
        Ok(())
    }
}

fn refusal(folder: &str, pid: i32) -> String {
    // 0 outside of this container, and below 0 on another machine: such a number means nothing here.
    let named = match pid {
        1.. => format!(" (process id {pid})"),
        _ => String::new(),
    };
    format!("{folder}: another process writes its shards there, wait for it or end it{named}")
}

/// The name of a shard of these rows.
fn name(first: usize, rows: &[(Vec<String>, Vec<String>)]) -> String {
    let mut hasher = Hasher::new();
    for (identity, _) in rows {
        for part in identity {
            hasher.update(part.as_bytes()).update(b"\0");
        }
    }
    format!("{first:07}-{}.{SHARD}", &hasher.finalize().to_hex()[..16])
}

#[cfg(test)]
mod tests;
