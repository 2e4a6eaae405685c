//! A folder of shards: each some runs' rows, as a file of rows has them, below a header of its own.
//!
//! Shards are what a sweep goes on from, whoever did the work. One is written beside its place and then moved there, so it is
//! whole or not there. Its name says the place of its first run in the sweep, for the order, and what is in it: runs that
//! are the same have the same file, whichever process wrote it.

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

/// Ends the names of shards.
const SHARD: &str = "csv";

/// Ends the names of what has not become one.
const PART: &str = ".part";

/// Who has the folder.
const LOCK: &str = ".lock";

/// A folder of shards, which is this process's until it is dropped.
pub struct Shards {
    folder: PathBuf,
    rows: HashMap<Vec<String>, Vec<String>>,
    _lock: Option<Lock>,
}

impl Shards {
    /// A folder without any; it is made if it is not there.
    ///
    /// # Errors
    /// When there are some ([`Refused`]), another process writes there, or nothing can be written.
    pub fn create(folder: &Path) -> Result<Self> {
        let new = Self::lock(folder)?;
        if let Some(shard) = new.files()?.first() {
            let advice = "go on with them (--resume), or write to another folder";
            return Err(Refused(format!("{} exists: {advice}", shard.display())).into());
        }
        Ok(new)
    }

    /// A folder that may have some, to be gone on with. It holds runs of one `sweep` alone, named by all their identities, as
    /// for [`Rows::resume`](crate::Rows::resume). What a process that was killed had not finished is removed.
    ///
    /// # Errors
    /// As [`Self::create`]; and when a shard has other columns, or a row of a run that is not one of `sweep`: then all stays
    /// as it was.
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

    /// Takes the folder.
    fn lock(folder: &Path) -> Result<Self> {
        let here = || folder.display().to_string();
        // Without a slash at its end, behind which a file is not found.
        if folder.components().as_path().is_file() {
            let message = format!("{} is a file, expected a folder's name", here());
            return Err(Refused(message).into());
        }
        fs::create_dir_all(folder).with_context(|| format!("make the folder {}", here()))?;
        let file = File::open(folder).with_context(|| format!("open {}", here()))?;
        // A process's own, not an open file's as flock's is: workers inherit that, and outlive who was killed.
        let taken = Lock::take(file.into(), LOCK);
        let lock = match taken.with_context(|| format!("write into {}", here()))? {
            Taken::Lock(lock) => Some(lock),
            Taken::By(pid) => return Err(Refused(refusal(&here(), pid)).into()),
            // File systems that have no locks are no reason not to write there.
            Taken::Unsupported(_) => None,
        };
        Ok(Self {
            folder: folder.into(),
            rows: HashMap::new(),
            _lock: lock,
        })
    }

    /// The shards that there are, by name.
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

    /// The row of the run with that identity, if it has one already.
    pub fn row(&self, identity: &[String]) -> Option<&[String]> {
        self.rows.get(identity).map(Vec::as_slice)
    }

    /// Writes a shard of these rows; it is on the disk when this returns, whole, or not there. Each row is of a run with that
    /// identity, and the first of them is the sweep's run number `first`.
    ///
    /// # Errors
    /// When it cannot be written.
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
        // By the file itself, whose errors are the system's own.
        part.as_file_mut().write_all(text.as_bytes())?;
        part.as_file().sync_all()?;
        part.persist(path)?;
        Ok(())
    }
}

fn refusal(folder: &str, pid: i32) -> String {
    // 0 outside of this container, and below 0 on another machine: a number that means nothing here.
    let named = match pid {
        1.. => format!(" (process id {pid})"),
        _ => String::new(),
    };
    format!("{folder}: another process writes its shards there, wait for it or end it{named}")
}

/// What a shard of these rows is called.
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
