//! Whether the rows of a file are those of a sweep.

use crate::Refused;
use crate::rows::header;
use csv::{Position, ReaderBuilder, StringRecord};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// What to do about a file with rows of other runs.
const ADVICE: &str = "remove the file to run everything anew, or write to another place";

/// The line of a file, from 1, and the problem in it.
type Problem = (u64, String);

/// The identities of all runs of a sweep, each ending with the run's key.
pub struct Known<'a> {
    /// Names of an identity's parts.
    identifiers: &'a [String],
    all: &'a [Vec<String>],
    known: HashSet<&'a [String]>,
}

impl<'a> Known<'a> {
    pub fn new(identifiers: &'a [String], all: &'a [Vec<String>]) -> Self {
        Self {
            identifiers,
            all,
            known: all.iter().map(Vec::as_slice).collect(),
        }
    }

    /// The rows in the text of a file at `path`, by their identities.
    ///
    /// # Errors
    /// If a line is torn, or is of a run that does not belong to the sweep.
    pub fn rows_of(
        &self,
        text: &str,
        path: &Path,
    ) -> Result<HashMap<Vec<String>, StringRecord>, Refused> {
        self.read(text)
            .map_err(|(line, problem)| Refused(format!("{}:{line}: {problem}", path.display())))
    }

    fn read(&self, text: &str) -> Result<HashMap<Vec<String>, StringRecord>, Problem> {
        let columns: Vec<_> = header(self.identifiers).collect();
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .from_reader(text.as_bytes());
        let mut records = reader.records();
        match records.next() {
            None => return Ok(HashMap::new()),
            Some(Ok(first)) if first.iter().eq(columns.iter().copied()) => {}
            Some(_) => {
                let columns = columns.join(",");
                return Err((1, format!("written by another sweep, expected {columns}")));
            }
        }
        records.map(|record| self.row(record)).collect()
    }

    /// One row, and its identity.
    fn row(
        &self,
        record: csv::Result<StringRecord>,
    ) -> Result<(Vec<String>, StringRecord), Problem> {
        let line = |position: Option<&Position>| position.map_or(0, Position::line);
        let record = record.map_err(|e| (line(e.position()), e.to_string()))?;
        let parts = record.iter().take(self.identifiers.len());
        let identity: Vec<_> = parts.map(str::to_owned).collect();
        match self.known.contains(identity.as_slice()) {
            true => Ok((identity, record)),
            false => Err((line(record.position()), self.complaint(&identity))),
        }
    }

    /// Why the identity is not one of the sweep's, and what to do.
    fn complaint(&self, identity: &[String]) -> String {
        let named = self.identifiers.iter().zip(identity);
        let mut parts: Vec<_> = named.map(|(name, part)| format!("{name}={part}")).collect();
        parts.pop();
        let run = parts.join(" ");
        match self.expected_key(identity) {
            None => format!(
                "{run} is not of this sweep: ask for what the file holds as well, or write to another place"
            ),
            Some(expected) => format!("{run} {}; {ADVICE}", difference(key(identity), expected)),
        }
    }

    /// The key of the sweep's run that has the same name and values.
    fn expected_key(&self, identity: &[String]) -> Option<&str> {
        let place = &identity[..identity.len() - 1];
        let same = self.all.iter().find(|other| other.starts_with(place))?;
        Some(key(same))
    }
}

fn key(identity: &[String]) -> &str {
    identity.last().map_or("", String::as_str)
}

/// The difference between two keys; the behaviour version stands before the dash.
fn difference(key: &str, expected: &str) -> String {
    let version = |key: &str| key.split('-').next().map(str::to_owned).unwrap_or_default();
    let (then, now) = (version(key), version(expected));
    if then == now {
        return format!(
            "has the key {key}, expected {expected}: the scenario or a file that it reads has changed"
        );
    }
    format!("was run by a simulator of behaviour version {then}, this one's is {now}")
}
