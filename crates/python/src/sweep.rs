//! Sweeps: many runs whose rows are written, whichever process runs them.

use crate::reading::{NO_KEY, Reading, Spec, Variant};
use crate::table::{Table, Values};
use crate::tables::{varied, word};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tidegate_report::METRICS;
use tidegate_scenario::Run;
use tidegate_sweep::{Refused, Shards, batches};
use toml::Value;

/// The identity of a variant's run, in the order of the columns.
pub fn identity(variant: &Variant, run: &Run) -> Vec<String> {
    let own = [run.name.clone(), variant.key(run)];
    variant.values.iter().map(word).chain(own).collect()
}

/// A variant without the data that running it needs.
struct Outline {
    values: Vec<Value>,
    duration_s: f64,
    /// Identities of the runs to run, and of the others.
    runs: Vec<Vec<String>>,
    left_out: Vec<Vec<String>>,
}

impl Outline {
    fn new(variant: Variant) -> Self {
        let identities = |runs: &[Run]| runs.iter().map(|run| identity(&variant, run)).collect();
        Self {
            duration_s: variant.scenario.duration_s,
            runs: identities(&variant.scenario.runs),
            left_out: identities(&variant.left_out),
            values: variant.values,
        }
    }
}

/// The runs of a sweep. Each can be run.
#[pyclass(frozen, module = "tidegate._native")]
pub struct Sweep {
    variants: Vec<Outline>,
    /// The settings that are varied.
    columns: Vec<String>,
}

#[pymethods]
impl Sweep {
    /// Reads every variant.
    #[new]
    fn new(py: Python<'_>, spec: Spec<'_>) -> PyResult<Self> {
        let reading = Reading::new(spec)?;
        Ok(Self {
            variants: reading.variants(py, None, Outline::new)?,
            columns: reading.columns(),
        })
    }

    /// The number of runs.
    fn __len__(&self) -> usize {
        self.variants.iter().map(|v| v.runs.len()).sum()
    }

    /// The key of each run.
    fn keys(&self) -> Vec<String> {
        let keys = self.runs().filter_map(|(_, identity)| identity.last());
        keys.cloned().collect()
    }

    /// Chooses where its rows go: into a folder, from which the sweep continues, or nowhere.
    ///
    /// Raises `ValueError` if the folder has other rows, or a run has no key by which to continue, `OSError` if it
    /// cannot be written.
    fn write(slf: &Bound<'_, Self>, folder: Option<PathBuf>) -> PyResult<Written> {
        let sweep = slf.get();
        if folder.is_some() {
            sweep.has_keys()?;
        }
        let shards = folder.map(|folder| {
            let left_out = sweep.variants.iter().flat_map(|v| &v.left_out);
            let all = sweep.runs().map(|(_, identity)| identity);
            let all: Vec<_> = all.chain(left_out).cloned().collect();
            Shards::resume(&folder, &sweep.identifiers(), &all).map_err(raised)
        });
        Ok(Written {
            sweep: slf.clone().unbind(),
            inner: Mutex::new(Inner {
                shards: shards.transpose()?,
                rows: HashMap::new(),
            }),
        })
    }
}

impl Sweep {
    /// Each run's variant, and the run's identity.
    fn runs(&self) -> impl Iterator<Item = (&Outline, &Vec<String>)> {
        let variants = self.variants.iter();
        variants.flat_map(|variant| variant.runs.iter().map(move |run| (variant, run)))
    }

    /// Whether each run's key distinguishes it from all others.
    fn has_keys(&self) -> PyResult<()> {
        let why = |(_, identity): (_, &Vec<String>)| {
            let key = identity.last()?;
            key.strip_prefix(NO_KEY).map(str::to_owned)
        };
        let Some(why) = self.runs().find_map(why) else {
            return Ok(());
        };
        let message = format!(
            "{why}, so rows of it in a folder could not be told from those of other code: give it an attribute `version` \
             that changes with what it does, or run the sweep without out"
        );
        Err(PyValueError::new_err(message))
    }

    /// Columns that identify a row.
    fn identifiers(&self) -> Vec<String> {
        let own = ["run", "key"].map(str::to_owned);
        self.columns.iter().cloned().chain(own).collect()
    }
}

/// An error of writing, as a Python exception.
fn raised(error: anyhow::Error) -> PyErr {
    if error.is::<Refused>() {
        return PyValueError::new_err(error.to_string());
    }
    let text = format!("{error:#}");
    let number = |cause: &(dyn std::error::Error + 'static)| {
        let io = cause.downcast_ref::<std::io::Error>();
        io.and_then(std::io::Error::raw_os_error)
    };
    match error.chain().find_map(number) {
        Some(number) => PyOSError::new_err((number, text)),
        None => PyRuntimeError::new_err(text),
    }
}

/// The rows of a sweep, as they arrive.
#[pyclass(frozen, module = "tidegate._native")]
pub struct Written {
    sweep: Py<Sweep>,
    inner: Mutex<Inner>,
}

struct Inner {
    shards: Option<Shards>,
    /// The rows that are in no folder, by identity.
    rows: HashMap<Vec<String>, Vec<String>>,
}

impl Inner {
    fn row(&self, identity: &[String]) -> Option<&[String]> {
        let kept = self.shards.as_ref().and_then(|shards| shards.row(identity));
        kept.or_else(|| self.rows.get(identity).map(Vec::as_slice))
    }
}

/// Variants from the first to the second number; runs by their numbers among those of these variants, and the first of them
/// among all; seconds of virtual time.
type ToDo = ((usize, usize), Vec<usize>, usize, f64);

impl Written {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Written {
    /// The shards that are still to be made.
    fn to_do(&self) -> Vec<ToDo> {
        let sweep = self.sweep.get();
        let inner = self.lock();
        let identities: Vec<_> = sweep.runs().map(|(_, identity)| identity).collect();
        let sizes = sweep
            .variants
            .iter()
            .map(|v| (v.runs.len(), v.runs.len() as f64 * v.duration_s));
        let sizes: Vec<_> = sizes.collect();
        let batches = batches(&sizes, |run| inner.row(identities[run]).is_some());
        let to_do = batches.into_iter().map(|batch| {
            let variants = batch.variants;
            let before: usize = sizes[..variants.start].iter().map(|(runs, _)| runs).sum();
            let own = batch.runs.iter().map(|run| run - before);
            let all: usize = sizes[variants.clone()].iter().map(|(runs, _)| runs).sum();
            let seconds: f64 = sizes[variants.clone()].iter().map(|(_, s)| s).sum();
            let part = batch.runs.len() as f64 / all as f64;
            (
                (variants.start, variants.end),
                own.collect(),
                batch.runs[0],
                seconds * part,
            )
        });
        to_do.collect()
    }

    /// Takes the rows of a shard; the first is that of run `first` among all. They are on the disk when this returns.
    fn take(&self, py: Python<'_>, first: usize, rows: Vec<Vec<String>>) -> PyResult<()> {
        let identifiers = self.sweep.get().identifiers();
        let identity = |row: &Vec<String>| row[..identifiers.len()].to_vec();
        let rows: Vec<_> = rows.into_iter().map(|row| (identity(&row), row)).collect();
        py.detach(|| {
            let mut inner = self.lock();
            match &mut inner.shards {
                Some(shards) => shards
                    .write(first, &identifiers, rows)
                    .map(drop)
                    .map_err(raised),
                None => {
                    inner.rows.extend(rows);
                    Ok(())
                }
            }
        })
    }

    /// A row for each run that has one, in the sweep's order, with the columns of `tidegate sim --out`.
    fn table(&self) -> Table {
        let sweep = self.sweep.get();
        let inner = self.lock();
        let rows = sweep
            .runs()
            .filter_map(|(variant, identity)| inner.row(identity).map(|row| (variant, row)));
        let rows: Vec<_> = rows.collect();
        let varied = sweep.columns.iter().enumerate().map(|(nth, name)| {
            let values: Vec<_> = rows
                .iter()
                .map(|(variant, _)| &variant.values[nth])
                .collect();
            (name.clone(), varied(&values))
        });
        let mut columns: Vec<_> = varied.collect();
        let cells = |nth: usize| rows.iter().map(move |(_, row)| row[nth].as_str());
        let first = columns.len();
        for (nth, name) in ["run", "key"].into_iter().enumerate() {
            let words = cells(first + nth).map(str::to_owned).collect();
            columns.push((name.into(), Values::Text(words)));
        }
        for (nth, metric) in METRICS.iter().enumerate() {
            let numbers = cells(first + 2 + nth)
                .map(|cell| cell.parse().ok())
                .collect();
            columns.push((metric.name.into(), Values::Float(numbers)));
        }
        // What was varied, the run's name and its key.
        Table::new(columns, first + 2)
    }
}
