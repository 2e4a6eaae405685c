//! The parts of a number, as a table.

use crate::number::figures;
use serde::Serialize;

/// A table of the parts of a number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listing {
    /// What it lists.
    pub title: String,
    /// What its columns hold.
    pub heads: Vec<String>,
    /// A row for each of what it lists.
    pub rows: Vec<Vec<Entry>>,
}

/// A cell of a listing.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Entry {
    /// Words.
    Text(String),
    /// How many.
    Count(usize),
    /// A number.
    Number(f64),
}

impl Listing {
    /// Places of the columns that hold numbers.
    pub fn number_columns(&self) -> Vec<usize> {
        let first = self.rows.first().map(Vec::as_slice).unwrap_or_default();
        let columns = first.iter().enumerate();
        let numbers = columns.filter(|(_, entry)| entry.is_number());
        numbers.map(|(column, _)| column).collect()
    }
}

impl Entry {
    /// As people read it.
    pub fn shown(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Number(value) => figures(*value),
        }
    }

    /// Whether it is a number.
    pub const fn is_number(&self) -> bool {
        matches!(self, Self::Count(_) | Self::Number(_))
    }
}

impl From<&str> for Entry {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Entry {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<usize> for Entry {
    fn from(count: usize) -> Self {
        Self::Count(count)
    }
}

impl From<f64> for Entry {
    fn from(value: f64) -> Self {
        Self::Number(value + 0.0)
    }
}
