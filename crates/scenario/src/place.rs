//! Where in a scenario's file a value stands, for complaints of those who cannot do what it says.

use crate::LoadError;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A step from a table to what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The value of that key.
    Key(&'static str),
    /// The table of that `name` in an array of them.
    Named(String),
}

impl LoadError {
    /// What is wrong with `value`, which stands at that place of the file unless the command line put it there.
    pub fn of_value(place: &[Step], value: &str, message: String, path: &Path) -> Self {
        let text = match Self::read(path) {
            Ok(text) => text,
            Err(error) => return error,
        };
        match offset(&text, place, value) {
            Some(offset) => Self::at(offset, message, &text, path),
            None => Self::Meaning {
                path: path.into(),
                message,
            },
        }
    }
}

/// Where the value begins, if it is the one that stands there.
fn offset(text: &str, place: &[Step], value: &str) -> Option<usize> {
    let table = DeTable::parse(text).ok()?;
    let span = table.span();
    let mut at = &Spanned::new(span, DeValue::Table(table.into_inner()));
    for step in place {
        at = match step {
            Step::Key(key) => at.get_ref().get(*key)?,
            Step::Named(name) => {
                let mut tables = at.get_ref().as_array()?.iter();
                tables.find(|table| {
                    let own = table.get_ref().get("name");
                    own.and_then(|own| own.get_ref().as_str()) == Some(name)
                })?
            }
        };
    }
    (at.get_ref().as_str() == Some(value)).then(|| at.span().start)
}

#[cfg(test)]
mod tests;
