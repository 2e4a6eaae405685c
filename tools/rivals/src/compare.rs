//! The recordings, and the simulator's results for the same scenario, side by side.

use crate::seen::Seen;
use anyhow::{Context, Result};
use serde::Serialize;
use std::path::Path;
use tidegate_measure::quantiles;
use tidegate_scenario::{RunResult, Scenario};
use tidegate_sim::{Options, run_scenario};
use tidegate_terminal::{Style, Table};

/// One number of one run on both sides.
#[derive(Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The scenario's name.
    pub scenario: String,
    /// The run's name.
    pub run: String,
    /// The quantity, with its unit.
    pub what: &'static str,
    /// In the virtual machine.
    pub kernel: f64,
    /// In the simulator.
    pub model: f64,
    /// The simulator's ÷ the machine's.
    pub ratio: f64,
}

/// A run's numbers, in the table's order.
struct Numbers(Vec<(&'static str, f64)>);

impl Comparison {
    /// All numbers of all runs of a scenario; `folder` has the machine's recordings.
    ///
    /// # Errors
    /// If a file cannot be read, or the scenario cannot be simulated.
    pub fn of(scenario: &Scenario, path: &Path, folder: &Path) -> Result<Vec<Self>> {
        let inputs = scenario.link_inputs(path)?;
        let results = run_scenario(scenario, &inputs, &Options::default())?;
        let mut all = Vec::new();
        for result in &results.runs {
            let seen = seen(scenario, &folder.join(&result.name))
                .with_context(|| folder.join(&result.name).display().to_string())?;
            let model = model(result).with_context(|| path.display().to_string())?;
            all.extend(Self::pair(scenario, &result.name, &seen, &model));
        }
        Ok(all)
    }

    fn pair<'a>(
        scenario: &'a Scenario,
        run: &'a str,
        seen: &'a Numbers,
        model: &'a Numbers,
    ) -> impl Iterator<Item = Self> + 'a {
        let of = |numbers: &Numbers, what| {
            let found = numbers.0.iter().find(|(name, _)| *name == what);
            found.map(|&(_, number)| number)
        };
        seen.0.iter().filter_map(move |&(what, kernel)| {
            let model = of(model, what)?;
            Some(Self {
                scenario: scenario.name.clone(),
                run: run.to_owned(),
                what,
                kernel,
                model,
                ratio: model / kernel,
            })
        })
    }
}

const GOODPUT: &str = "goodput, Mbit/s";
const MEDIAN: &str = "ping, median, ms";
const P95: &str = "ping, p95, ms";
const DOWN: &str = "shaper down, Mbit/s";
const UP: &str = "shaper up, Mbit/s";

fn seen(scenario: &Scenario, folder: &Path) -> Result<Numbers> {
    let seen = Seen::read(folder)?;
    let counted = scenario.warmup_s..scenario.duration_s;
    let rtt_ms = quantiles(seen.rtts_ms(&counted)?);
    let mut numbers = vec![
        (GOODPUT, seen.goodput_bps(&counted)? / 1e6),
        (MEDIAN, rtt_ms.p50),
        (P95, rtt_ms.p95),
    ];
    let shapers = [(DOWN, "ifb-wan"), (UP, "wan")];
    numbers.extend(
        shapers
            .iter()
            .filter_map(|&(what, device)| Some((what, seen.shaper_bps(device, &counted)? / 1e6))),
    );
    Ok(Numbers(numbers))
}

fn model(result: &RunResult) -> Result<Numbers> {
    let [download, ping] = &result.flows[..] else {
        anyhow::bail!("workload: expected a download and a ping");
    };
    let mut numbers = vec![
        (GOODPUT, download.goodput_bps / 1e6),
        (MEDIAN, ping.rtt_ms.p50),
        (P95, ping.rtt_ms.p95),
    ];
    if let Some(cake) = &result.cake {
        numbers.extend([
            (DOWN, cake.down.rate_bps / 1e6),
            (UP, cake.up.rate_bps / 1e6),
        ]);
    }
    Ok(Numbers(numbers))
}

/// For terminals.
pub fn table(all: &[Comparison]) -> Table {
    let mut table = Table::new(Style::Markdown);
    table.heads([
        "link",
        "run",
        "",
        "script and kernel",
        "model",
        "model ÷ script",
    ]);
    for row in all {
        table.row([
            row.scenario.clone(),
            row.run.clone(),
            row.what.to_owned(),
            format!("{:.2}", row.kernel),
            format!("{:.2}", row.model),
            format!("{:.2}", row.ratio),
        ]);
    }
    table.right(3..6);
    table
}

#[cfg(test)]
mod tests;
