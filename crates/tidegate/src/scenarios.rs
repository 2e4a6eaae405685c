//! Code shared by laboratory and simulator: reading a scenario's variants, and showing results.

use crate::provenance::{Made, Sourced, provenance};
use crate::shipped;
use anyhow::{Context, Result};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};
use tidegate_command::exit::BadInput;
use tidegate_command::json;
use tidegate_scenario::{
    FILE_KEYS, Files, LinkInputs, LoadError, Recordings, ResultSet, Run, Scenario, Setting,
    Variation, Written, combinations,
};
use tidegate_sim::Keys;
use tidegate_terminal as terminal;

/// A scenario, its variants and runs, and how the result is shown.
#[derive(Debug, Args)]
pub struct ScenarioArgs {
    /// The scenario, a TOML file; `scenarios/…`, where there is no such folder here, is the installed package's
    #[arg(value_parser = shipped::path())]
    pub scenario: PathBuf,
    /// Replace a value of the scenario by each of these; with several --vary every combination is run. Values are TOML,
    /// or words: `--vary down.delay_ms=40,140`, `--vary down.rate.trace=FILE,FILE`; runs, workloads and hops by name,
    /// by number or all: `--vary run.drwa.lambda=2,3`, `--vary workload.*.start_s=0,5`. With a + before the key it
    /// changes together with the --vary before it: `--vary down.delay_ms=10,70 --vary +up.delay_ms=20,90`
    #[arg(long, value_name = "KEY=VALUE,…")]
    pub vary: Vec<Written>,
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

impl ScenarioArgs {
    /// The variations that are asked for.
    ///
    /// # Errors
    /// If some that are to change together cannot.
    pub fn variations(&self) -> Result<Vec<Variation>, BadInput> {
        Written::joined(&self.vary).map_err(|why| BadInput(format!("--vary: {why}")))
    }
}

/// A scenario with some of its settings replaced.
pub struct Variant {
    /// The scenario, with only the requested runs.
    pub scenario: Scenario,
    /// Its other runs.
    pub left_out: Vec<Run>,
    /// Its links.
    pub inputs: LinkInputs,
    /// The keys that identify its runs.
    pub keys: Keys,
    /// The values that replace its own, in the order of the variations.
    pub values: Vec<String>,
}

/// The most variants: all are read before the first is run.
const MOST_VARIANTS: usize = 1_000_000;

/// The scenario's text. It is read once, as it may come through a pipe.
pub fn text(args: &ScenarioArgs) -> Result<String> {
    Ok(LoadError::read(&args.scenario)?)
}

/// Reads every combination of `variations` of the scenario with this text. We read all before any is run, so that a bad
/// trace in the last variant wastes no time. Files that several variants name are read once.
pub fn variants(args: &ScenarioArgs, text: &str, variations: &[Variation]) -> Result<Vec<Variant>> {
    let path = &args.scenario;
    let variations: Vec<_> = variations.iter().cloned().map(files_from_here).collect();
    let count = variations
        .iter()
        .try_fold(1_usize, |count, v| count.checked_mul(v.points.len()));
    if count.is_none_or(|count| count > MOST_VARIANTS) {
        let count = variations
            .iter()
            .map(|v| v.points.len().to_string())
            .collect::<Vec<_>>()
            .join(" x ");
        return Err(BadInput(format!(
            "{count} variants (--vary, --seeds), expected {MOST_VARIANTS} at most: several sweeps, each of a part of them"
        ))
        .into());
    }
    let recordings = Recordings::default();
    let read = |settings: &Vec<_>| {
        let mut scenario = Scenario::parse_with(text, path, settings)
            .map_err(|error| error.with_missing_files(text, path))?;
        let left_out = select(&mut scenario, &args.run)?;
        let files = Files::beside(path).sharing(&recordings);
        let inputs = scenario.link_inputs_from(&files, path)?;
        let keys = Keys::from_files(&scenario, &files)?;
        let values = settings.iter().map(Setting::word).collect();
        Ok(Variant {
            scenario,
            left_out,
            inputs,
            keys,
            values,
        })
    };
    let variants = combinations(&variations).iter().map(read).collect();
    for warning in recordings.warnings() {
        terminal::warn(format_args!("tidegate: {warning}"));
    }
    variants
}

/// File names on the command line are relative to the current folder, not to the scenario's.
fn files_from_here(mut variation: Variation) -> Variation {
    for point in &mut variation.points {
        for (key, value) in variation.keys.iter().zip(&mut point.values) {
            file_from_here(key.last().map_or("", String::as_str), value);
        }
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

/// Keeps only the requested runs, in the scenario's order; returns the others.
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

/// Prints the set's tables, unless JSON is wanted or the set is empty.
pub fn print_table(args: &ScenarioArgs, set: &ResultSet) -> Result<()> {
    if !args.json && !set.runs.is_empty() {
        terminal::out().text(&tidegate_report::table(set))?;
        writeln!(terminal::out())?;
    }
    Ok(())
}

/// Writes the page, if it is wanted.
pub fn write_page(args: &ScenarioArgs, sets: &[ResultSet], made: Made) -> Result<()> {
    let Some(path) = &args.html else {
        return Ok(());
    };
    let from = provenance(made, sets.iter().map(|set| set.seed));
    std::fs::write(path, tidegate_report::page(sets, &from))
        .with_context(|| format!("write {}", path.display()))
}

/// Prints JSON, if it is wanted: one object for one scenario, an array for variants.
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
        [set] => json::print(&sourced(set, made)),
        sets => {
            let all: Vec<_> = sets.iter().map(|set| sourced(set, made)).collect();
            json::print(&all)
        }
    }
}

/// A set with its provenance.
fn sourced(set: &ResultSet, made: Made) -> Sourced<'_, ResultSet> {
    Sourced {
        result: set,
        provenance: provenance(made, [set.seed]),
    }
}
