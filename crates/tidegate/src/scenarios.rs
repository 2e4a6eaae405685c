//! What laboratory and simulator have in common: reading a scenario's variants, and showing results.

use crate::exit::BadInput;
use crate::provenance::{self, Made, Sourced, provenance};
use crate::shipped;
use anyhow::{Context, Result};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};
use tidegate_scenario::{
    FILE_KEYS, LinkInputs, LoadError, ResultSet, Run, Scenario, Variation, combinations,
};
use tidegate_terminal as terminal;

/// A scenario, its variants and runs, and how the result is shown.
#[derive(Debug, Args)]
pub struct ScenarioArgs {
    /// The scenario, a TOML file; `scenarios/…`, where there is no such folder here, is the installed package's
    #[arg(value_parser = shipped::path())]
    pub scenario: PathBuf,
    /// Replace a value of the scenario by each of these; with several --vary every combination is run. Values are TOML,
    /// or words: `--vary down.delay_ms=40,140`, `--vary down.rate.trace=FILE,FILE`; runs, workloads and hops by name,
    /// by number or all: `--vary run.drwa.lambda=2,3`, `--vary workload.*.start_s=0,5`
    #[arg(long, value_name = "KEY=VALUE,…")]
    pub vary: Vec<Variation>,
    /// Only this run of it, repeatable
    #[arg(long, value_name = "NAME")]
    pub run: Vec<String>,
    /// Print the result as JSON instead of a table
    #[arg(long)]
    pub json: bool,
    /// Include curves over time in the JSON
    #[arg(long, requires = "json")]
    pub series: bool,
    /// Write a self-contained page with tables and pictures
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// A scenario with some of its settings replaced.
pub struct Variant {
    /// The scenario, with the runs that were asked for.
    pub scenario: Scenario,
    /// Its other runs.
    pub left_out: Vec<Run>,
    /// Its links.
    pub inputs: LinkInputs,
    /// The values that were put in place of its own, in the order of the variations.
    pub values: Vec<String>,
}

/// Reads every combination of `variations`. Reads everything before anything is run: a bad last trace
/// must not cost the first ones' time.
pub fn variants(args: &ScenarioArgs, variations: &[Variation]) -> Result<Vec<Variant>> {
    let path = &args.scenario;
    let text = LoadError::read(path)?;
    let variations: Vec<_> = variations.iter().cloned().map(files_from_here).collect();
    combinations(&variations)
        .iter()
        .map(|settings| {
            let mut scenario = Scenario::parse_with(&text, path, settings)
                .map_err(|error| error.with_missing_files(&text, path))?;
            let left_out = select(&mut scenario, &args.run)?;
            let inputs = scenario.link_inputs(path)?;
            let values = settings.iter().map(|(_, value)| plain(value)).collect();
            Ok(Variant {
                scenario,
                left_out,
                inputs,
                values,
            })
        })
        .collect()
}

/// A string without its quotes, anything else as TOML has it.
fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Files on the command line are relative to the current folder, not to the scenario's.
fn files_from_here(mut variation: Variation) -> Variation {
    let key = variation.key.last().cloned().unwrap_or_default();
    for value in &mut variation.values {
        file_from_here(&key, value);
    }
    variation
}

fn file_from_here(key: &str, value: &mut toml::Value) {
    match value {
        toml::Value::Table(table) => table.iter_mut().for_each(|(k, v)| file_from_here(k, v)),
        toml::Value::String(file) if FILE_KEYS.contains(&key) => {
            if let Some(absolute) = std::path::absolute(&*file)
                .ok()
                .as_deref()
                .and_then(Path::to_str)
            {
                *file = absolute.to_owned();
            }
        }
        _ => {}
    }
}

/// Keeps only the runs that were asked for, in the scenario's order; returns the others.
fn select(scenario: &mut Scenario, names: &[String]) -> Result<Vec<Run>, BadInput> {
    let known: Vec<_> = scenario.runs.iter().map(|r| r.name.clone()).collect();
    if let Some(name) = names.iter().find(|n| !known.contains(n)) {
        let known = known.join(", ");
        return Err(BadInput(format!(
            "no run is named \"{name}\"; the scenario has {known}"
        )));
    }
    let asked = |run: &Run| names.is_empty() || names.contains(&run.name);
    let (kept, left_out) = std::mem::take(&mut scenario.runs)
        .into_iter()
        .partition(asked);
    scenario.runs = kept;
    Ok(left_out)
}

/// Prints the set's tables, unless JSON is wanted or there is nothing in it.
pub fn print_table(args: &ScenarioArgs, set: &ResultSet) -> Result<()> {
    if !args.json && !set.runs.is_empty() {
        terminal::out().text(&tidegate_report::table(set))?;
        writeln!(terminal::out())?;
    }
    Ok(())
}

/// Writes the page, if one is wanted.
pub fn write_page(args: &ScenarioArgs, sets: &[ResultSet], made: Made) -> Result<()> {
    let Some(path) = &args.html else {
        return Ok(());
    };
    let from = provenance(made, sets.iter().map(|set| set.seed));
    std::fs::write(path, tidegate_report::page(sets, &from))
        .with_context(|| format!("write {}", path.display()))
}

/// Prints JSON, if that is wanted: one object for one scenario, an array for its variants.
pub fn print_json(args: &ScenarioArgs, mut sets: Vec<ResultSet>, made: Made) -> Result<()> {
    if !args.json {
        return Ok(());
    }
    if !args.series {
        sets.iter_mut()
            .flat_map(|s| &mut s.runs)
            .for_each(|r| r.series.clear());
    }
    match sets.as_slice() {
        [set] => provenance::print(&sourced(set, made)),
        sets => {
            let all: Vec<_> = sets.iter().map(|set| sourced(set, made)).collect();
            provenance::print(&all)
        }
    }
}

/// A set, and where it comes from.
fn sourced(set: &ResultSet, made: Made) -> Sourced<'_, ResultSet> {
    Sourced {
        result: set,
        provenance: provenance(made, [set.seed]),
    }
}
