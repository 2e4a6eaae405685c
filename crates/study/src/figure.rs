//! A figure or table of a paper: what it claims, what is run for it, what is read from the runs.

use crate::{Case, Claim, Estimate, Extent, Listing, Sample, Seeds, Verdict};
use anyhow::Result;
use tidegate_report::plot;
use tidegate_scenario::{LinkInputs, RunResult, Scenario};

/// Reads a number from the runs.
pub type Reading = Box<dyn Fn(&Sample) -> f64 + Send + Sync>;

/// Lists what a number was made from.
pub type Listed = Box<dyn Fn(&Sample) -> Listing + Send + Sync>;

/// Draws the runs.
pub type Drawing = Box<dyn Fn(&Sample) -> Vec<plot::Figure> + Send + Sync>;

/// Runs a case over its links without the simulator.
pub type Measure = fn(&Scenario, &LinkInputs) -> Result<RunResult>;

/// A paper, or a piece of work of our own, with figures.
pub struct Paper {
    /// How it is asked for: `drwa`.
    pub id: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// What the model behind its figures is, for people.
    pub introduction: &'static str,
    /// How often every run is repeated.
    pub seeds: Seeds,
    /// How its cases are run, where it is not TCP that is studied; else in the simulator.
    pub measure: Option<Measure>,
    /// What is done of it on the real kernel.
    pub lab: Selection,
    /// Its figures, in the paper's order. Fails if a recorded link cannot be read.
    pub figures: fn(&Extent) -> Result<Vec<Figure>>,
}

/// What is done of a paper on the real kernel, within minutes, unless somebody asks for other figures.
pub struct Selection {
    /// Its figures, by their ids.
    pub figures: &'static [&'static str],
    /// What is otherwise than without the kernel, for people.
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
    /// How it is asked for: `fig-15`.
    pub id: &'static str,
    /// What it shows, in a few words.
    pub title: &'static str,
    /// What the paper says about it.
    pub claim: &'static str,
    /// How it was done here, where that needs saying.
    pub method: &'static str,
    /// What is run.
    pub cases: Vec<Case>,
    /// What is compared.
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
    /// What the paper says.
    pub claim: Claim,
    /// Ours.
    pub read: Reading,
    /// Whether the model was made from the paper's number: then there is no verdict.
    pub input: bool,
    /// How the number follows from what the paper prints, if it does not print it.
    pub derived: &'static str,
    /// Why ours differs, if it does.
    pub reason: &'static str,
    /// What stands behind ours, where that is to be seen.
    pub listed: Option<Listed>,
}

impl Quantity {
    /// A quantity whose difference from the paper's, if any, is not explained yet.
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

    /// As one from which the model was made, if `is_one`.
    #[must_use]
    pub fn input(self, is_one: bool) -> Self {
        Self {
            input: is_one,
            ..self
        }
    }

    /// With how the number follows from what the paper prints.
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

    /// With the reason why ours differs.
    #[must_use]
    pub fn because(self, reason: &'static str) -> Self {
        Self { reason, ..self }
    }

    /// With a list of what stands behind it.
    #[must_use]
    pub fn listing(self, list: impl Fn(&Sample) -> Listing + Send + Sync + 'static) -> Self {
        Self {
            listed: Some(Box::new(list)),
            ..self
        }
    }
}
