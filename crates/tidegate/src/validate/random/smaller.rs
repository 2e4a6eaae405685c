//! Reduces a scenario that differs: it removes all that the difference does not need.
//!
//! This is delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002) over the
//! keys of the file. Each candidate lacks something or has a simpler number, and we keep it if a number of the same
//! kind still differs as much. Invalid scenarios are not run.

mod candidates;

use super::super::cases::Case;
use super::chance::Held;
use super::kernel::{Room, mbps, on_kernel};
use super::simulate::simulate;
use super::trial::{Trial, write_case};
use super::{bar, hold, numbers};
use anyhow::{Context, Result};
use candidates::candidates;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use tidegate_scenario::{Comparison, Provenance, ResultSet, RunResult};
use tidegate_terminal::Bar;
use toml::Table;

/// The most candidates that are run: some six minutes.
const TRIES: usize = 40;

/// File names: the small scenario, the candidate, and the curves.
const SMALL: &str = "small.toml";
const TRIED: &str = "tried.toml";
const PAGE: &str = "small.html";

/// Reduces each of these scenarios.
///
/// # Errors
/// The laboratory's or the simulator's error.
pub fn all(
    trials: &[Trial],
    furthest: &[Held],
    from: &Provenance,
    stop: &Arc<AtomicBool>,
) -> Result<()> {
    let bar = bar(TRIES * furthest.len(), "smaller");
    let room = Room::of_this_machine();
    let work = |held: &Held| -> Result<()> {
        let trial = trials.iter().find(|trial| trial.name == held.scenario);
        let trial = trial.context("a scenario that was held")?;
        let _place = room.take(mbps(&trial.case));
        make_small(trial, held, from, (stop, &bar)).with_context(|| trial.name.clone())
    };
    thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> = furthest
            .iter()
            .map(|held| scope.spawn(move || work(held)))
            .collect();
        let results = workers.into_iter().map(|w| w.join().expect("no panic"));
        results.collect::<Result<Vec<_>>>()
    })?;
    bar.end();
    Ok(())
}

fn make_small(
    trial: &Trial,
    like: &Held,
    from: &Provenance,
    (stop, bar): (&Arc<AtomicBool>, &Bar),
) -> Result<()> {
    let folder = &trial.folder;
    let mut small = trial.table()?;
    let mut tries = 0;
    let mut turn = 0;
    while tries < TRIES && !stop.load(Ordering::Relaxed) {
        // Go on after the last success: a candidate that failed before seldom works later.
        let Some(candidate) = candidates(&small).into_iter().nth(turn) else {
            break;
        };
        let Ok(case) = write_case(&folder.join(TRIED), &candidate) else {
            turn += 1;
            continue;
        };
        tries += 1;
        bar.further(1);
        match differs(&case, like, stop)? {
            true => small = candidate,
            false => turn += 1,
        }
    }
    let _ = fs::remove_file(folder.join(TRIED));
    bar.further((TRIES - tries) as u64);
    show(folder, &small, from, stop)
}

/// Whether a number of the same kind differs at least half as far.
fn differs(case: &Case, like: &Held, stop: &Arc<AtomicBool>) -> Result<bool> {
    let Some((_, held)) = both(case, stop)? else {
        return Ok(false);
    };
    let enough = like.times.sqrt();
    let same = |h: &Held| h.kind == like.kind && !h.agrees && h.times >= enough;
    Ok(held.iter().any(same))
}

/// The first runs of both sides with curves, and the compared numbers; none if it was stopped or does not count.
type Both = Option<([RunResult; 2], Vec<Held>)>;

fn both(case: &Case, stop: &Arc<AtomicBool>) -> Result<Both> {
    let Some(kernel) = on_kernel(case, stop)? else {
        return Ok(None);
    };
    let mut sims = simulate(case, stop)?;
    if sims.is_empty() || !kernel.health.warnings.is_empty() {
        return Ok(None);
    }
    let warmup_s = case.scenario.warmup_s;
    let of_sims: Vec<_> = sims.iter().map(|sim| numbers(sim, warmup_s)).collect();
    let held = hold(&case.scenario.name, &[numbers(&kernel, warmup_s)], &of_sims);
    Ok(Some(([kernel, sims.swap_remove(0)], held)))
}

/// Writes the small scenario, and a page with the curves of both sides.
fn show(folder: &Path, small: &Table, from: &Provenance, stop: &Arc<AtomicBool>) -> Result<()> {
    let case = write_case(&folder.join(SMALL), small)?;
    let Some((runs, held)) = both(&case, stop)? else {
        return Ok(());
    };
    let [kernel, sim] = runs;
    let named = |run: RunResult, name: &str| RunResult {
        name: name.to_owned(),
        ..run
    };
    let set = ResultSet {
        scenario: case.scenario.name.clone(),
        description: case.scenario.description.clone(),
        seed: case.scenario.seed,
        runs: vec![named(kernel, "kernel"), named(sim, "sim")],
    };
    let rows: Vec<_> = held.iter().map(comparison).collect();
    let page = tidegate_report::agreement_page(&rows, &[set], from);
    let path = folder.join(PAGE);
    fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))
}

/// A row of the page: the kernel's number, and the nearest value in the simulator's range.
fn comparison(held: &Held) -> Comparison {
    Comparison {
        scenario: held.of.clone(),
        quantity: format!("{}, {}", held.kind, held.unit),
        kernel: held.kernel,
        sim: held.kernel.max(held.least).min(held.largest),
        error: held.times - 1.0,
        allowed: super::chance::WITHIN,
        ok: held.agrees,
        reason: None,
    }
}
