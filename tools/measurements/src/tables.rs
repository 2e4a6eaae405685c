//! The layouts of the tables.

mod agreement;
mod costs;
mod interop;
mod results;

use crate::take::Printed;
use anyhow::{Context, Result, bail};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tidegate_report::{METRICS, Measured, fixed};
use tidegate_scenario::{ResultSet, RunResult};

pub use agreement::agreement;
pub use costs::costs;
pub use interop::interop;
pub use results::{
    agent_rtt, both_ways, chunks, fetches, reader, reader_both, recorded, runs, shares,
    static_limit, uplink,
};

/// Makes a table in Markdown from the output of commands.
pub type Table = fn(&[Printed]) -> Result<String>;

/// A table in Markdown.
fn markdown(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let heads: Vec<String> = head.iter().map(|head| (*head).to_owned()).collect();
    let rule = vec!["---".to_owned(); head.len()];
    let mut text = line(&heads) + &line(&rule);
    for row in rows {
        text.push_str(&line(&row));
    }
    text
}

/// The results of a scenario, or of each of its variants.
fn sets(printed: &Printed) -> Result<Vec<ResultSet>> {
    match json(printed)? {
        Value::Array(_) => of(printed),
        _ => Ok(vec![of(printed)?]),
    }
}

fn of<T: DeserializeOwned>(printed: &Printed) -> Result<T> {
    Ok(serde_json::from_value(json(printed)?.clone())?)
}

fn json(printed: &Printed) -> Result<&Value> {
    match printed {
        Printed::Json(value) => Ok(value),
        Printed::Text(_) => bail!("expected JSON"),
    }
}

/// The runs of the only scenario.
fn one(printed: &[Printed]) -> Result<ResultSet> {
    let first = printed.first().context("expected a result")?;
    let mut sets = sets(first)?;
    sets.pop().context("expected a result")
}

/// A number of a run by its name in sweeps; none if it was not measured.
fn metric(run: &RunResult, name: &str) -> Option<f64> {
    let metric = METRICS.iter().find(|metric| metric.name == name);
    metric
        .expect("a metric that there is")
        .value(&Measured::new(run))
}

/// A number times a factor, with `decimals` decimals; a dash if there is none, or it says nothing.
fn cell(value: Option<f64>, factor: f64, decimals: usize) -> String {
    let known = value.filter(|value| !value.is_nan());
    known.map_or("–".into(), |value| fixed(value * factor, decimals))
}

/// Several numbers in one cell.
fn cells<const N: usize>(values: [Option<f64>; N], factor: f64, decimals: usize) -> String {
    values
        .map(|value| cell(value, factor, decimals))
        .join(" / ")
}
