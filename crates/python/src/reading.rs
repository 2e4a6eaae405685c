//! A scenario and its variations, as given by Python, and the variants that result.

use crate::errors::{refused, unsupported};
use crate::own::Codes;
use crate::values::{table, toml_of};
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;
use tidegate_scenario::{
    Files, LinkInputs, LoadError, Point, Recordings, Run, Scenario, Setting, Variation,
    combinations,
};
use tidegate_sim::{Keys, check};
use toml::Value;

/// A scenario with some of its settings replaced.
pub struct Variant {
    /// The scenario, with the runs that are to be run.
    pub scenario: Scenario,
    /// Its other runs.
    pub left_out: Vec<Run>,
    /// Its links.
    pub inputs: LinkInputs,
    /// The keys of its runs, without their parts in Python.
    keys: Keys,
    /// The values that replaced its own, or their names, in the order of the varied keys.
    pub values: Vec<Value>,
    /// The laws and senders in Python of its runs, by their names.
    own: Arc<OwnOfRuns>,
}

type OwnOfRuns = BTreeMap<String, Arc<Codes>>;

impl Variant {
    /// The key of a run: equal keys mean equal results. If a class does not state its behaviour there is no key, but a
    /// sentence.
    pub fn key(&self, run: &Run) -> String {
        let Some(own) = self.own_of(run) else {
            return self.keys.of(run).to_string();
        };
        match own.stated() {
            Ok(stated) => {
                let stated = stated.iter().map(|(place, what)| (place.as_str(), *what));
                let stated: Vec<_> = stated.collect();
                self.keys.of_own(run, &stated).to_string()
            }
            Err(name) => format!("{NO_KEY}{name} states no version"),
        }
    }

    /// A run's laws and senders in Python.
    pub fn own_of(&self, run: &Run) -> Option<&Arc<Codes>> {
        self.own.get(&run.name)
    }
}

/// The beginning of the sentence in place of a key.
pub const NO_KEY: &str = "none: ";

/// The arguments from Python: `_scenario.py`'s `Spec`.
#[derive(FromPyObject)]
pub struct Spec<'py> {
    document: Bound<'py, PyAny>,
    /// The text that the document was read from.
    written: String,
    path: PathBuf,
    /// Files that exist only in memory, by name.
    files: BTreeMap<String, String>,
    /// Keys that change together, and their points: a name, if it has one, and a value for each key.
    vary: Vec<(Vec<String>, Vec<WrittenPoint<'py>>)>,
    /// Names of the runs to run; all if none is named.
    runs: Option<Vec<String>>,
    /// The laws and senders in Python of the runs, by their names.
    own: BTreeMap<String, Codes>,
    /// The command that repeats the results, for their provenance.
    pub command: String,
}

type WrittenPoint<'py> = (Option<String>, Vec<Bound<'py, PyAny>>);

/// Every combination of the variations of a scenario; the last one changes fastest.
pub struct Reading {
    document: toml::Table,
    written: String,
    path: PathBuf,
    files: BTreeMap<String, String>,
    variations: Vec<Variation>,
    runs: Option<Vec<String>>,
    own: Arc<OwnOfRuns>,
    recordings: Recordings,
}

impl Reading {
    /// From Python's arguments.
    ///
    /// # Errors
    /// If a scenario cannot have a value.
    pub fn new(spec: Spec<'_>) -> PyResult<Self> {
        let variations = spec.vary.iter().map(|(keys, points)| {
            let parts = |key: &String| key.split('.').map(str::to_owned).collect();
            let points = points.iter().map(|(name, values)| {
                let values = keys
                    .iter()
                    .zip(values)
                    .map(|(key, value)| toml_of(value, key));
                Ok(Point {
                    values: values.collect::<PyResult<_>>()?,
                    name: name.clone(),
                })
            });
            Ok(Variation {
                keys: keys.iter().map(parts).collect(),
                points: points.collect::<PyResult<_>>()?,
            })
        });
        let own = spec.own.into_iter();
        let own = own.map(|(run, codes)| (run, Arc::new(codes)));
        Ok(Self {
            document: table(&spec.document, "")?,
            variations: variations.collect::<PyResult<_>>()?,
            written: spec.written,
            path: spec.path,
            files: spec.files,
            runs: spec.runs,
            own: Arc::new(own.collect()),
            recordings: Recordings::default(),
        })
    }

    /// The columns of the variations.
    pub fn columns(&self) -> Vec<String> {
        let keys = self.variations.iter().flat_map(|v| &v.keys);
        keys.map(|key| key.join(".")).collect()
    }

    /// Calls `take` for each variant, or only for those in the given range, without the interpreter's lock.
    ///
    /// # Errors
    /// If one cannot be run.
    pub fn variants<T: Send>(
        &self,
        py: Python<'_>,
        numbers: Option<(usize, usize)>,
        take: impl Fn(Variant) -> T + Sync,
    ) -> PyResult<Vec<T>> {
        let all = combinations(&self.variations);
        let (first, end) = numbers.unwrap_or((0, all.len()));
        let some = all.get(first..end).unwrap_or_default();
        let read = |settings: &Vec<Setting<'_>>| {
            let variant = self.variant(settings)?;
            let unsupported = check(&variant.scenario).err();
            Ok((take(variant), unsupported))
        };
        let made = py.detach(|| some.iter().map(read).collect::<Result<Vec<_>, _>>());
        let made = made.map_err(|error| refused(py, error))?;
        let category = py.get_type::<PyUserWarning>();
        for warning in self.recordings.warnings() {
            let text = CString::new(warning).unwrap_or_default();
            PyErr::warn(py, &category, &text, 1)?;
        }
        let supported = |(made, error)| match error {
            Some(error) => Err(unsupported(py, &error)),
            None => Ok(made),
        };
        made.into_iter().map(supported).collect()
    }

    fn variant(&self, settings: &[Setting<'_>]) -> Result<Variant, LoadError> {
        let files = Files::beside(&self.path);
        let files = files.with(&self.files).sharing(&self.recordings);
        let mut scenario =
            Scenario::from_table(&self.document, &self.written, &self.path, settings)?;
        let asked = |run: &Run| match &self.runs {
            Some(names) => names.contains(&run.name),
            None => true,
        };
        let (runs, left_out) = scenario.runs.drain(..).partition(asked);
        scenario.runs = runs;
        let values = settings.iter().map(|setting| match setting.name {
            Some(name) => Value::String(name.to_owned()),
            None => setting.value.clone(),
        });
        Ok(Variant {
            inputs: scenario.link_inputs_from(&files, &self.path)?,
            keys: Keys::from_files(&scenario, &files)?,
            values: values.collect(),
            own: Arc::clone(&self.own),
            left_out,
            scenario,
        })
    }
}
