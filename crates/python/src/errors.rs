//! From errors to Python's exceptions, which `python/tidegate/_errors.py` has.

use pyo3::prelude::*;
use pyo3::types::PyList;
use tidegate_scenario::LoadError;
use tidegate_sim::Unsupported;

/// A fault of a scenario: path, line, key, and what was expected.
type Fault = (Option<String>, Option<usize>, Option<String>, String);

/// A `tidegate.ScenarioError` with all faults.
pub fn refused(py: Python<'_>, error: LoadError) -> PyErr {
    let mut faults = Vec::new();
    collect(error, &mut faults);
    raise(py, faults)
}

/// The same for a feature that the simulator does not have.
pub fn unsupported(py: Python<'_>, error: &Unsupported) -> PyErr {
    raise(py, vec![(None, None, None, error.to_string())])
}

/// The same for one value.
pub fn wrong(py: Python<'_>, key: &str, message: String) -> PyErr {
    raise(py, vec![(None, None, Some(key.to_owned()), message)])
}

fn collect(error: LoadError, faults: &mut Vec<Fault>) {
    match error {
        LoadError::Several(errors) => errors.into_iter().for_each(|e| collect(e, faults)),
        LoadError::Syntax {
            path,
            line,
            key,
            message,
        } => faults.push((Some(path.display().to_string()), Some(line), key, message)),
        LoadError::Meaning { path, key, message } => {
            faults.push((Some(path.display().to_string()), None, key, message));
        }
        LoadError::Read { path, source } => {
            let message = format!("cannot read it: {source}");
            faults.push((Some(path.display().to_string()), None, None, message));
        }
    }
}

fn raise(py: Python<'_>, faults: Vec<Fault>) -> PyErr {
    let exception = || {
        let class = py.import("tidegate._errors")?.getattr("ScenarioError")?;
        class.call1((PyList::new(py, faults)?,))
    };
    match exception() {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}
