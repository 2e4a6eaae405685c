//! Runs in the laboratory: in real time, over links between network namespaces, with the kernel's TCP, or at hosts of
//! `own_tcp` with laws and senders in Python.

use crate::execute::{Asked, in_background};
use crate::own::Trouble;
use crate::reading::Variant;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use tidegate_lab::{Options, Progress, run_scenario};
use tidegate_scenario::{Run, RunResult, Scenario};

/// Performs that run of the variant.
///
/// # Errors
/// Without root or a TUN driver, and if the laboratory lacks what the scenario asks for; and the exception of an
/// interrupt's handler, of `progress`, or of a law or sender in Python, after the run has ended.
pub fn execute(
    py: Python<'_>,
    variant: &Variant,
    run: &Run,
    asked: &Asked,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<RunResult> {
    let stop = Arc::new(AtomicBool::new(false));
    let trouble = Trouble::stopping(&stop);
    let passed_us = AtomicU64::new(0);
    let tell = || {
        let Some(progress) = progress else {
            return Ok(());
        };
        let done_s = passed_us.load(Ordering::Relaxed) as f64 / 1e6;
        let told = progress.call1((done_s, variant.scenario.duration_s));
        told.map(drop)
    };
    let work = || perform(variant, run, asked, (&stop, &trouble, &passed_us));
    let done = in_background(py, work, tell, |_| stop.store(true, Ordering::Relaxed))?;
    if let Some(error) = trouble.take() {
        return Err(error);
    }
    match done {
        Ok(Some(result)) => Ok(asked.kept(result)),
        Ok(None) => Err(PyRuntimeError::new_err("stopped")),
        Err(error) => Err(PyRuntimeError::new_err(format!("{error:#}"))),
    }
}

/// The run's result; none if `stop` ended it. Exceptions of laws and senders go to `trouble`, the time that is done, in
/// µs, to `passed_us`.
fn perform(
    variant: &Variant,
    run: &Run,
    asked: &Asked,
    (stop, trouble, passed_us): (&Arc<AtomicBool>, &Trouble, &AtomicU64),
) -> anyhow::Result<Option<RunResult>> {
    let own = variant.own_of(run);
    let scenario = Scenario {
        runs: vec![run.clone()],
        ..variant.scenario.clone()
    };
    let options = Options {
        stop: Arc::clone(stop),
        progress: &|progress: &Progress| {
            passed_us.store(progress.elapsed.as_micros() as u64, Ordering::Relaxed);
        },
        series: asked.options().series,
        senders: Some(&|workload| own?.sender(trouble, workload)),
        laws: Some(&|workload| own?.law(trouble, workload)),
        ..Options::default()
    };
    let results = run_scenario(&scenario, &variant.inputs, &options)?;
    let mut result = results.runs.into_iter().next();
    if let (Some(result), Some(name)) = (&mut result, own.and_then(|own| own.sender_name())) {
        result.congestion_control = name.to_owned();
    }
    Ok(result)
}
