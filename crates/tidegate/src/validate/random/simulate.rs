//! Runs thirty-one histories of a scenario in the simulator.

use super::super::cases::Case;
use super::super::measure::simulated;
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;
use tidegate_scenario::RunResult;

/// Thirty runs of the simulator that define chance, and one more that is compared with them as the kernel's is.
pub const RUNS: u32 = 31;

/// The longest time that a host takes to wake up: about what the laboratory's hosts add to a round trip.
const WAKE: Duration = Duration::from_micros(100);

/// All runs in order, on all cores; none if it was stopped.
///
/// # Errors
/// The simulator's error.
pub fn simulate(case: &Case, stop: &Arc<AtomicBool>) -> Result<Vec<RunResult>> {
    let next = AtomicU32::new(0);
    let work = || -> Result<Vec<(u32, RunResult)>> {
        let mut done = Vec::new();
        while !stop.load(Ordering::Relaxed) {
            let n = next.fetch_add(1, Ordering::Relaxed);
            if n >= RUNS {
                break;
            }
            done.extend(history(case, n, stop)?.map(|run| (n, run)));
        }
        Ok(done)
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut all = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let done = workers.into_iter().map(|w| w.join().expect("no panic"));
        done.collect::<Result<Vec<_>>>()
            .map(|done| done.into_iter().flatten().collect::<Vec<_>>())
    })?;
    if all.len() < RUNS as usize {
        return Ok(Vec::new());
    }
    all.sort_by_key(|(n, _)| *n);
    Ok(all.into_iter().map(|(_, run)| run).collect())
}

/// The n-th run; none if it was stopped.
fn history(case: &Case, n: u32, stop: &Arc<AtomicBool>) -> Result<Option<RunResult>> {
    let options = tidegate_sim::Options {
        stop: Arc::clone(stop),
        series: true,
        wake: WAKE,
        ..tidegate_sim::Options::default()
    };
    Ok(simulated(&case.history(n)?, options)?.into_iter().next())
}
