//! The runs that figures need, and their outcome.

use crate::report::{Comparison, Doubtful, FigureReport, LeftOut, Report};
use crate::{Case, Estimate, Figure, Listing, Measure, Quantity, Results};
use anyhow::Result;
use std::collections::BTreeSet;
use tidegate_scenario::{LinkInputs, RunResult, Scenario};
use tidegate_sim::Options;

/// Some figures, and the seeds with which each of their cases is run.
pub struct Study {
    figures: Vec<Figure>,
    cases: Vec<Case>,
    seeds: u64,
    left_out: Vec<LeftOut>,
    measure: Option<Measure>,
}

/// One case with one seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    case: usize,
    seed: u64,
}

impl Study {
    /// A study of `figures` with `seeds` seeds, at least one. A case that several figures want is run
    /// once, with all curves that any of them wants.
    pub fn new(figures: Vec<Figure>, seeds: u64) -> Self {
        let mut cases: Vec<Case> = Vec::new();
        for case in figures.iter().flat_map(|figure| &figure.cases) {
            match cases.iter_mut().find(|known| known.name == case.name) {
                Some(known) => {
                    let curves: BTreeSet<_> = known.curves.iter().chain(&case.curves).collect();
                    known.curves = curves.into_iter().copied().collect();
                }
                None => cases.push(case.clone()),
            }
        }
        Self {
            figures,
            cases,
            seeds: seeds.max(1),
            left_out: Vec::new(),
            measure: None,
        }
    }

    /// The same, with cases run by `measure`, if there is one.
    #[must_use]
    pub fn measured(self, measure: Option<Measure>) -> Self {
        Self { measure, ..self }
    }

    /// The same, without those figures; the report gives the reason.
    #[must_use]
    pub fn without(self, left_out: Vec<LeftOut>) -> Self {
        Self { left_out, ..self }
    }

    /// All jobs: every case with the first seed, then every case with the second …
    pub fn jobs(&self) -> Vec<Job> {
        let cases = 0..self.cases.len();
        (1..=self.seeds)
            .flat_map(|seed| cases.clone().map(move |case| Job { case, seed }))
            .filter(|job| job.seed == 1 || !self.cases[job.case].once)
            .collect()
    }

    /// The cases that are run with every seed.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Seconds of virtual time that a job takes.
    pub fn duration_s(&self, job: Job) -> f64 {
        self.cases[job.case].scenario.duration_s
    }

    /// Identifies a job: its case's name, and its seed.
    pub fn identity(&self, job: Job) -> (&str, u64) {
        (&self.cases[job.case].name, job.seed)
    }

    /// Does a job, in the simulator unless it is [measured](Self::measured); none if it was stopped.
    ///
    /// # Errors
    /// When a case makes no sense, which is a mistake in a figure.
    pub fn perform(&self, job: Job, options: &Options) -> Result<Option<RunResult>> {
        let case = &self.cases[job.case];
        match self.measure {
            None => case.run(job.seed, options),
            Some(measure) => case.run_by(job.seed, |scenario, inputs, _| {
                measure(scenario, inputs).map(Some)
            }),
        }
    }

    /// Has a job done elsewhere; see [`Case::run_by`].
    ///
    /// # Errors
    /// When a case makes no sense, and those of `run`.
    pub fn perform_by(
        &self,
        job: Job,
        run: impl FnOnce(&Scenario, &LinkInputs, bool) -> Result<Option<RunResult>>,
    ) -> Result<Option<RunResult>> {
        self.cases[job.case].run_by(job.seed, run)
    }

    /// Records the result of a job; the seeds of each case come in order.
    pub fn note(&self, job: Job, result: RunResult, results: &mut Results) {
        results.add(&self.cases[job.case].name, result);
    }

    /// Compares all quantities with the paper's, and with the kernel's results of the same runs.
    pub fn report(&self, results: &Results, kernel: Option<&Results>) -> Report {
        Report {
            seeds: results.seeds(),
            figures: self
                .figures
                .iter()
                .map(|figure| figure_report(figure, results, kernel))
                .collect(),
            left_out: self.left_out.clone(),
        }
    }

    /// The figures, in the order of the report.
    pub fn figures(&self) -> &[Figure] {
        &self.figures
    }
}

fn figure_report(figure: &Figure, results: &Results, kernel: Option<&Results>) -> FigureReport {
    let quantities = figure.quantities.iter().map(|quantity| {
        let of = |results| estimate(quantity, &figure.cases, results);
        Comparison::new(quantity, &of(results), kernel.map(of).as_ref())
    });
    let doubtful = kernel.map(|kernel| doubtful(&figure.cases, kernel));
    FigureReport {
        id: figure.id.into(),
        title: figure.title.into(),
        claim: figure.claim.into(),
        method: figure.method.into(),
        quantities: quantities.collect(),
        listings: listings(figure, results, kernel),
        doubtful: doubtful.unwrap_or_default(),
    }
}

/// The lists behind a figure's numbers; empty ones are left out.
fn listings(figure: &Figure, results: &Results, kernel: Option<&Results>) -> Vec<Listing> {
    let of = |results: &Results| -> Vec<Listing> {
        let listed = figure.quantities.iter().filter_map(|q| q.listed.as_ref());
        listed.map(|list| list(&results.all())).collect()
    };
    let kernels = kernel.map(of).unwrap_or_default();
    let kernels = kernels.into_iter().map(|listing| Listing {
        title: format!("{}, on the kernel", listing.title),
        ..listing
    });
    let all = of(results).into_iter().chain(kernels);
    all.filter(|listing| !listing.rows.is_empty()).collect()
}

fn estimate(quantity: &Quantity, cases: &[Case], results: &Results) -> Estimate {
    let read = &quantity.read;
    let without = |seed| read(&results.without(seed));
    Estimate::jackknife(results.seeds_of(cases), read(&results.all()), without)
}

/// The runs of `cases` with warnings.
fn doubtful(cases: &[Case], results: &Results) -> Vec<Doubtful> {
    let warned = cases.iter().flat_map(|case| {
        let runs = results.all().runs(&case.name).zip(1..);
        runs.map(|(run, seed)| Doubtful {
            case: case.name.clone(),
            seed,
            warnings: run.health.warnings.clone(),
        })
    });
    warned.filter(|run| !run.warnings.is_empty()).collect()
}

#[cfg(test)]
mod tests;
