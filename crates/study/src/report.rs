//! The outcome of a study, in the form of its JSON.

use crate::{Estimate, Listing, Quantity, Verdict};
use serde::Serialize;

/// The outcome of some figures.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Seeds of every run.
    pub seeds: usize,
    /// One entry a figure.
    pub figures: Vec<FigureReport>,
    /// Figures that were not done, though all were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

/// A figure that was not done.
#[derive(Clone, Debug, Serialize)]
pub struct LeftOut {
    /// How it is asked for.
    pub figure: String,
    /// Why not.
    pub reason: String,
}

/// The outcome of a figure.
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
    /// The parts of its numbers, if they are to be shown; the kernel's after ours.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub listings: Vec<Listing>,
    /// Runs on the kernel that should not be counted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub doubtful: Vec<Doubtful>,
}

/// A run that should not be counted, according to the laboratory.
#[derive(Clone, Debug, Serialize)]
pub struct Doubtful {
    /// The case's name.
    pub case: String,
    /// Its seed.
    pub seed: u64,
    /// Why not.
    pub warnings: Vec<String>,
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
    /// How that follows from what the paper prints; absent if it prints it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub derived: String,
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
    /// The same on the real kernel; absent if it was not run there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelNumber>,
}

/// A quantity as measured on the real kernel.
#[derive(Clone, Debug, Serialize)]
pub struct KernelNumber {
    /// The number.
    pub value: f64,
    /// Lower end of its 95 % confidence interval; none from a single seed.
    pub low: Option<f64>,
    /// Upper end of it.
    pub high: Option<f64>,
    /// How it compares with the paper's.
    pub verdict: Verdict,
}

impl Comparison {
    /// The quantity beside its estimates, ours and the kernel's.
    pub fn new(quantity: &Quantity, ours: &Estimate, kernel: Option<&Estimate>) -> Self {
        let verdict = quantity.judge(ours);
        let reason = match (verdict, quantity.reason) {
            (Verdict::Holds | Verdict::Input, _) => "",
            (Verdict::Unclear, "") => "the seeds differ too much to tell",
            (_, "") => "not explained yet",
            (_, reason) => reason,
        };
        Self {
            name: quantity.name.clone(),
            unit: quantity.unit.into(),
            paper: quantity.claim.paper(),
            derived: quantity.derived.into(),
            terms: quantity.claim.terms(),
            ours: ours.value,
            low: ours.low(),
            high: ours.high(),
            verdict,
            reason: reason.into(),
            kernel: kernel.map(|kernel| KernelNumber {
                value: kernel.value,
                low: kernel.low(),
                high: kernel.high(),
                verdict: quantity.judge(kernel),
            }),
        }
    }
}

impl Report {
    /// Every quantity of every figure.
    pub fn quantities(&self) -> impl Iterator<Item = &Comparison> {
        self.figures.iter().flat_map(|f| &f.quantities)
    }
}

impl FigureReport {
    /// Whether it was done on the kernel too.
    pub fn has_kernel(&self) -> bool {
        self.quantities.iter().any(|q| q.kernel.is_some())
    }
}
