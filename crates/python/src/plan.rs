//! A plan: a scenario, its variants and their runs, read and checked before anything is run.

use crate::errors::refused;
use crate::execute::{Asked, Stop, execute};
use crate::laboratory;
use crate::reading::{Reading, Spec, Variant};
use crate::results::Results;
use crate::session::Session;
use crate::sweep::identity;
use crate::values::dict;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::Path;
use tidegate_scenario::{LoadError, RunResult};
use tidegate_sweep::cells;

/// The runs of a call.
#[pyclass(frozen, module = "tidegate._native")]
pub struct Plan {
    variants: Vec<Variant>,
    /// The settings that are varied.
    columns: Vec<String>,
    /// The command that repeats it, for the results' provenance.
    command: String,
}

#[pymethods]
impl Plan {
    /// Reads every variant, or those from the first to the second of two numbers.
    #[new]
    #[pyo3(signature = (spec, variants=None))]
    fn new(py: Python<'_>, spec: Spec<'_>, variants: Option<(usize, usize)>) -> PyResult<Self> {
        let command = spec.command.clone();
        let reading = Reading::new(spec)?;
        Ok(Self {
            variants: reading.variants(py, variants, |variant| variant)?,
            columns: reading.columns(),
            command,
        })
    }

    /// The number of runs.
    fn __len__(&self) -> usize {
        self.variants.iter().map(|v| v.scenario.runs.len()).sum()
    }

    /// The key of each run: equal keys mean equal results.
    fn keys(&self) -> Vec<String> {
        let of_variant = |v: &Variant| {
            let runs = v.scenario.runs.iter();
            runs.map(|run| v.key(run)).collect::<Vec<_>>()
        };
        self.variants.iter().flat_map(of_variant).collect()
    }

    /// Runs everything on `threads` threads, without the interpreter's lock.
    ///
    /// `series` are the quantities to be kept over time, a point for each `bin_ms`: none of them, or all. `progress` is
    /// called with the seconds of virtual time that are done, and those of all.
    #[pyo3(signature = (*, series=None, bin_ms=100.0, threads=None, progress=None))]
    fn run(
        &self,
        py: Python<'_>,
        series: Option<Vec<String>>,
        bin_ms: f64,
        threads: Option<usize>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Results> {
        let asked = Asked::new(py, series, bin_ms, threads)?;
        let jobs = self.jobs();
        let stop = Stop::default();
        let results = execute(py, &self.variants, &jobs, &asked, &stop, progress.as_ref())?;
        Ok(self.results(results))
    }

    /// Performs the only run in the laboratory, in real time; `progress` is called as by [`Self::run`].
    #[pyo3(signature = (*, series=None, progress=None))]
    fn lab(
        &self,
        py: Python<'_>,
        series: Option<Vec<String>>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Results> {
        let asked = Asked::new(py, series, 100.0, Some(1))?;
        let variant = &self.variants[0];
        let run = &variant.scenario.runs[0];
        let result = laboratory::execute(py, variant, run, &asked, progress.as_ref())?;
        let columns = self.columns.clone();
        let command = self.command.clone();
        Ok(Results::measured(
            &self.variants,
            vec![result],
            columns,
            command,
        ))
    }

    /// The rows of `tidegate sim --out` for these runs, by their numbers; one after another, until `stop` is set.
    fn rows(&self, py: Python<'_>, runs: Vec<usize>, stop: &Stop) -> PyResult<Vec<Vec<String>>> {
        let all = self.jobs();
        let jobs: Vec<_> = runs
            .iter()
            .filter_map(|&run| all.get(run).copied())
            .collect();
        let asked = Asked::new(py, None, 100.0, Some(1))?;
        let results = execute(py, &self.variants, &jobs, &asked, stop, None)?;
        let row = |(&(variant, run), result): (&(usize, usize), &RunResult)| {
            let variant = &self.variants[variant];
            let identity = identity(variant, &variant.scenario.runs[run]);
            cells(&identity, result).collect()
        };
        Ok(jobs.iter().zip(&results).map(row).collect())
    }

    /// The only run, to be stepped. If `series`, all quantities are kept over time, a point for each `bin_ms`.
    #[pyo3(signature = (*, series=false, bin_ms=100.0))]
    fn session(slf: &Bound<'_, Self>, series: bool, bin_ms: f64) -> PyResult<Session> {
        let py = slf.py();
        let asked = Asked::new(py, series.then(Vec::new), bin_ms, None)?;
        let variants = &slf.get().variants;
        Session::new(py, slf.clone().unbind(), &variants[0], asked.options())
    }
}

impl Plan {
    /// All runs, by the numbers of their variant and of the run within it.
    fn jobs(&self) -> Vec<(usize, usize)> {
        let variants = self.variants.iter().enumerate();
        variants
            .flat_map(|(nth, v)| (0..v.scenario.runs.len()).map(move |run| (nth, run)))
            .collect()
    }

    /// The results of the runs, in their order.
    pub fn results(&self, results: Vec<RunResult>) -> Results {
        let columns = self.columns.clone();
        Results::new(&self.variants, results, columns, self.command.clone())
    }
}

/// The text of a scenario as a `dict`.
#[pyfunction]
pub fn parse<'py>(py: Python<'py>, text: &str, path: &str) -> PyResult<Bound<'py, PyDict>> {
    let parsed: Result<toml::Table, _> = text.parse();
    match parsed {
        Ok(table) => dict(py, &table),
        Err(error) => Err(refused(py, LoadError::toml(&error, text, Path::new(path)))),
    }
}
