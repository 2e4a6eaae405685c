//! The outcome of a study, as JSON has it.

use crate::{Estimate, Quantity, Verdict};
use serde::Serialize;

/// What came of some figures.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Seeds of every run.
    pub seeds: usize,
    /// One entry a figure.
    pub figures: Vec<FigureReport>,
}

/// What came of a figure.
#[derive(Clone, Debug, Serialize)]
pub struct FigureReport {
    /// How it is asked for.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// What the paper says.
    pub claim: String,
    /// How it was done here, where that needs saying.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub method: String,
    /// Its numbers.
    pub quantities: Vec<Comparison>,
}

/// A number of the paper's beside ours.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// What it is.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// The paper's number or, with `at most` and `at least`, its bound.
    pub paper: f64,
    /// How the two are compared: `±5`, `at most`, `at least`.
    pub terms: String,
    /// Ours.
    pub ours: f64,
    /// Lower end of our 95 % confidence interval; none from a single seed.
    pub low: Option<f64>,
    /// Upper end of it.
    pub high: Option<f64>,
    /// How they compare.
    pub verdict: Verdict,
    /// Why ours differs; empty if it does not.
    pub reason: String,
}

impl Comparison {
    /// The quantity beside its estimate.
    pub fn new(quantity: &Quantity, ours: &Estimate) -> Self {
        let verdict = quantity.claim.judge(ours);
        let reason = match (verdict, quantity.reason) {
            (Verdict::Holds, _) => "",
            (_, "") => "not explained yet",
            (_, reason) => reason,
        };
        Self {
            name: quantity.name.clone(),
            unit: quantity.unit.into(),
            paper: quantity.claim.paper(),
            terms: quantity.claim.terms(),
            ours: ours.value,
            low: ours.low(),
            high: ours.high(),
            verdict,
            reason: reason.into(),
        }
    }
}

impl Report {
    /// How many quantities came out as `verdict`.
    pub fn count(&self, verdict: Verdict) -> usize {
        let quantities = self.figures.iter().flat_map(|f| &f.quantities);
        quantities.filter(|q| q.verdict == verdict).count()
    }
}
