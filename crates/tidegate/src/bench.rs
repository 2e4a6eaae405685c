//! `tidegate bench`: what the parts cost on this machine, now.

mod agent;
mod agent_process;
mod args;
mod aside;
mod hold;
mod lab;
mod laws;
mod link;
mod mpath;
mod ns3;
mod packets;
mod sim;
mod soak;

use crate::provenance::{Made, print_json, provenance};
use anyhow::Result;
pub use args::BenchArgs;
use args::Part;
use serde::Serialize;
use std::io::Write;
use tidegate_command::signals;
use tidegate_terminal::{Style, Table};

/// One result.
#[derive(Debug, Serialize)]
pub struct Row {
    name: String,
    value: f64,
    unit: &'static str,
    /// The same quantity of what it is compared with, measured in the same run.
    #[serde(skip_serializing_if = "Option::is_none")]
    versus: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
}

impl Row {
    fn new(name: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self {
            name: name.into(),
            value,
            unit,
            versus: None,
            ratio: None,
        }
    }

    fn versus(mut self, what: impl Into<String>, ratio: f64) -> Self {
        self.versus = Some(what.into());
        self.ratio = Some(ratio);
        self
    }
}

#[derive(Serialize)]
struct Results {
    results: Vec<Row>,
}

/// Runs the benchmarks and prints the results.
pub fn run(args: &BenchArgs) -> Result<()> {
    let stop = signals::stop_flag()?;
    if args.parts.contains(&Part::Soak) {
        return soak::run(args, &stop);
    }
    let wanted = |part| args.parts.is_empty() || args.parts.contains(&part);
    let mut results = Vec::new();
    if wanted(Part::Laws) {
        results.extend(laws::measure());
    }
    if wanted(Part::Link) {
        results.extend(link::measure());
    }
    if wanted(Part::Sim) {
        results.extend(sim::measure(&stop)?);
    }
    if wanted(Part::Agent) {
        results.extend(agent::measure(args.against.as_deref(), &stop)?);
    }
    if wanted(Part::Packets) {
        results.extend(packets::measure(args.against.as_deref(), &stop)?);
    }
    if wanted(Part::Hold) {
        results.extend(hold::measure(args.against.as_deref(), &stop)?);
    }
    if wanted(Part::Mpath) {
        results.extend(mpath::measure(&stop)?);
    }
    if wanted(Part::Lab) {
        results.extend(lab::measure(&stop)?);
    }
    print(results, args.json)
}

fn print(results: Vec<Row>, json: bool) -> Result<()> {
    if json {
        return print_json(&Results { results }, provenance(Made::OnKernel, []));
    }
    Ok(writeln!(tidegate_terminal::out(), "{}", table(&results))?)
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(Style::Horizontal);
    table.heads(["", "value", "unit", "ratio", "to"]);
    for row in rows {
        table.row([
            row.name.clone(),
            significant(row.value),
            row.unit.to_owned(),
            row.ratio.map(significant).unwrap_or_default(),
            row.versus.clone().unwrap_or_default(),
        ]);
    }
    table.right([1, 3]);
    table
}

/// A number with about three significant digits.
fn significant(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// The median; NaN without values.
fn median(values: Vec<f64>) -> f64 {
    tidegate_measure::median(&values).unwrap_or(f64::NAN)
}
