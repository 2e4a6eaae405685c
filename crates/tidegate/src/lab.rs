//! `tidegate lab`: run a scenario, show what came of it.

use crate::args::LabArgs;
use crate::exit::{BadInput, require_root};
use crate::signals;
use crate::steer::LiveAgent;
use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tidegate_lab::{IpVersion, Options, Progress, run_scenario};
use tidegate_scenario::{LinkInputs, LoadError, ResultSet, Scenario, Variation, combinations};

/// Runs every variant, shows each as soon as it is known, and writes the page of all at the end.
pub fn run(args: &LabArgs) -> Result<()> {
    let variants = variants(args)?;
    require_root("the laboratory")?;
    let stop = signals::stop_flag()?;
    let mut sets = Vec::new();
    for (number, (scenario, inputs)) in variants.iter().enumerate() {
        let set = measure(args, scenario, inputs, &stop)?;
        if !args.json && !set.runs.is_empty() {
            writeln!(std::io::stdout(), "{}", tidegate_report::table(&set))?;
        }
        let done = set.runs.len();
        sets.push(set);
        if done < scenario.runs.len() {
            write_page(args, &sets)?;
            bail!(
                "interrupted after {done} of {} runs of variant {} of {}",
                scenario.runs.len(),
                number + 1,
                variants.len()
            );
        }
    }
    write_page(args, &sets)?;
    if args.json {
        print_json(sets, args.series)
    } else {
        Ok(())
    }
}

/// Reads everything before anything is run: a bad last trace must not cost the first ones' time.
fn variants(args: &LabArgs) -> Result<Vec<(Scenario, LinkInputs)>> {
    let path = &args.scenario;
    let text = std::fs::read_to_string(path).map_err(|source| LoadError::Read {
        path: path.clone(),
        source,
    })?;
    let variations: Vec<_> = args.vary.iter().cloned().map(files_from_here).collect();
    combinations(&variations)
        .iter()
        .map(|settings| {
            let mut scenario = Scenario::parse_with(&text, path, settings)?;
            select(&mut scenario, &args.run)?;
            let inputs = scenario.link_inputs(path)?;
            Ok((scenario, inputs))
        })
        .collect()
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
        toml::Value::String(file) if matches!(key, "trace" | "series") => {
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

fn measure(
    args: &LabArgs,
    scenario: &Scenario,
    inputs: &LinkInputs,
    stop: &Arc<AtomicBool>,
) -> Result<ResultSet> {
    let bar = bar();
    let options = Options {
        steer: Some(&LiveAgent),
        stop: Arc::clone(stop),
        progress: &|p| show(&bar, p),
        series: args.html.is_some() || args.series,
        ip: if args.ipv6 {
            IpVersion::V6
        } else {
            IpVersion::V4
        },
        ..Options::default()
    };
    let set = run_scenario(scenario, inputs, &options);
    bar.finish_and_clear();
    set
}

fn write_page(args: &LabArgs, sets: &[ResultSet]) -> Result<()> {
    let Some(path) = &args.html else {
        return Ok(());
    };
    std::fs::write(path, tidegate_report::page(sets))
        .with_context(|| format!("write {}", path.display()))
}

/// Keeps only the runs that were asked for, in the scenario's order.
fn select(scenario: &mut Scenario, names: &[String]) -> Result<(), BadInput> {
    let known: Vec<_> = scenario.runs.iter().map(|r| r.name.clone()).collect();
    if let Some(name) = names.iter().find(|n| !known.contains(n)) {
        let known = known.join(", ");
        return Err(BadInput(format!(
            "no run is named \"{name}\"; the scenario has {known}"
        )));
    }
    if !names.is_empty() {
        scenario.runs.retain(|r| names.contains(&r.name));
    }
    Ok(())
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:12} {wide_bar} {pos}/{len} s")
        .expect("a template of known keys");
    // Drawn to standard error, and not at all where that is no terminal.
    ProgressBar::new(0).with_style(style)
}

fn show(bar: &ProgressBar, p: &Progress) {
    let each = p.duration.as_secs();
    bar.set_length(each * p.runs as u64);
    bar.set_position(each * p.index as u64 + p.elapsed.as_secs());
    bar.set_message(p.run.clone());
}

/// One object for one scenario, an array for its variants.
fn print_json(mut sets: Vec<ResultSet>, series: bool) -> Result<()> {
    if !series {
        sets.iter_mut()
            .flat_map(|s| &mut s.runs)
            .for_each(|r| r.series.clear());
    }
    let mut out = std::io::stdout().lock();
    match sets.as_slice() {
        [set] => serde_json::to_writer_pretty(&mut out, set)?,
        sets => serde_json::to_writer_pretty(&mut out, sets)?,
    }
    writeln!(out)?;
    Ok(())
}
