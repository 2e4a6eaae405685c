//! Judges for the constants of a law, or of mPath: runs, and the numbers read from them.

use tidegate_study::{Case, Sample};

/// Which runs: a value chosen with one set is checked with the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// To choose a value.
    Choice,
    /// To check a value: other links, round trips and mixes.
    Check,
}

impl Set {
    /// `choice` for the first set, `check` for the second.
    pub fn pick<T>(self, choice: T, check: T) -> T {
        match self {
            Self::Choice => choice,
            Self::Check => check,
        }
    }
}

/// A judge: runs, and the numbers read from them.
pub struct Judge {
    /// Its name.
    pub id: &'static str,
    /// The runs.
    pub cases: Vec<Case>,
    /// The numbers.
    pub measures: Vec<Measure>,
}

/// Which direction is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The larger.
    More,
    /// The smaller.
    Less,
}

/// A number read from the runs.
pub struct Measure {
    /// What it is, with its unit.
    pub name: String,
    /// Which direction is better, if that is known.
    pub better: Option<Better>,
    /// Reads it.
    pub read: Reading,
}

type Reading = Box<dyn Fn(&Sample) -> f64 + Send + Sync>;

impl Measure {
    /// A number: more is better.
    pub fn more(name: &str, read: impl Fn(&Sample) -> f64 + Send + Sync + 'static) -> Self {
        Self {
            name: name.into(),
            better: Some(Better::More),
            read: Box::new(read),
        }
    }

    /// A number: less is better.
    pub fn less(name: &str, read: impl Fn(&Sample) -> f64 + Send + Sync + 'static) -> Self {
        Self {
            better: Some(Better::Less),
            ..Self::more(name, read)
        }
    }
}
