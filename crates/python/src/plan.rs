//! What is to be run: a scenario, its variants and their runs, read and checked before anything is run.

use crate::errors::{refused, unsupported};
use crate::execute::{Asked, execute};
use crate::results::Results;
use crate::session::Session;
use crate::values::{dict, table, toml_of};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tidegate_scenario::{
    Files, LinkInputs, LoadError, RunResult, Scenario, Setting, Variation, combinations,
};
use tidegate_sim::{Keys, check};
use toml::Value;

/// A scenario with some of its settings replaced.
pub struct Variant {
    /// The scenario.
    pub scenario: Scenario,
    /// Its links.
    pub inputs: LinkInputs,
    /// The keys of its runs.
    pub keys: Keys,
    /// What was put in place of its own, in the order of the variations.
    pub values: Vec<Value>,
}

/// What is to be run.
#[pyclass(frozen, module = "tidegate._native")]
pub struct Plan {
    variants: Vec<Variant>,
    /// What is varied.
    columns: Vec<String>,
    /// How to have it again, for the results' provenance.
    command: String,
}

#[pymethods]
impl Plan {
    /// Reads every combination of `vary`, the last of which turns fastest.
    ///
    /// `written` is the text that `document` was read from, `path` where; `files` are what has been made and not written,
    /// by name. Of the runs those named `runs` are run, or all.
    #[new]
    #[expect(
        clippy::too_many_arguments,
        reason = "Python's face of it is in _scenario.py"
    )]
    fn new(
        py: Python<'_>,
        document: &Bound<'_, PyAny>,
        written: &str,
        path: PathBuf,
        files: BTreeMap<String, String>,
        vary: Vec<(String, Vec<Bound<'_, PyAny>>)>,
        runs: Option<Vec<String>>,
        command: String,
    ) -> PyResult<Self> {
        let document = table(document, "")?;
        let variations = vary.iter().map(|(key, values)| {
            let values = values.iter().map(|value| toml_of(value, key));
            Ok(Variation {
                key: key.split('.').map(str::to_owned).collect(),
                values: values.collect::<PyResult<_>>()?,
            })
        });
        let variations: Vec<Variation> = variations.collect::<PyResult<_>>()?;
        let files = Files::beside(&path).with(&files);
        let read = |settings: &[Setting<'_>]| -> Result<Variant, LoadError> {
            let mut scenario = Scenario::from_table(&document, written, &path, settings)?;
            if let Some(names) = &runs {
                scenario.runs.retain(|run| names.contains(&run.name));
            }
            let inputs = scenario.link_inputs_from(&files, &path)?;
            let keys = Keys::from_files(&scenario, &files)?;
            let values = settings.iter().map(|&(_, value)| Value::clone(value));
            Ok(Variant {
                values: values.collect(),
                scenario,
                inputs,
                keys,
            })
        };
        let combinations = combinations(&variations);
        let variants = py.detach(|| {
            let variants = combinations.iter().map(|settings| read(settings));
            variants.collect::<Result<Vec<_>, _>>()
        });
        let variants = variants.map_err(|error| refused(py, error))?;
        for variant in &variants {
            check(&variant.scenario).map_err(|error| unsupported(py, &error))?;
        }
        Ok(Self {
            variants,
            columns: vary.into_iter().map(|(key, _)| key).collect(),
            command,
        })
    }

    /// How many runs that is.
    fn __len__(&self) -> usize {
        self.variants.iter().map(|v| v.scenario.runs.len()).sum()
    }

    /// The key of each run: equal where the result has to be.
    fn keys(&self) -> Vec<String> {
        let of_variant = |v: &Variant| {
            let runs = v.scenario.runs.iter();
            runs.map(|run| v.keys.of(run).to_string())
                .collect::<Vec<_>>()
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
        let results = execute(py, &self.variants, &asked, progress.as_ref())?;
        Ok(self.results(results))
    }

    /// The only run, to be stepped. All quantities are kept over time, a point for each `bin_ms`, if `series`.
    #[pyo3(signature = (*, series=false, bin_ms=100.0))]
    fn session(slf: &Bound<'_, Self>, series: bool, bin_ms: f64) -> PyResult<Session> {
        let py = slf.py();
        let asked = Asked::new(py, series.then(Vec::new), bin_ms, None)?;
        let variants = &slf.get().variants;
        Session::new(py, slf.clone().unbind(), &variants[0], &asked.options())
    }
}

impl Plan {
    /// What the runs measured, in their order.
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
