//! Where in a scenario's file a value stands, for complaints of those who cannot do what it says.

use crate::LoadError;
use crate::load::read_again;
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
        let text = read_again(path).unwrap_or_default();
        match offset(&text, place, value) {
            Some(offset) => Self::at(offset, message, &text, path),
            None => Self::Meaning {
                path: path.into(),
                key: Some(spelt(place)),
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

/// A place as people write it: `workload[0].does.bulk`.
pub(crate) fn spelt(place: &[Step]) -> String {
    let mut key = String::new();
    for step in place {
        match step {
            Step::Key(name) => join(&mut key, name),
            Step::Named(name) => join(&mut key, name),
            Step::Nth(nth) => key.push_str(&format!("[{nth}]")),
        }
    }
    key
}

fn join(key: &mut String, name: &str) {
    if !key.is_empty() {
        key.push('.');
    }
    key.push_str(name);
}

/// The key whose value, or whose own name, stands at that offset; none at the top of the document.
pub(crate) fn key_at(document: &Spanned<DeValue<'_>>, offset: usize) -> Option<String> {
    let mut key = String::new();
    descend(document, offset, &mut key);
    (!key.is_empty()).then_some(key)
}

/// Where the value of such a key begins.
pub(crate) fn offset_of(document: &Spanned<DeValue<'_>>, key: &str) -> Option<usize> {
    let mut at = document;
    for part in key.split(['.', '[']) {
        at = match part.strip_suffix(']') {
            Some(nth) => at.get_ref().get(nth.parse::<usize>().ok()?)?,
            None => at.get_ref().get(part)?,
        };
    }
    Some(at.span().start)
}

fn descend(value: &Spanned<DeValue<'_>>, offset: usize, key: &mut String) {
    match value.get_ref() {
        DeValue::Table(table) => {
            let inside = |(name, value): &(&Spanned<_>, &Spanned<DeValue>)| {
                name.span().contains(&offset) || reaches(value, offset)
            };
            if let Some((name, value)) = table.iter().find(inside) {
                join(key, name.get_ref());
                descend(value, offset, key);
            }
        }
        DeValue::Array(values) => {
            let inside = |value: &&Spanned<DeValue>| reaches(value, offset);
            if let Some((nth, value)) = (0..).zip(values).find(|(_, value)| inside(value)) {
                key.push_str(&format!("[{nth}]"));
                descend(value, offset, key);
            }
        }
        _ => {}
    }
}

/// Whether the offset is of the value or of something in it: a table with a head of its own spans that alone.
pub(crate) fn reaches(value: &Spanned<DeValue<'_>>, offset: usize) -> bool {
    value.span().contains(&offset)
        || match value.get_ref() {
            DeValue::Table(table) => table
                .iter()
                .any(|(key, value)| key.span().contains(&offset) || reaches(value, offset)),
            DeValue::Array(values) => values.iter().any(|value| reaches(value, offset)),
            _ => false,
        }
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
