//! What a constant of a law, or of mPath, is judged by: runs, and what is read from them.

use tidegate_study::{Case, Sample};

/// Which runs: a value that was chosen by one set is checked by the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// To choose by.
    Choice,
    /// To check with: other links, round trips and mixes.
    Check,
}

impl Set {
    /// The first to choose by, the second to check with.
    pub fn pick<T>(self, choice: T, check: T) -> T {
        match self {
            Self::Choice => choice,
            Self::Check => check,
        }
    }
}

/// What a constant is judged by.
pub struct Judge {
    /// What it is called.
    pub id: &'static str,
    /// What is run.
    pub cases: Vec<Case>,
    /// What is read from that.
    pub measures: Vec<Measure>,
}

/// Which of two numbers is better.
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
    /// Which is better, where that is known.
    pub better: Option<Better>,
    /// Reads it.
    pub read: Reading,
}

type Reading = Box<dyn Fn(&Sample) -> f64 + Send + Sync>;

impl Measure {
    /// Of which more is better.
    pub fn more(name: &str, read: impl Fn(&Sample) -> f64 + Send + Sync + 'static) -> Self {
        Self {
            name: name.into(),
            better: Some(Better::More),
            read: Box::new(read),
        }
    }

    /// Of which less is better.
    pub fn less(name: &str, read: impl Fn(&Sample) -> f64 + Send + Sync + 'static) -> Self {
        Self {
            better: Some(Better::Less),
            ..Self::more(name, read)
        }
    }
}
