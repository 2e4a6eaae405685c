//! `tidegate validate --random`: runs random scenarios on the kernel and in the simulator.
//!
//! A run on the kernel is one history out of many. So each scenario runs once on the kernel and thirty times in the
//! simulator: with other seeds, starts that differ by milliseconds, and hosts that take time to wake up. A number
//! differs only if the kernel's lies outside the range of these thirty.

mod chance;
mod draw;
mod kernel;
mod numbers;
mod report;
mod simulate;
mod smaller;
mod trial;

use super::ValidateArgs;
use crate::privilege::require_root;
use crate::provenance::{Made, provenance};
use anyhow::{Context, Result, bail};
use chance::{Held, hold};
use numbers::numbers;
use report::{Report, WORST};
use simulate::simulate;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tidegate_command::signals;
use tidegate_scenario::{Provenance, RunResult};
use tidegate_terminal::Bar;
use trial::{Kernel, Trial};

/// Draws `count` scenarios, compares each, and prints the result; fails if the goals are missed.
pub fn run(args: &ValidateArgs, count: u32) -> Result<ExitCode> {
    require_root("the laboratory")?;
    let temporary = tempfile::tempdir().context("a folder for the scenarios")?;
    let folder = args.out.as_deref().unwrap_or(temporary.path());
    let stop = signals::stop_flag()?;
    let seeds = args.seed..args.seed + u64::from(count);
    let mut trials = seeds
        .clone()
        .map(|seed| Trial::draw(seed, folder))
        .collect::<Result<Vec<_>>>()?;
    kernel::run_all(&mut trials, &stop)?;
    let from = provenance(Made::OnKernel, seeds);
    let report = hold_all(&mut trials, args.confirm.unwrap_or(2), &stop)?;
    show(args, &report, from.clone())?;
    if args.out.is_some() {
        let furthest = report.furthest(args.small.unwrap_or(1));
        smaller::all(&trials, &furthest, &from, &stop)?;
    }
    finish(&report)
}

/// Compares the simulator with the kernel results kept in a folder.
pub fn again(args: &ValidateArgs, folder: &Path) -> Result<ExitCode> {
    let (small, confirm) = (args.small.unwrap_or(0), args.confirm.unwrap_or(0));
    if small > 0 || confirm > 0 {
        require_root("the laboratory")?;
    }
    let stop = signals::stop_flag()?;
    let mut trials = Trial::load_all(folder)?;
    let report = hold_all(&mut trials, confirm, &stop)?;
    let none: [u64; 0] = [];
    let made = match confirm {
        0 => Made::InVirtualTime,
        _ => Made::OnKernel,
    };
    let from = provenance(made, none);
    show(args, &report, from.clone())?;
    smaller::all(&trials, &report.furthest(small), &from, &stop)?;
    finish(&report)
}

/// Shows the report first, as making a scenario small takes minutes.
fn show(args: &ValidateArgs, report: &Report, from: Provenance) -> Result<()> {
    match report.done() {
        0 => Ok(()),
        _ => report.show(args.json, from),
    }
}

fn finish(report: &Report) -> Result<ExitCode> {
    if report.unfinished > 0 {
        bail!("interrupted, {} scenarios were not held", report.unfinished);
    }
    Ok(ExitCode::from(u8::from(!report.reaches_the_goals())))
}

/// Compares all that the kernel has run; numbers far beyond chance get more runs.
fn hold_all(trials: &mut [Trial], confirm: u32, stop: &Arc<AtomicBool>) -> Result<Report> {
    let bar = bar(trials.len(), "in the simulator");
    let mut report = Report::default();
    for trial in trials {
        match &trial.kernel {
            Kernel::Counts(_) => match hold_one(trial, confirm, stop)? {
                Some((held, own)) => report.add(held, &own),
                None => report.unfinished += 1,
            },
            Kernel::Doubtful(warning) => report.add_doubtful(&trial.name, warning),
            Kernel::NotRun => report.unfinished += 1,
        }
        bar.further(1);
    }
    bar.end();
    Ok(report)
}

/// Compares the kernel's numbers, and those of one further run of the simulator, with thirty runs of the simulator;
/// none if it was stopped.
fn hold_one(
    trial: &mut Trial,
    confirm: u32,
    stop: &Arc<AtomicBool>,
) -> Result<Option<(Vec<Held>, Vec<Held>)>> {
    let warmup_s = trial.case.scenario.warmup_s;
    let of = |run: &RunResult| numbers(run, warmup_s);
    let sims = simulate(&trial.case, stop).with_context(|| trial.name.clone())?;
    let sims: Vec<_> = sims.iter().map(of).collect();
    let Some((own, sims)) = sims.split_last() else {
        return Ok(None);
    };
    let of_kernel = |trial: &Trial| {
        let kernels: Vec<_> = trial.kernel.runs().iter().map(of).collect();
        hold(&trial.name, &kernels, sims)
    };
    let mut held = of_kernel(trial);
    if confirm > 0 && held.iter().any(|held| held.times >= WORST) {
        kernel::run_again(trial, confirm, stop)?;
        held = of_kernel(trial);
    }
    Ok(Some((
        held,
        hold(&trial.name, std::slice::from_ref(own), sims),
    )))
}

/// A progress bar over scenarios.
fn bar(scenarios: usize, message: &str) -> Bar {
    let bar = Bar::new(
        scenarios as u64,
        "{msg:18} {wide_bar} {pos}/{len} scenarios",
    );
    bar.message(message);
    bar
}
