//! From Python's values to TOML's and back.

use crate::errors::wrong;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString};
use toml::{Table, Value};

/// A mapping as a table. `None` means that the key is absent.
pub fn table(value: &Bound<'_, PyAny>, key: &str) -> PyResult<Table> {
    let mapping = value.cast::<PyMapping>()?;
    let mut table = Table::new();
    for item in mapping.items()? {
        let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        let name: String = name.extract().map_err(|_| {
            wrong(
                value.py(),
                key,
                format!("the key {name} is not text, expected a string"),
            )
        })?;
        if !value.is_none() {
            let inner = match key {
                "" => name.clone(),
                key => format!("{key}.{name}"),
            };
            table.insert(name, toml_of(&value, &inner)?);
        }
    }
    Ok(table)
}

/// Any value that TOML has; arrays and scalars of numpy by their `tolist`.
pub fn toml_of(value: &Bound<'_, PyAny>, key: &str) -> PyResult<Value> {
    if value.is_instance_of::<PyBool>() {
        return Ok(Value::Boolean(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() {
        let number = value.extract().map_err(|_| {
            let range = format!("{value} does not fit into 64 bits, expected a number that does");
            wrong(value.py(), key, range)
        });
        return Ok(Value::Integer(number?));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(value.extract()?));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(Value::String(value.extract()?));
    }
    if value.cast::<PyMapping>().is_ok() {
        return Ok(Value::Table(table(value, key)?));
    }
    if let Ok(list) = value.getattr("tolist") {
        return toml_of(&list.call0()?, key);
    }
    let Ok(items) = value.try_iter() else {
        let kind = value.get_type().name()?;
        let message =
            format!("a {kind}, expected a number, text, true or false, a list or a mapping");
        return Err(wrong(value.py(), key, message));
    };
    let items = items.enumerate();
    let values = items.map(|(nth, item)| toml_of(&item?, &format!("{key}[{nth}]")));
    values.collect::<PyResult<_>>().map(Value::Array)
}

/// A table as a `dict`.
pub fn dict<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (key, value) in table {
        dict.set_item(key, object(py, value)?)?;
    }
    Ok(dict)
}

/// A value as a Python object. Dates, which no scenario has, become text.
pub fn object<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Integer(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => PyFloat::new(py, *number).into_any(),
        Value::Boolean(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Datetime(date) => PyString::new(py, &date.to_string()).into_any(),
        Value::Array(values) => {
            let values = values.iter().map(|value| object(py, value));
            PyList::new(py, values.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Value::Table(table) => dict(py, table)?.into_any(),
    })
}
