//! The results of runs.

use crate::reading::{NO_KEY, Variant};
use crate::table::Table;
use crate::tables;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde::Serialize;
use std::collections::VecDeque;
use tidegate_scenario::{Provenance, ResultSet, RunResult, Seeds};
use toml::Value;

/// One variant's runs.
#[derive(Clone)]
pub struct Set {
    /// The values that replaced the scenario's own.
    pub values: Vec<Value>,
    /// The runs' keys, in their order.
    pub keys: Vec<String>,
    /// Their results.
    pub results: ResultSet,
    /// Whether a link plays the same piece of its recording with every seed.
    one_piece: bool,
}

/// The runs of one or several variants.
#[pyclass(frozen, module = "tidegate._native")]
pub struct Results {
    /// The settings that were varied.
    pub columns: Vec<String>,
    /// The variants.
    pub sets: Vec<Set>,
    command: String,
}

/// A result with its provenance, as in `tidegate sim --json`.
#[derive(Serialize)]
struct Sourced<'a> {
    #[serde(flatten)]
    result: &'a ResultSet,
    provenance: Provenance,
}

impl Results {
    /// `results` are those of the variants' runs, in their order.
    pub fn new(
        variants: &[Variant],
        results: Vec<RunResult>,
        columns: Vec<String>,
        command: String,
    ) -> Self {
        let mut results = VecDeque::from(results);
        let set = |variant: &Variant| {
            let scenario = &variant.scenario;
            Set {
                values: variant.values.clone(),
                keys: scenario.runs.iter().map(|run| variant.key(run)).collect(),
                one_piece: scenario.plays_one_piece(),
                results: ResultSet {
                    scenario: scenario.name.clone(),
                    description: scenario.description.clone(),
                    seed: scenario.seed,
                    runs: results.drain(..scenario.runs.len()).collect(),
                },
            }
        };
        Self {
            sets: variants.iter().map(set).collect(),
            columns,
            command,
        }
    }

    /// The same for runs in real time, which cannot be repeated to the byte: they have no keys.
    pub fn measured(
        variants: &[Variant],
        results: Vec<RunResult>,
        columns: Vec<String>,
        command: String,
    ) -> Self {
        let mut all = Self::new(variants, results, columns, command);
        let keys = all.sets.iter_mut().flat_map(|set| &mut set.keys);
        keys.for_each(|key| *key = format!("{NO_KEY}measured in real time"));
        all
    }

    fn provenance(&self, seeds: impl IntoIterator<Item = u64>) -> Provenance {
        Provenance {
            version: env!("CARGO_PKG_VERSION").into(),
            commit: env!("TIDEGATE_COMMIT").into(),
            kernel: None,
            command: self.command.clone(),
            seed: Seeds::of(seeds),
        }
    }

    /// The variants, each with a set for every seed.
    fn variants(&self) -> impl Iterator<Item = &[Set]> {
        let seeds = self.columns.last().is_some_and(|name| name == "seed");
        let others = self.columns.len() - usize::from(seeds);
        self.sets.chunk_by(move |one, next| {
            seeds
                && one.values[..others] == next.values[..others]
                && one.results.runs.len() == next.results.runs.len()
        })
    }

    /// The sets alone, with or without their curves.
    fn plain(&self, series: bool) -> Vec<ResultSet> {
        let mut sets: Vec<_> = self.sets.iter().map(|set| set.results.clone()).collect();
        if !series {
            let runs = sets.iter_mut().flat_map(|set| &mut set.runs);
            runs.for_each(|run| run.series.clear());
        }
        sets
    }
}

#[pymethods]
impl Results {
    /// The number of runs.
    fn __len__(&self) -> usize {
        self.sets.iter().map(|set| set.results.runs.len()).sum()
    }

    /// Only the runs at these places, from 0.
    fn at(&self, places: Vec<usize>) -> Self {
        let mut from = 0;
        let mut sets = Vec::new();
        for set in &self.sets {
            let count = set.results.runs.len();
            let kept = || {
                let here = places
                    .iter()
                    .filter(|&&at| (from..from + count).contains(&at));
                here.map(|at| at - from)
            };
            if kept().next().is_some() {
                sets.push(Set {
                    values: set.values.clone(),
                    keys: kept().map(|at| set.keys[at].clone()).collect(),
                    one_piece: set.one_piece,
                    results: ResultSet {
                        scenario: set.results.scenario.clone(),
                        description: set.results.description.clone(),
                        seed: set.results.seed,
                        runs: kept().map(|at| set.results.runs[at].clone()).collect(),
                    },
                });
            }
            from += count;
        }
        Self {
            columns: self.columns.clone(),
            sets,
            command: self.command.clone(),
        }
    }

    /// Name of each run.
    #[getter]
    fn names(&self) -> Vec<&str> {
        let runs = self.sets.iter().flat_map(|set| &set.results.runs);
        runs.map(|run| &*run.name).collect()
    }

    /// Name of each variant, with its variations.
    #[getter]
    fn scenarios(&self) -> Vec<&str> {
        let sets = self.sets.iter();
        sets.map(|set| &*set.results.scenario).collect()
    }

    /// The settings that were varied.
    #[getter]
    fn varied(&self) -> Vec<String> {
        self.columns.clone()
    }

    /// As `tidegate sim --json` prints it: an object for one variant, a list for several.
    fn to_json(&self, series: bool) -> PyResult<String> {
        let sets = self.plain(series);
        let sourced = sets.iter().map(|set| Sourced {
            result: set,
            provenance: self.provenance([set.seed]),
        });
        let sourced: Vec<_> = sourced.collect();
        let text = match sourced.as_slice() {
            [one] => serde_json::to_string_pretty(one),
            all => serde_json::to_string_pretty(all),
        };
        let text = text.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(text + "\n")
    }

    /// As `tidegate sim --html` writes it.
    fn to_html(&self) -> String {
        let from = self.provenance(self.sets.iter().map(|set| set.results.seed));
        tidegate_report::page(&self.plain(true), &from)
    }

    /// The tables that `tidegate sim` prints: one for each variant, with means if it has several seeds.
    fn text(&self) -> String {
        let tables = self.variants().map(|seeds| match seeds {
            [set] => tidegate_report::table(&set.results).to_string(),
            sets => {
                let results: Vec<_> = sets.iter().map(|set| set.results.clone()).collect();
                tidegate_study::means(&results, sets[0].one_piece)
            }
        });
        tables.collect::<Vec<_>>().join("\n")
    }

    /// The number of rows in these tables.
    #[getter]
    fn text_rows(&self) -> usize {
        self.variants().map(|sets| sets[0].results.runs.len()).sum()
    }

    /// The rows of `tidegate sim --out`, their header first.
    fn rows(&self) -> Vec<Vec<String>> {
        tables::rows(self)
    }

    /// A row for each run.
    fn runs(&self) -> Table {
        tables::runs(self)
    }

    /// A row for each flow of each run.
    fn flows(&self) -> Table {
        tables::flows(self)
    }

    /// A row for each link of each run.
    fn links(&self) -> Table {
        tables::links(self)
    }

    /// A row for each size of object that was fetched.
    fn fetches(&self) -> Table {
        tables::fetches(self)
    }

    /// A row for all flows that arrived by themselves of a workload, and one for each class of sizes.
    fn arrivals(&self) -> Table {
        tables::arrivals(self)
    }

    /// A row for each video.
    fn videos(&self) -> Table {
        tables::videos(self)
    }

    /// A row for each workload without a window that was steered by the hold.
    fn held(&self) -> Table {
        tables::held(self)
    }

    /// A row for each transfer over mPath.
    fn transfers(&self) -> Table {
        tables::transfers(self)
    }

    /// A row for each point of each curve.
    fn series(&self) -> Table {
        tables::series(self)
    }
}
