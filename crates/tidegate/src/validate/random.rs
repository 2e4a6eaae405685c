//! `tidegate validate --random`: scenarios that chance has drawn, on the kernel and in the simulator.
//!
//! A run on the kernel is one history of many. So each scenario runs once on the kernel and thirty times in the simulator,
//! with other seeds and starts that differ by milliseconds, and a number differs only if the kernel's lies outside of what
//! these thirty have.

mod chance;
mod draw;
mod numbers;
mod report;

use super::ValidateArgs;
use super::cases::Case;
use super::measure::{in_laboratory, in_simulator};
use super::progress::Shown;
use crate::exit::require_root;
use crate::signals;
use anyhow::{Context, Result, bail};
use chance::{Held, hold};
use draw::{TRACE, draw};
use numbers::{Number, numbers};
use report::Report;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;

/// Runs of the simulator that say what is chance.
const RUNS: u32 = 30;

/// How much later the workloads of each begin than those of the one before.
const SHIFT_S: f64 = 0.003;

/// Draws so many scenarios, holds each, prints what came of it; fails if the goals are missed.
pub fn run(args: &ValidateArgs, count: u32) -> Result<ExitCode> {
    require_root("the laboratory")?;
    let kept = args.out.clone();
    let temporary = tempfile::tempdir().context("a folder for the scenarios")?;
    let folder = kept.as_deref().unwrap_or(temporary.path());
    let seeds = args.seed..args.seed + u64::from(count);
    let stop = signals::stop_flag()?;
    let cases = seeds
        .map(|seed| Ok((seed, Case::load(write(seed, folder)?)?)))
        .collect::<Result<Vec<_>>>()?;
    let shown = Shown::new(cases.iter().map(|(_, case)| case.seconds()).sum());
    let mut report = Report::default();
    for (seed, case) in &cases {
        case.check()?;
        let Some(outcome) = measure(*seed, case, &stop, &shown)
            .with_context(|| format!("the scenario of seed {seed}"))?
        else {
            report.unfinished = count - report.done();
            break;
        };
        report.add(*seed, outcome);
        shown.done(case.seconds());
    }
    shown.clear();
    if report.done() > 0 {
        report.show(args, count)?;
    }
    if report.unfinished > 0 {
        bail!("interrupted, {} scenarios were not run", report.unfinished);
    }
    Ok(ExitCode::from(u8::from(!report.reaches_the_goals())))
}

/// Writes the scenario of that seed, with its recording, into a folder of its own.
fn write(seed: u64, folder: &Path) -> Result<PathBuf> {
    let drawn = draw(seed);
    let folder = folder.join(format!("random-{seed}"));
    let path = folder.join("scenario.toml");
    let write = || -> Result<()> {
        std::fs::create_dir_all(&folder)?;
        std::fs::write(&path, toml::to_string(&drawn.table)?)?;
        if let Some(trace) = &drawn.trace {
            std::fs::write(folder.join(TRACE), trace)?;
        }
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// What came of a scenario.
enum Outcome {
    /// Number by number.
    Held(Vec<Held>),
    /// Why the laboratory's run does not count.
    Doubtful(String),
}

/// None if it was stopped.
fn measure(
    seed: u64,
    case: &Case,
    stop: &Arc<AtomicBool>,
    shown: &Shown,
) -> Result<Option<Outcome>> {
    let kernel = in_laboratory(&case.repetition(0)?, false, stop, shown)?;
    let [run] = &kernel[..] else { return Ok(None) };
    if let Some(warning) = run.health.warnings.first() {
        return Ok(Some(Outcome::Doubtful(warning.to_string())));
    }
    let sims = simulate(case, stop)?;
    if sims.len() < RUNS as usize {
        return Ok(None);
    }
    Ok(Some(Outcome::Held(hold(seed, &numbers(run), &sims))))
}

/// The numbers of all runs of the simulator, on all cores; fewer if it was stopped.
fn simulate(case: &Case, stop: &Arc<AtomicBool>) -> Result<Vec<Vec<Number>>> {
    let next = AtomicU32::new(0);
    let work = || -> Result<Vec<_>> {
        let mut done = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let n = next.fetch_add(1, Ordering::Relaxed);
            if n >= RUNS {
                break;
            }
            let runs = in_simulator(&case.varied(n, SHIFT_S)?, false, stop)?;
            done.extend(runs.first().map(numbers));
        }
        Ok(done)
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let mut all = Vec::new();
        for worker in workers {
            all.extend(worker.join().expect("no worker panics")?);
        }
        Ok(all)
    })
}
