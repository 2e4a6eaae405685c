//! Columns of the same length, each of one kind.

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use std::collections::HashMap;
use tidegate_study::Estimate;

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

    /// A value as a word.
    fn word(&self, row: usize) -> String {
        match self {
            Self::Float(values) => format!("{:?}", values[row]),
            Self::Int(values) => values[row].to_string(),
            Self::Text(values) => values[row].clone(),
            Self::Bool(values) => values[row].to_string(),
        }
    }

    /// The values of these rows.
    fn of(&self, rows: &[usize]) -> Self {
        match self {
            Self::Float(values) => Self::Float(rows.iter().map(|&row| values[row]).collect()),
            Self::Int(values) => Self::Int(rows.iter().map(|&row| values[row]).collect()),
            Self::Text(values) => Self::Text(rows.iter().map(|&row| values[row].clone()).collect()),
            Self::Bool(values) => Self::Bool(rows.iter().map(|&row| values[row]).collect()),
        }
    }

    /// The mean of the numbers that these rows have.
    fn mean(&self, rows: &[usize]) -> Option<Estimate> {
        let number = |&row: &usize| match self {
            Self::Float(values) => values[row].filter(|value| !value.is_nan()),
            Self::Int(values) => Some(values[row] as f64),
            Self::Text(_) | Self::Bool(_) => None,
        };
        Estimate::mean(&rows.iter().filter_map(number).collect::<Vec<_>>())
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
    /// The first of them, which tell the rows apart; the others were measured.
    telling: usize,
}

impl Table {
    /// A table of columns with the same length; the first ones tell the rows apart.
    pub fn new(columns: Vec<(String, Values)>, telling: usize) -> Self {
        debug_assert!(columns.windows(2).all(|c| c[0].1.len() == c[1].1.len()));
        Self { columns, telling }
    }

    /// Numbers of the rows that are alike in these columns, in the order of the first of each.
    fn groups(&self, keeps: &[usize]) -> Vec<Vec<usize>> {
        let mut places = HashMap::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for row in 0..self.__len__() {
            let words = keeps.iter().map(|&at| self.columns[at].1.word(row));
            let next = groups.len();
            let place = *places.entry(words.collect::<Vec<_>>()).or_insert(next);
            if place == next {
                groups.push(Vec::new());
            }
            groups[place].push(row);
        }
        groups
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

    /// Means over the rows that differ in `over` alone, beside what was measured: for each number a column with its mean
    /// and one with the half of its 95 % confidence interval, `…_margin`. `rows` says how many rows there were.
    fn means(&self, over: &str) -> PyResult<Self> {
        let (telling, measured) = self.columns.split_at(self.telling);
        if !telling.iter().any(|(name, _)| name == over) {
            let names: Vec<_> = telling.iter().map(|(name, _)| &**name).collect();
            let message = format!(
                "means over \"{over}\": the rows differ by {}",
                names.join(", ")
            );
            return Err(PyValueError::new_err(message));
        }
        // A key has the seed in it.
        let is_kept = |&at: &usize| telling[at].0 != over && telling[at].0 != "key";
        let kept: Vec<_> = (0..self.telling).filter(is_kept).collect();
        let groups = self.groups(&kept);
        let firsts: Vec<_> = groups.iter().map(|rows| rows[0]).collect();
        let of_kept = kept.iter().map(|&at| {
            let (name, values) = &self.columns[at];
            (name.clone(), values.of(&firsts))
        });
        let mut columns: Vec<_> = of_kept.collect();
        let counts = groups.iter().map(|rows| rows.len() as i64).collect();
        columns.push(("rows".into(), Values::Int(counts)));
        for (name, values) in measured {
            let means: Vec<_> = groups.iter().map(|rows| values.mean(rows)).collect();
            let value = |mean: &Option<Estimate>| mean.map(|mean| mean.value);
            let margin = |mean: &Option<Estimate>| mean.and_then(|mean| mean.margin);
            let column = |of: fn(&Option<Estimate>) -> Option<f64>| means.iter().map(of).collect();
            columns.push((name.clone(), Values::Float(column(value))));
            columns.push((format!("{name}_margin"), Values::Float(column(margin))));
        }
        Ok(Self::new(columns, kept.len()))
    }
}

/// The mean of some numbers and half of its 95 % confidence interval, by Student's t.
#[pyfunction]
pub fn mean(values: Vec<f64>) -> PyResult<(f64, Option<f64>)> {
    are_known(&values)?;
    match Estimate::mean(&values) {
        Some(mean) => Ok((mean.value, mean.margin)),
        None => Err(PyValueError::new_err("no values, expected at least one")),
    }
}

/// The mean of some numbers divided by that of others, which belong to them one by one, and half of its 95 % confidence
/// interval, by the jackknife.
#[pyfunction]
pub fn ratio(of: Vec<f64>, to: Vec<f64>) -> PyResult<(f64, Option<f64>)> {
    are_known(&of)?;
    are_known(&to)?;
    if of.len() != to.len() {
        let message = format!(
            "{} values and {}, expected as many, in pairs",
            of.len(),
            to.len()
        );
        return Err(PyValueError::new_err(message));
    }
    match Estimate::ratio(&of, &to) {
        Some(ratio) => Ok((ratio.value, ratio.margin)),
        None => Err(PyValueError::new_err(
            "expected at least one pair, and divisors whose sum is not 0",
        )),
    }
}

fn are_known(values: &[f64]) -> PyResult<()> {
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(at) => Err(PyValueError::new_err(format!(
            "value {at} is {}, expected a number: leave out what was not measured",
            values[at]
        ))),
    }
}
