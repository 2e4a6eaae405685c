//! `tidegate lab`: run a scenario, show what came of it.

use crate::args::LabArgs;
use crate::exit::BadInput;
use crate::signals;
use crate::steer::LiveAgent;
use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use tidegate_lab::{IpVersion, Options, Progress, run_scenario};
use tidegate_scenario::{ResultSet, Scenario};

/// Runs it.
pub fn run(args: &LabArgs) -> Result<()> {
    let mut scenario = Scenario::load(&args.scenario)?;
    select(&mut scenario, &args.run)?;
    let inputs = scenario.link_inputs(&args.scenario)?;
    let bar = bar();
    let options = Options {
        steer: Some(&LiveAgent),
        stop: signals::stop_flag()?,
        progress: &|p| show(&bar, p),
        series: args.html.is_some() || args.series,
        ip: if args.ipv6 { IpVersion::V6 } else { IpVersion::V4 },
        ..Options::default()
    };
    let results = run_scenario(&scenario, &inputs, &options);
    bar.finish_and_clear();
    let mut results = results?;
    if let Some(path) = &args.html {
        let page = tidegate_report::page(std::slice::from_ref(&results));
        std::fs::write(path, page).with_context(|| format!("write {}", path.display()))?;
    }
    if !args.series {
        results.runs.iter_mut().for_each(|r| r.series.clear());
    }
    print(&results, args.json)?;
    if results.runs.len() < scenario.runs.len() {
        anyhow::bail!("interrupted after {} of {} runs", results.runs.len(), scenario.runs.len());
    }
    Ok(())
}

/// Keeps only the runs that were asked for, in the scenario's order.
fn select(scenario: &mut Scenario, names: &[String]) -> Result<(), BadInput> {
    let known: Vec<_> = scenario.runs.iter().map(|r| r.name.clone()).collect();
    if let Some(name) = names.iter().find(|n| !known.contains(n)) {
        let known = known.join(", ");
        return Err(BadInput(format!("no run is named \"{name}\"; the scenario has {known}")));
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

fn print(results: &ResultSet, json: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    if json {
        serde_json::to_writer_pretty(&mut out, results)?;
        writeln!(out)?;
    } else {
        writeln!(out, "{}", tidegate_report::table(results))?;
    }
    Ok(())
}
