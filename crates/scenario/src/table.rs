//! A scenario that a program has made, or has read and changed.

use crate::place::{document, offset_of};
use crate::{LoadError, Scenario, Setting};
use std::path::Path;
use toml::{Table, Value};

impl Scenario {
    /// As [`Scenario::parse_with`], of a table. `written` is the text that it was read from, or empty: what is wrong has the
    /// line of that text where the same value stands there, and otherwise none.
    ///
    /// # Errors
    /// See [`Scenario::parse`]; and what cannot be written as TOML.
    pub fn from_table(
        table: &Table,
        written: &str,
        path: &Path,
        settings: &[Setting<'_>],
    ) -> Result<Self, LoadError> {
        let original: Option<Table> = written.parse().ok();
        if original.as_ref() == Some(table) {
            return Self::parse_with(written, path, settings);
        }
        let text = toml::to_string(table).map_err(|error| LoadError::Meaning {
            path: path.into(),
            key: None,
            message: error.to_string(),
        })?;
        let unplaced = |error: LoadError| {
            error.placed(&mut |key| {
                let same = value_of(original.as_ref()?, key)? == value_of(table, key)?;
                let offset = offset_of(&document(written)?, key)?;
                same.then(|| written[..offset].matches('\n').count() + 1)
            })
        };
        Self::parse_with(&text, path, settings).map_err(unplaced)
    }
}

impl LoadError {
    /// With lines by key, as far as there are any.
    fn placed(self, line_of: &mut dyn FnMut(&str) -> Option<usize>) -> Self {
        match self {
            Self::Syntax {
                path, key, message, ..
            } => match key.as_deref().and_then(&mut *line_of) {
                Some(line) => Self::Syntax {
                    path,
                    line,
                    key,
                    message,
                },
                None => Self::Meaning { path, key, message },
            },
            Self::Several(errors) => {
                let placed = errors.into_iter().map(|error| error.placed(line_of));
                Self::all(placed.collect::<Vec<_>>()).expect("several")
            }
            other => other,
        }
    }
}

/// The value under a key as errors have it: `workload[0].does`.
fn value_of<'t>(table: &'t Table, key: &str) -> Option<&'t Value> {
    let mut parts = key.split(['.', '[']);
    let first = table.get(parts.next()?);
    parts.fold(first, |at, part| match part.strip_suffix(']') {
        Some(nth) => at?.get(nth.parse::<usize>().ok()?),
        None => at?.get(part),
    })
}
