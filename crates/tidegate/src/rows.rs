//! Results of a sweep as rows of a CSV file that can be gone on with.

use crate::exit::BadInput;
use anyhow::{Context, Result};
use csv::{ReaderBuilder, Writer};
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use tidegate_report::{METRICS, Measured};
use tidegate_scenario::RunResult;

/// A file of rows: first what identifies a run, then what it measured.
pub struct Rows {
    writer: Writer<File>,
    present: HashSet<Vec<String>>,
}

impl Rows {
    /// A new file whose rows are identified by `keys`; with `resume` it may exist, and its rows are
    /// [present](Self::has). A torn last line is removed.
    ///
    /// # Errors
    /// When the file exists and is not to be gone on with, was written by a sweep with other columns,
    /// or cannot be written.
    pub fn open(path: &Path, keys: &[String], resume: bool) -> Result<Self> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .with_context(|| format!("open {}", path.display()))?;
        let text = heal(&mut file).with_context(|| format!("read {}", path.display()))?;
        if !text.is_empty() && !resume {
            return Err(BadInput(format!(
                "{} exists; --resume goes on with it",
                path.display()
            ))
            .into());
        }
        let header: Vec<&str> = keys
            .iter()
            .map(String::as_str)
            .chain(METRICS.iter().map(|metric| metric.name))
            .collect();
        let present = present(&text, &header, keys.len())
            .map_err(|problem| BadInput(format!("{}: {problem}", path.display())))?;
        file.seek(SeekFrom::End(0))?;
        let mut rows = Self {
            writer: Writer::from_writer(file),
            present,
        };
        if text.is_empty() {
            rows.write(header)?;
        }
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
        let measured = Measured::new(run);
        let numbers = METRICS.iter().map(|metric| metric.cell(&measured));
        let row = identity.iter().cloned().chain(numbers);
        self.write(row)
    }

    fn write<T: AsRef<[u8]>>(&mut self, row: impl IntoIterator<Item = T>) -> Result<()> {
        self.writer.write_record(row)?;
        Ok(self.writer.flush()?)
    }
}

/// The file's text, after what follows its last line break has been cut off.
fn heal(file: &mut File) -> Result<String> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let whole = text.rfind('\n').map_or(0, |at| at + 1);
    if whole < text.len() {
        text.truncate(whole);
        file.set_len(whole as u64)?;
    }
    Ok(text)
}

/// The identities, in the first `keys` columns, of all rows.
fn present(text: &str, header: &[&str], keys: usize) -> Result<HashSet<Vec<String>>, String> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    let mut records = reader.records();
    match records.next() {
        None => return Ok(HashSet::new()),
        Some(Ok(first)) if first.iter().eq(header.iter().copied()) => {}
        Some(_) => {
            return Err(format!(
                "written by another sweep: its first line should be {}",
                header.join(",")
            ));
        }
    }
    records
        .map(|record| {
            let record = record.map_err(|e| e.to_string())?;
            Ok(record.iter().take(keys).map(str::to_owned).collect())
        })
        .collect()
}

#[cfg(test)]
mod tests;
