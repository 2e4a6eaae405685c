//! Runs a scenario.

use crate::own::Own;
use crate::session::Session;
use crate::{applications, settings};
use anyhow::Context;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tidegate_measure::BIN;
use tidegate_scenario::{LinkInputs, ResultSet, Run, RunResult, Scenario};

/// The scenario asks for something that the simulator does not have. Displays as one sentence.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unsupported(pub(crate) String);

/// Whether the simulator has everything that `scenario` asks for.
///
/// # Errors
/// The first thing that it does not have.
pub fn check(scenario: &Scenario) -> Result<(), Unsupported> {
    for run in &scenario.runs {
        let config = settings::config(&scenario.hosts, run)?;
        for workload in &scenario.workloads {
            settings::of_workload(&config, workload, run)?;
        }
    }
    for workload in &scenario.workloads {
        applications::check(workload)?;
        // A scenario built by a program has not gone through the parser, which would have refused this.
        if let Some(complaint) = scenario.ways_complaint(workload) {
            let name = &workload.name;
            return Err(Unsupported(format!("workload \"{name}\": {complaint}")));
        }
    }
    Ok(())
}

/// How a scenario is run.
#[derive(Clone)]
pub struct Options<'a> {
    /// Stops everything soon after it is set, for example by a signal handler.
    pub stop: Arc<AtomicBool>,
    /// Called now and then with how much further the run has come, in virtual time.
    pub progress: &'a (dyn Fn(Duration) + Sync),
    /// Whether the result holds curves over time.
    pub series: bool,
    /// Time from one point of a curve to the next, more than 0.
    pub bin: Duration,
    /// Longest time that an idle host takes to wake for a packet, drawn from the scenario's seed; zero: wakes at once.
    pub wake: Duration,
    /// The caller's own laws and congestion controls, in place of the runs'.
    pub own: Option<Arc<dyn Own>>,
}

impl Default for Options<'_> {
    /// No progress, no series (a point for each [`BIN`] if there are), no laws or congestion controls of the caller's.
    fn default() -> Self {
        Self {
            stop: Arc::default(),
            progress: &|_| {},
            series: false,
            bin: BIN,
            wake: Duration::ZERO,
            own: None,
        }
    }
}

/// Virtual time between two reports of progress.
const STRIDE: Duration = Duration::from_millis(100);

/// Runs every run of `scenario`, in their order, and returns what they measured. `inputs` are the
/// scenario's own links (`Scenario::link_inputs`).
///
/// If [`Options::stop`] is set, the current run is abandoned and the result holds those before it.
///
/// # Errors
/// When the scenario asks for something that the simulator does not have, as [`check`] says.
pub fn run_scenario(
    scenario: &Scenario,
    inputs: &LinkInputs,
    options: &Options,
) -> anyhow::Result<ResultSet> {
    let mut results = ResultSet {
        scenario: scenario.name.clone(),
        description: scenario.description.clone(),
        seed: scenario.seed,
        runs: Vec::new(),
    };
    for run in &scenario.runs {
        match run_one(scenario, inputs, run, options)? {
            Some(result) => results.runs.push(result),
            None => break,
        }
    }
    Ok(results)
}

/// Runs one run of `scenario`; none if it was stopped.
///
/// # Errors
/// As [`run_scenario`].
pub fn run_one(
    scenario: &Scenario,
    inputs: &LinkInputs,
    run: &Run,
    options: &Options,
) -> anyhow::Result<Option<RunResult>> {
    let named = || format!("run \"{}\"", run.name);
    let mut session = Session::new(scenario, inputs, run, options).with_context(named)?;
    while !session.is_over() {
        if options.stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let before = session.now();
        session.advance(STRIDE);
        (options.progress)(session.now() - before);
    }
    Ok(Some(session.finish()))
}
