//! Columns of the same length, each of one kind.

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

/// The values of a column.
pub enum Values {
    /// Numbers, or none.
    Float(Vec<Option<f64>>),
    /// Whole numbers.
    Int(Vec<i64>),
    /// Words.
    Text(Vec<String>),
    /// True or false.
    Bool(Vec<bool>),
}

impl Values {
    fn len(&self) -> usize {
        match self {
            Self::Float(values) => values.len(),
            Self::Int(values) => values.len(),
            Self::Text(values) => values.len(),
            Self::Bool(values) => values.len(),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Float(_) => "float64",
            Self::Int(_) => "int64",
            Self::Text(_) => "string",
            Self::Bool(_) => "bool",
        }
    }

    fn list<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Float(values) => values.into_pyobject(py),
            Self::Int(values) => values.into_pyobject(py),
            Self::Text(values) => values.into_pyobject(py),
            Self::Bool(values) => values.into_pyobject(py),
        }
    }
}

/// A table.
#[pyclass(frozen, module = "tidegate._native")]
pub struct Table {
    columns: Vec<(String, Values)>,
}

impl Table {
    /// A table of columns with the same length.
    pub fn new(columns: Vec<(String, Values)>) -> Self {
        debug_assert!(columns.windows(2).all(|c| c[0].1.len() == c[1].1.len()));
        Self { columns }
    }
}

#[pymethods]
impl Table {
    /// Names of the columns.
    #[getter]
    fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|(name, _)| &**name).collect()
    }

    /// Kinds of the columns, as Arrow calls them: `float64`, `int64`, `string`, `bool`.
    #[getter]
    fn kinds(&self) -> Vec<&str> {
        self.columns.iter().map(|(_, v)| v.kind()).collect()
    }

    /// The number of rows.
    fn __len__(&self) -> usize {
        self.columns.first().map_or(0, |(_, values)| values.len())
    }

    /// A column as a list; `None` where there is no value.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let found = self.columns.iter().find(|(known, _)| known == name);
        let (_, values) = found.ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        values.list(py)
    }
}
