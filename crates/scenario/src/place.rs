//! Where in a scenario's file a value stands, for complaints of those who cannot do what it says.

use crate::LoadError;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A step from a table or an array to what is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The value of that key.
    Key(&'static str),
    /// The table of that `name` in an array of them.
    Named(String),
    /// The value at that place of an array, from 0.
    Nth(usize),
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
    let document = document(text)?;
    let (found, rest) = follow(&document, place);
    let stands = rest.is_empty() && found.get_ref().as_str() == Some(value);
    stands.then(|| found.span().start)
}

/// The text as a value with the places of all that is in it; none where it is not TOML.
pub(crate) fn document(text: &str) -> Option<Spanned<DeValue<'_>>> {
    DeTable::parse(text).ok().map(as_value)
}

/// A table as a value.
pub(crate) fn as_value(table: Spanned<DeTable<'_>>) -> Spanned<DeValue<'_>> {
    let span = table.span();
    Spanned::new(span, DeValue::Table(table.into_inner()))
}

/// Goes as far as there is something; returns that, and the steps that are left.
pub(crate) fn follow<'v, 'i, 'p>(
    document: &'v Spanned<DeValue<'i>>,
    place: &'p [Step],
) -> (&'v Spanned<DeValue<'i>>, &'p [Step]) {
    let mut at = document;
    for (taken, step) in place.iter().enumerate() {
        match into(at, step) {
            Some(next) => at = next,
            None => return (at, &place[taken..]),
        }
    }
    (at, &[])
}

fn into<'v, 'i>(at: &'v Spanned<DeValue<'i>>, step: &Step) -> Option<&'v Spanned<DeValue<'i>>> {
    match step {
        Step::Key(key) => at.get_ref().get(*key),
        Step::Nth(nth) => at.get_ref().get(*nth),
        Step::Named(name) => {
            let mut tables = at.get_ref().as_array()?.iter();
            tables.find(|table| {
                let own = table.get_ref().get("name");
                own.and_then(|own| own.get_ref().as_str()) == Some(name)
            })
        }
    }
}

#[cfg(test)]
mod tests;
