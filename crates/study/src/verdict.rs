//! What a paper claims, and whether ours bears it out.

use crate::statistics::Estimate;
use serde::Serialize;

/// Share of the paper's effect that ours must have at least to be called the same effect of another
/// size.
pub const SUBSTANTIAL: f64 = 0.25;

/// What a paper says of a quantity, with the tolerance that it is held to here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Claim {
    /// It is this number.
    Near {
        /// The paper's number.
        paper: f64,
        /// Largest difference that still counts as the same.
        within: f64,
        /// The number that would mean "no effect"; which side of it the paper's lies on is its
        /// direction.
        neutral: f64,
    },
    /// It is no more than this.
    AtMost {
        /// The bound.
        paper: f64,
        /// From here on not even the direction is right.
        neutral: f64,
    },
    /// It is no less than this.
    AtLeast {
        /// The bound.
        paper: f64,
        /// From here on not even the direction is right.
        neutral: f64,
    },
}

/// How ours compares with a paper's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Within the tolerance.
    Holds,
    /// An effect of the same sign, but of another size.
    Direction,
    /// Neither.
    Fails,
    /// None: the model was made from the paper's number, so to have it again shows nothing but that the model is what it
    /// is meant to be.
    Input,
}

impl Verdict {
    /// As JSON spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Direction => "direction",
            Self::Fails => "fails",
            Self::Input => "input",
        }
    }

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Direction => "holds in direction",
            Self::Fails => "does not hold",
            Self::Input => "is an input of the model",
        }
    }
}

impl Claim {
    /// No more than `paper`; from `neutral` on not even the direction is right.
    pub const fn at_most(paper: f64, neutral: f64) -> Self {
        Self::AtMost { paper, neutral }
    }

    /// No less than `paper`; down to `neutral` not even the direction is right.
    pub const fn at_least(paper: f64, neutral: f64) -> Self {
        Self::AtLeast { paper, neutral }
    }

    /// The paper's number, or its bound.
    pub const fn paper(&self) -> f64 {
        match *self {
            Self::Near { paper, .. } | Self::AtMost { paper, .. } | Self::AtLeast { paper, .. } => {
                paper
            }
        }
    }

    /// What is compared, and how far it may be off: `±5`, `≤`, `≥`.
    pub fn terms(&self) -> String {
        match self {
            // A share of the paper's number, as most are, has digits that nobody wrote.
            Self::Near { within, .. } => format!("±{}", (within * 1e4).round() / 1e4),
            Self::AtMost { .. } => "at most".into(),
            Self::AtLeast { .. } => "at least".into(),
        }
    }

    /// The verdict on `ours`.
    ///
    /// An effect has the paper's direction only if it has `SUBSTANTIAL` of its size, beyond doubt: its
    /// confidence interval leaves that out. An effect of the paper's within the tolerance has none.
    pub fn judge(&self, ours: &Estimate) -> Verdict {
        let value = ours.value;
        let holds = match *self {
            Self::Near { paper, within, .. } => (value - paper).abs() <= within,
            Self::AtMost { paper, .. } => value <= paper,
            Self::AtLeast { paper, .. } => value >= paper,
        };
        let (neutral, claimed, least) = match *self {
            Self::Near {
                paper,
                within,
                neutral,
            } => (neutral, paper - neutral, within),
            Self::AtMost { paper, neutral } | Self::AtLeast { paper, neutral } => {
                (neutral, paper - neutral, 0.0)
            }
        };
        let direction =
            claimed.abs() > least && ours.is_beyond(neutral + SUBSTANTIAL * claimed, claimed);
        match (holds, direction) {
            (true, _) => Verdict::Holds,
            (false, true) => Verdict::Direction,
            (false, false) => Verdict::Fails,
        }
    }
}

#[cfg(test)]
mod tests;
