//! CSV with a header, and the cells of a row.

use crate::refused::quoted;
use crate::stamp::{self, stamp};
use crate::{Kind, Refused};
use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord, Trim};
use std::io::Read;

/// Largest rate in bit/s: no link is faster, so a larger number must be in another unit.
pub const MOST_BPS: f64 = 1e11;

/// Spellings of a missing number.
const MISSING: [&str; 8] = ["", "-", "nan", "na", "n/a", "null", "none", "unavailable"];

/// Rows below a header.
pub struct Table<R> {
    reader: Reader<R>,
    header: StringRecord,
}

/// A row.
pub struct Row {
    /// Its line, from 1.
    pub line: u64,
    cells: StringRecord,
}

impl<R: Read> Table<R> {
    pub fn open(from: R) -> Result<Self, Refused> {
        let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(from);
        let header = reader.headers().map_err(refused)?.clone();
        Ok(Self { reader, header })
    }

    /// The index of a column, if it exists.
    pub fn has(&self, name: &str) -> Option<usize> {
        let mut names = self.header.iter();
        names.position(|column| column.eq_ignore_ascii_case(name))
    }

    /// The index of a column that files of that kind must have.
    pub fn column(&self, name: &str, kind: Kind) -> Result<usize, Refused> {
        let missing = || {
            Refused::line(
                1,
                format!(
                    "no column {name}, which a file of kind {kind} has; found {}. Is it of another kind?",
                    quoted(&self.header.iter().collect::<Vec<_>>().join(","))
                ),
            )
        };
        self.has(name).ok_or_else(missing)
    }

    pub fn rows(self) -> impl Iterator<Item = Result<Row, Refused>> {
        self.reader.into_records().map(|cells| {
            let cells = cells.map_err(refused)?;
            let line = cells.position().map_or(0, csv::Position::line);
            Ok(Row { line, cells })
        })
    }
}

impl Row {
    pub fn cell(&self, column: usize) -> &str {
        self.cells.get(column).unwrap_or_default()
    }

    /// A row's time, in nanoseconds.
    pub fn at_ns(&self, column: usize) -> Result<i128, Refused> {
        let cell = self.cell(column);
        stamp(cell).ok_or_else(|| {
            let found = quoted(cell);
            Refused::line(
                self.line,
                format!("expected {}, found {found}", stamp::EXPECTED),
            )
        })
    }

    /// A rate in bit/s from a column in units of `unit_bps`; none if nothing was measured.
    pub fn bps(&self, column: usize, name: &str, unit_bps: f64) -> Result<Option<f64>, Refused> {
        let Some(number) = self.number(column, name)? else {
            return Ok(None);
        };
        bps(number, unit_bps)
            .map(Some)
            .map_err(|message| Refused::line(self.line, format!("{name}: {message}")))
    }

    /// A number of at least 0; none if nothing was measured.
    pub fn number(&self, column: usize, name: &str) -> Result<Option<f64>, Refused> {
        let cell = self.cell(column);
        if MISSING.iter().any(|word| cell.eq_ignore_ascii_case(word)) {
            return Ok(None);
        }
        let number = cell.parse().ok();
        let number = number.filter(|x: &f64| x.is_finite() && *x >= 0.0);
        number.map(Some).ok_or_else(|| {
            let found = quoted(cell);
            let message = format!("{name}: expected a number of at least 0, found {found}");
            Refused::line(self.line, message)
        })
    }
}

/// A number in units of `unit_bps` as a rate, or what is wrong with it.
pub fn bps(number: f64, unit_bps: f64) -> Result<f64, String> {
    let bps = number * unit_bps;
    if bps.is_finite() && (0.0..=MOST_BPS).contains(&bps) {
        return Ok(bps);
    }
    let unit = match unit_bps {
        1e6 => "Mbit/s",
        1e3 => "kbit/s",
        _ => "bit/s",
    };
    Err(format!(
        "found {number} {unit}, expected 0 to 100 Gbit/s; is the file's unit another than {unit}?"
    ))
}

/// An error of the CSV library as ours.
fn refused(error: csv::Error) -> Refused {
    let line = error.position().map_or(0, csv::Position::line);
    match error.kind() {
        ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => Refused::line(
            line,
            format!(
                "expected {expected_len} columns as in the header, found {len}; is the line cut off?"
            ),
        ),
        ErrorKind::Utf8 { .. } => {
            Refused::line(line.max(1), "expected text in UTF-8, found other bytes")
        }
        _ => Refused::whole(format!("cannot be read: {error}")),
    }
}
