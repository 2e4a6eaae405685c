//! Runs all scenarios on the kernel: slow links in parallel, fast ones alone.

use super::super::cases::Case;
use super::super::measure::once_in_laboratory;
use super::bar;
use super::trial::{Kernel, Trial};
use anyhow::{Context, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use tidegate_scenario::RunResult;
use tidegate_terminal::Bar;

/// The rate in Mbit/s, both directions together, that a core can forward beside other work without being late.
const MBPS_A_CORE: f64 = 40.0;

/// How many laboratories run in parallel on each core: first for all scenarios, then for those whose runs do not count
/// because the machine was too busy.
const SIDE_BY_SIDE: [usize; 2] = [4, 1];

/// Runs them all and keeps the results. If it is stopped, the rest stays unchanged.
///
/// # Errors
/// The laboratory's, or if a folder cannot be written.
pub fn run_all(trials: &mut [Trial], stop: &Arc<AtomicBool>) -> Result<()> {
    let bar = bar(trials.len(), "on the kernel");
    let cores = thread::available_parallelism().map_or(1, usize::from);
    for workers in SIDE_BY_SIDE.map(|each| each * cores) {
        side_by_side(trials, workers, stop, &bar)?;
    }
    // Finally one by one.
    side_by_side(trials, 1, stop, &bar)?;
    bar.end();
    Ok(())
}

/// Runs all that do not count yet, with this many workers.
fn side_by_side(
    trials: &mut [Trial],
    workers: usize,
    stop: &Arc<AtomicBool>,
    bar: &Bar,
) -> Result<()> {
    let room = Room::of_this_machine();
    let again = trials
        .iter_mut()
        .filter(|t| !matches!(t.kernel, Kernel::Counts(_)));
    // Slow ones first, so that they need not wait for one that runs alone.
    let mut waiting: Vec<_> = again.map(|t| (mbps(&t.case), t)).collect();
    waiting.sort_by(|a, b| b.0.total_cmp(&a.0));
    let waiting = Mutex::new(waiting);
    let work = || -> Result<()> {
        while !stop.load(Ordering::Relaxed) {
            let next = || locked(&waiting).pop();
            let Some((mbps, trial)) = next() else { break };
            let _place = room.take(mbps);
            run(trial, stop)?;
            bar.further(u64::from(matches!(trial.kernel, Kernel::Counts(_))));
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let results = workers.into_iter().map(|w| w.join().expect("no panic"));
        results.collect::<Result<Vec<_>>>().map(drop)
    })
}

/// Runs a scenario once, and keeps the result if it counts.
fn run(trial: &mut Trial, stop: &Arc<AtomicBool>) -> Result<()> {
    let run = on_kernel(&trial.case, stop).with_context(|| trial.name.clone())?;
    trial.kernel = match run {
        None => Kernel::NotRun,
        Some(run) => match run.health.warnings.first() {
            Some(warning) => Kernel::Doubtful(warning.clone()),
            None => Kernel::Counts(vec![run]),
        },
    };
    trial.keep()
}

/// Runs a scenario `times` times more, alone, and keeps the results that count.
///
/// # Errors
/// The laboratory's, or if the folder cannot be written.
pub fn run_again(trial: &mut Trial, times: u32, stop: &Arc<AtomicBool>) -> Result<()> {
    for _ in 0..times {
        let run = on_kernel(&trial.case, stop).with_context(|| trial.name.clone())?;
        if let (Kernel::Counts(runs), Some(run)) = (&mut trial.kernel, run)
            && run.health.warnings.is_empty()
        {
            runs.push(run);
        }
    }
    trial.keep()
}

/// The result of the scenario's first run, with curves; none if it was stopped.
///
/// # Errors
/// The laboratory's.
pub fn on_kernel(case: &Case, stop: &Arc<AtomicBool>) -> Result<Option<RunResult>> {
    let setup = case.repetition(0)?;
    let runs = once_in_laboratory(&setup, true, stop, &|_| {})?;
    Ok(runs.into_iter().next())
}

/// The mean rate in Mbit/s, both directions together.
pub fn mbps(case: &Case) -> f64 {
    let inputs = case.repetition(0).map(|setup| setup.inputs);
    inputs.map_or(f64::INFINITY, |inputs| {
        (inputs.down.rate.mean_bps() + inputs.up.rate.mean_bps()) / 1e6
    })
}

/// How many Mbit/s the machine can forward at once.
pub struct Room {
    all: f64,
    taken: Mutex<f64>,
    left: Condvar,
}

/// A reserved part of that rate; free again when dropped.
pub struct Place<'a> {
    room: &'a Room,
    mbps: f64,
}

impl Room {
    /// The rate that this machine's cores can forward.
    pub fn of_this_machine() -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self {
            all: MBPS_A_CORE * cores as f64,
            taken: Mutex::new(0.0),
            left: Condvar::new(),
        }
    }

    /// Waits until this rate is free; a rate above the machine's runs alone.
    pub fn take(&self, mbps: f64) -> Place<'_> {
        let mbps = mbps.min(self.all);
        let full = |taken: &mut f64| *taken + mbps > self.all;
        let taken = locked(&self.taken);
        let taken = self.left.wait_while(taken, full);
        *taken.unwrap_or_else(PoisonError::into_inner) += mbps;
        Place { room: self, mbps }
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut taken = locked(&self.room.taken);
        // Rounding errors add up: reset a remainder to 0.
        *taken = (*taken - self.mbps).max(0.0);
        if *taken < 1e-9 {
            *taken = 0.0;
        }
        self.room.left.notify_all();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
