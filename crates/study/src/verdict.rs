//! A paper's claim, and whether our number confirms it.

use crate::statistics::Estimate;
use serde::Serialize;

/// Share of the paper's effect that ours must have at least to count as the same effect with another size.
pub const SUBSTANTIAL: f64 = 0.25;

/// A paper's claim on a quantity, with our tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Claim {
    /// The quantity is this number.
    Near {
        /// The paper's number.
        paper: f64,
        /// Largest difference that still counts as the same.
        within: f64,
        /// The number that means "no effect". The side of it on which the paper's number lies is the claim's
        /// direction.
        neutral: f64,
    },
    /// The quantity is at most this.
    AtMost {
        /// The bound.
        paper: f64,
        /// From here on even the direction is wrong.
        neutral: f64,
    },
    /// The quantity is at least this.
    AtLeast {
        /// The bound.
        paper: f64,
        /// From here on even the direction is wrong.
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
    /// The seeds differ too much to tell: the confidence interval holds both a number that would confirm the claim and
    /// one that would refute it.
    Unclear,
    /// No verdict: the model was derived from the paper's number, so agreement proves nothing.
    Input,
}

impl Verdict {
    /// As JSON spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Direction => "direction",
            Self::Fails => "fails",
            Self::Unclear => "unclear",
            Self::Input => "input",
        }
    }

    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Direction => "holds in direction",
            Self::Fails => "does not hold",
            Self::Unclear => "is unclear",
            Self::Input => "is an input of the model",
        }
    }
}

impl Claim {
    /// The same as something else, or unchanged: a ratio of 1, a difference of 0. Such a claim has no direction.
    pub const fn same(paper: f64, within: f64) -> Self {
        Self::Near {
            paper,
            within,
            neutral: paper,
        }
    }

    /// At most `paper`; from `neutral` on even the direction is wrong.
    pub const fn at_most(paper: f64, neutral: f64) -> Self {
        Self::AtMost { paper, neutral }
    }

    /// At least `paper`; down to `neutral` even the direction is wrong.
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

    /// The comparison and its tolerance: `±5`, `≤`, `≥`.
    pub fn terms(&self) -> String {
        match self {
            // Most tolerances are a share of the paper's number: round away digits that nobody wrote.
            Self::Near { within, .. } => format!("±{}", (within * 1e4).round() / 1e4),
            Self::AtMost { .. } => "at most".into(),
            Self::AtLeast { .. } => "at least".into(),
        }
    }

    /// The verdict on `ours`.
    ///
    /// A claim holds if ours is within the tolerance and the confidence interval excludes "no effect"; a claim of no
    /// effect, if the interval is no wider than the tolerance, or lies within the bound. An effect has the paper's
    /// direction only if it surely has `SUBSTANTIAL` of its size: the confidence interval must lie beyond that. A claim is
    /// unclear if the interval leaves it open. Otherwise it fails, and so does a number that is missing (NaN).
    pub fn judge(&self, ours: &Estimate) -> Verdict {
        let margin = ours.margin.unwrap_or(0.0);
        let off = self.off(ours.value);
        let (effect, neutral) = (self.effect(), self.neutral());
        let sure = match (self, effect) {
            (Self::Near { within, .. }, 0.0) => margin <= *within,
            (_, 0.0) => off <= -margin,
            _ => ours.is_beyond(neutral, effect),
        };
        let direction = effect != 0.0 && ours.is_beyond(neutral + SUBSTANTIAL * effect, effect);
        match (off <= 0.0, direction) {
            (true, _) if sure => Verdict::Holds,
            (true, _) => Verdict::Unclear,
            (false, true) => Verdict::Direction,
            (false, false) if off <= margin => Verdict::Unclear,
            (false, false) => Verdict::Fails,
        }
    }

    /// How far `value` is beyond the tolerance; 0 or less within it.
    fn off(&self, value: f64) -> f64 {
        match *self {
            Self::Near { paper, within, .. } => (value - paper).abs() - within,
            Self::AtMost { paper, .. } => value - paper,
            Self::AtLeast { paper, .. } => paper - value,
        }
    }

    /// The paper's effect, signed; 0 if it claims none, or less than the tolerance.
    fn effect(&self) -> f64 {
        let effect = self.paper() - self.neutral();
        if effect.abs() > self.within() {
            effect
        } else {
            0.0
        }
    }

    const fn within(&self) -> f64 {
        match *self {
            Self::Near { within, .. } => within,
            Self::AtMost { .. } | Self::AtLeast { .. } => 0.0,
        }
    }

    const fn neutral(&self) -> f64 {
        match *self {
            Self::Near { neutral, .. }
            | Self::AtMost { neutral, .. }
            | Self::AtLeast { neutral, .. } => neutral,
        }
    }
}

#[cfg(test)]
mod tests;
