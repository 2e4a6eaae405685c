//! A figure or table of a paper: its claims, the runs for it, and the numbers read from them.

use crate::{Case, Claim, Estimate, Extent, Listing, Sample, Seeds, Verdict};
use anyhow::Result;
use tidegate_report::plot;
use tidegate_scenario::{LinkInputs, RunResult, Scenario};

/// Reads a number from the runs.
pub type Reading = Box<dyn Fn(&Sample) -> f64 + Send + Sync>;

/// Lists the parts of a number.
pub type Listed = Box<dyn Fn(&Sample) -> Listing + Send + Sync>;

/// Draws the runs.
pub type Drawing = Box<dyn Fn(&Sample) -> Vec<plot::Figure> + Send + Sync>;

/// Runs a case over its links without the simulator.
pub type Measure = fn(&Scenario, &LinkInputs) -> Result<RunResult>;

/// A paper, or a piece of work of our own, with figures.
pub struct Paper {
    /// Its name on the command line: `drwa`.
    pub id: &'static str,
    /// Its title.
    pub title: &'static str,
    /// The model behind its figures, in words.
    pub introduction: &'static str,
    /// How often every run is repeated.
    pub seeds: Seeds,
    /// How its cases are run, if it does not study TCP; otherwise in the simulator.
    pub measure: Option<Measure>,
    /// The selection for the real kernel.
    pub lab: Selection,
    /// Its figures, in the paper's order. Fails if a recorded link cannot be read.
    pub figures: fn(&Extent) -> Result<Vec<Figure>>,
}

/// The part of a paper that is run on the real kernel, within minutes, unless other figures are asked for.
pub struct Selection {
    /// Its figures, by their ids.
    pub figures: &'static [&'static str],
    /// How these runs differ from the simulator's, in words.
    pub method: &'static str,
}

impl Selection {
    /// Nothing.
    pub const NONE: Self = Self {
        figures: &[],
        method: "",
    };
}

/// A figure or table of a paper.
pub struct Figure {
    /// Its name on the command line: `fig-15`.
    pub id: &'static str,
    /// What it shows, in a few words.
    pub title: &'static str,
    /// The paper's claim.
    pub claim: &'static str,
    /// How it was done here, if that needs saying.
    pub method: &'static str,
    /// The runs.
    pub cases: Vec<Case>,
    /// The comparisons.
    pub quantities: Vec<Quantity>,
    /// The picture.
    pub draw: Drawing,
}

/// A number of the paper's, and how ours is read.
pub struct Quantity {
    /// What it is.
    pub name: String,
    /// Its unit.
    pub unit: &'static str,
    /// The paper's number, or its bound.
    pub claim: Claim,
    /// Ours.
    pub read: Reading,
    /// Whether the model was derived from the paper's number: then there is no verdict.
    pub input: bool,
    /// How the number follows from what the paper prints, if it does not print it.
    pub derived: &'static str,
    /// Why ours differs, if it does.
    pub reason: &'static str,
    /// The parts of our number, if they are to be shown.
    pub listed: Option<Listed>,
}

impl Quantity {
    /// A quantity without a reason yet for a difference from the paper's.
    pub fn new(
        name: impl Into<String>,
        unit: &'static str,
        claim: Claim,
        read: impl Fn(&Sample) -> f64 + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: name.into(),
            unit,
            claim,
            read: Box::new(read),
            input: false,
            derived: "",
            reason: "",
            listed: None,
        }
    }

    /// The same, marked as an input of the model if `is_one`.
    #[must_use]
    pub fn input(self, is_one: bool) -> Self {
        Self {
            input: is_one,
            ..self
        }
    }

    /// The same, with how the number follows from what the paper prints.
    #[must_use]
    pub fn derived(self, derived: &'static str) -> Self {
        Self { derived, ..self }
    }

    /// The verdict on `ours`.
    pub fn judge(&self, ours: &Estimate) -> Verdict {
        match self.input {
            true => Verdict::Input,
            false => self.claim.judge(ours),
        }
    }

    /// The same, with the reason why ours differs.
    #[must_use]
    pub fn because(self, reason: &'static str) -> Self {
        Self { reason, ..self }
    }

    /// The same, with a list of its parts.
    #[must_use]
    pub fn listing(self, list: impl Fn(&Sample) -> Listing + Send + Sync + 'static) -> Self {
        Self {
            listed: Some(Box::new(list)),
            ..self
        }
    }
}
