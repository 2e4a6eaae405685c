//! Results of a sweep as rows of a CSV file that can be gone on with.

mod sweep;

use crate::exit::BadInput;
use anyhow::{Context, Result};
use csv::Writer;
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use sweep::Sweep;
use tidegate_report::{METRICS, Measured};
use tidegate_scenario::RunResult;

/// A file of rows: first what identifies a run, then what it measured.
pub struct Rows {
    writer: Writer<File>,
    present: HashSet<Vec<String>>,
}

impl Rows {
    /// A new file, in which the columns `identifiers` say which run a row is of.
    ///
    /// # Errors
    /// When there is something in it already, or it cannot be written.
    pub fn create(path: &Path, identifiers: &[String]) -> Result<Self> {
        let (file, text) = open(path)?;
        if !text.is_empty() {
            let advice = "give --out another file (sim --resume goes on with one)";
            return Err(BadInput(format!("{} exists; {advice}", path.display())).into());
        }
        Self::with_header(file, identifiers)
    }

    /// A file that may exist, to be gone on with. It holds runs of one `sweep` alone, named by all their
    /// identities. Each of these ends with the run's [key](tidegate_sim::Key), so that nothing is mixed
    /// that has the same name and was run otherwise. A torn last line is removed.
    ///
    /// # Errors
    /// When it has other columns, or a row of a run that is not one of `sweep`: then it is left as it was.
    /// When it cannot be written.
    pub fn resume(path: &Path, identifiers: &[String], sweep: &[Vec<String>]) -> Result<Self> {
        let (mut file, text) = open(path)?;
        let whole = &text[..text.rfind('\n').map_or(0, |at| at + 1)];
        let columns: Vec<_> = header(identifiers).collect();
        let present = Sweep::new(identifiers, sweep)
            .rows_of(whole, &columns)
            .map_err(|(line, problem)| BadInput(format!("{}:{line}: {problem}", path.display())))?;
        file.set_len(whole.len() as u64)?;
        file.seek(SeekFrom::End(0))?;
        if whole.is_empty() {
            return Self::with_header(file, identifiers);
        }
        let writer = Writer::from_writer(file);
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

/// The file, made if there is none, and what is in it.
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

/// All columns.
fn header(identifiers: &[String]) -> impl Iterator<Item = &str> {
    let metrics = METRICS.iter().map(|metric| metric.name);
    identifiers.iter().map(String::as_str).chain(metrics)
}

#[cfg(test)]
mod tests;
