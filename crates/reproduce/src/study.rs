//! Which runs some figures need, and what comes of them.

use crate::report::{Comparison, FigureReport, Report};
use crate::{Case, Estimate, Figure, Results};
use anyhow::Result;
use std::collections::BTreeSet;
use tidegate_scenario::RunResult;
use tidegate_sim::Options;

/// Some figures, and the seeds with which each of their cases is run.
pub struct Study {
    figures: Vec<Figure>,
    cases: Vec<Case>,
    seeds: u64,
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
        }
    }

    /// Everything that is to be run: all cases with the first seed, then with the second …
    pub fn jobs(&self) -> Vec<Job> {
        let cases = 0..self.cases.len();
        (1..=self.seeds)
            .flat_map(|seed| cases.clone().map(move |case| Job { case, seed }))
            .collect()
    }

    /// What is run with every seed.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Seconds of virtual time that a job takes.
    pub fn duration_s(&self, job: Job) -> f64 {
        self.cases[job.case].scenario.duration_s
    }

    /// What tells a job from all others: its case's name, and its seed.
    pub fn identity(&self, job: Job) -> (&str, u64) {
        (&self.cases[job.case].name, job.seed)
    }

    /// Does a job; none if it was stopped.
    ///
    /// # Errors
    /// When a case makes no sense, which is a mistake in a figure.
    pub fn perform(&self, job: Job, options: &Options) -> Result<Option<RunResult>> {
        self.cases[job.case].run(job.seed, options)
    }

    /// Notes what came of a job; of each case the seeds come in order.
    pub fn note(&self, job: Job, result: RunResult, results: &mut Results) {
        results.add(&self.cases[job.case].name, result);
    }

    /// Lays all quantities beside the paper's.
    pub fn report(&self, results: &Results) -> Report {
        Report {
            seeds: results.seeds(),
            figures: self
                .figures
                .iter()
                .map(|figure| figure_report(figure, results))
                .collect(),
        }
    }

    /// The figures, in the order of the report.
    pub fn figures(&self) -> &[Figure] {
        &self.figures
    }
}

fn figure_report(figure: &Figure, results: &Results) -> FigureReport {
    let quantities = figure.quantities.iter().map(|quantity| {
        let read = &quantity.read;
        let without = |seed| read(&results.without(seed));
        let ours = Estimate::jackknife(results.seeds(), read(&results.all()), without);
        Comparison::new(quantity, &ours)
    });
    FigureReport {
        id: figure.id.into(),
        title: figure.title.into(),
        claim: figure.claim.into(),
        method: figure.method.into(),
        quantities: quantities.collect(),
    }
}

#[cfg(test)]
mod tests;
