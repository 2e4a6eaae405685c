//! Runs a case in the laboratory and in the simulator.

use super::cases::{Case, Setup};
use super::progress::Shown;
use crate::steer::LiveAgent;
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tidegate_lab::Progress;
use tidegate_scenario::RunResult;

/// How often the laboratory tries a repetition, if the machine was too busy for its result to count.
const TRIES: u32 = 3;

/// The results of all repetitions of a case, by run.
pub struct Measured {
    /// The laboratory's: for each run its repetitions.
    pub kernel: Vec<Vec<RunResult>>,
    /// The simulator's: for each run its repetitions.
    pub sim: Vec<Vec<RunResult>>,
}

/// Runs every repetition, first in the laboratory, then in the simulator; none if it was stopped.
///
/// # Errors
/// The laboratory's or the simulator's error.
pub fn measure(
    case: &Case,
    repeat: u32,
    series: bool,
    stop: &Arc<AtomicBool>,
    shown: &Shown,
) -> Result<Option<Measured>> {
    let runs = case.scenario.runs.len();
    let mut measured = Measured {
        kernel: vec![Vec::new(); runs],
        sim: vec![Vec::new(); runs],
    };
    for n in 0..repeat {
        let setup = case.repetition(n)?;
        // Curves are shown only of the first repetition.
        let series = series && n == 0;
        let kernel = in_laboratory(&setup, series, stop, shown)?;
        let sim = in_simulator(&setup, series, stop)?;
        if kernel.len().min(sim.len()) < runs {
            return Ok(None);
        }
        for (all, results) in [(&mut measured.kernel, kernel), (&mut measured.sim, sim)] {
            for (of_run, result) in all.iter_mut().zip(results) {
                of_run.push(result);
            }
        }
        shown.done(case.seconds());
    }
    Ok(Some(measured))
}

/// The laboratory's results; fewer if it was stopped.
///
/// # Errors
/// The laboratory's error.
pub fn in_laboratory(
    setup: &Setup,
    series: bool,
    stop: &Arc<AtomicBool>,
    shown: &Shown,
) -> Result<Vec<RunResult>> {
    let mut tries = 0;
    loop {
        let runs = once_in_laboratory(setup, series, stop, &|p| {
            shown.laboratory(&setup.scenario.name, p);
        })?;
        tries += 1;
        let interrupted = runs.len() < setup.scenario.runs.len();
        let counts = runs.iter().all(|run| run.health.warnings.is_empty());
        if interrupted || counts || tries == TRIES {
            return Ok(runs);
        }
    }
}

/// The laboratory's results, even if it doubts them; fewer if it was stopped.
///
/// # Errors
/// The laboratory's error.
pub fn once_in_laboratory(
    setup: &Setup,
    series: bool,
    stop: &Arc<AtomicBool>,
    progress: &(dyn Fn(&Progress) + Sync),
) -> Result<Vec<RunResult>> {
    let options = tidegate_lab::Options {
        steer: Some(&LiveAgent),
        stop: Arc::clone(stop),
        progress,
        series,
        ..tidegate_lab::Options::default()
    };
    Ok(tidegate_lab::run_scenario(&setup.scenario, &setup.inputs, &options)?.runs)
}

/// The simulator's results; fewer if it was stopped.
///
/// # Errors
/// The simulator's error.
pub fn in_simulator(setup: &Setup, series: bool, stop: &Arc<AtomicBool>) -> Result<Vec<RunResult>> {
    simulated(
        setup,
        tidegate_sim::Options {
            stop: Arc::clone(stop),
            series,
            ..tidegate_sim::Options::default()
        },
    )
}

/// The simulator's results with these options.
///
/// # Errors
/// The simulator's error.
pub fn simulated(setup: &Setup, options: tidegate_sim::Options) -> Result<Vec<RunResult>> {
    Ok(tidegate_sim::run_scenario(&setup.scenario, &setup.inputs, &options)?.runs)
}
