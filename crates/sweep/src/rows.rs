//! Results of a sweep as rows of a CSV file, to which a later process can add.

use crate::Refused;
use crate::known::Known;
use anyhow::{Context, Result};
use csv::Writer;
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use tidegate_report::{METRICS, Measured};
use tidegate_scenario::RunResult;

/// A file of rows: first the columns that identify a run, then its results.
pub struct Rows {
    writer: Writer<File>,
    present: HashSet<Vec<String>>,
}

impl Rows {
    /// A new file; the columns `identifiers` say which run a row belongs to.
    ///
    /// # Errors
    /// If the file is not empty, or cannot be written.
    pub fn create(path: &Path, identifiers: &[String]) -> Result<Self> {
        let (file, text) = open(path)?;
        if !text.is_empty() {
            let advice = "write to another file (sim --resume goes on with one)";
            return Err(Refused(format!("{} exists: {advice}", path.display())).into());
        }
        Self::with_header(file, identifiers)
    }

    /// A file that may exist already, to be continued. It holds only runs of one `sweep`, given by all their
    /// identities. Each identity ends with the run's key, so that runs with the same name and other settings are not
    /// mixed. A torn last line is removed.
    ///
    /// # Errors
    /// If it has other columns, or a row of a run that is not in `sweep`: then it is left as it was. If it cannot be
    /// written.
    pub fn resume(path: &Path, identifiers: &[String], sweep: &[Vec<String>]) -> Result<Self> {
        let (mut file, text) = open(path)?;
        let whole = &text[..text.rfind('\n').map_or(0, |at| at + 1)];
        let present = Known::new(identifiers, sweep).rows_of(whole, path)?;
        file.set_len(whole.len() as u64)?;
        file.seek(SeekFrom::End(0))?;
        if whole.is_empty() {
            return Self::with_header(file, identifiers);
        }
        let writer = Writer::from_writer(file);
        let present = present.into_keys().collect();
        Ok(Self { writer, present })
    }

    fn with_header(file: File, identifiers: &[String]) -> Result<Self> {
        let mut rows = Self {
            writer: Writer::from_writer(file),
            present: HashSet::new(),
        };
        rows.write(header(identifiers))?;
        Ok(rows)
    }

    /// Whether the run with that identity has a row already.
    pub fn has(&self, identity: &[String]) -> bool {
        self.present.contains(identity)
    }

    /// Appends a run's row; it is in the file when this returns.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(&mut self, identity: &[String], run: &RunResult) -> Result<()> {
        self.write(cells(identity, run))
    }

    fn write<T: AsRef<[u8]>>(&mut self, row: impl IntoIterator<Item = T>) -> Result<()> {
        self.writer.write_record(row)?;
        Ok(self.writer.flush()?)
    }
}

/// The file, created if it does not exist, and its text.
fn open(path: &Path) -> Result<(File, String)> {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .with_context(|| format!("open {}", path.display()))?;
    let mut text = String::new();
    file.read_to_string(&mut text)
        .with_context(|| format!("read {}", path.display()))?;
    Ok((file, text))
}

/// All columns; those that identify a row come first.
pub(crate) fn header(identifiers: &[String]) -> impl Iterator<Item = &str> {
    let metrics = METRICS.iter().map(|metric| metric.name);
    identifiers.iter().map(String::as_str).chain(metrics)
}

/// The row of a run.
pub fn cells(identity: &[String], run: &RunResult) -> impl Iterator<Item = String> {
    let measured = Measured::new(run);
    let numbers = METRICS.map(|metric| metric.cell(&measured));
    identity.iter().cloned().chain(numbers)
}

/// Rows as in a file of their own, below their header.
///
/// # Errors
/// If one of them has another length than the header.
pub(crate) fn text<R, C>(identifiers: &[String], rows: R) -> Result<String>
where
    R: IntoIterator<Item = C>,
    C: IntoIterator<Item = String>,
{
    let mut writer = Writer::from_writer(Vec::new());
    writer.write_record(header(identifiers))?;
    for row in rows {
        writer.write_record(row)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
}

#[cfg(test)]
mod tests;
