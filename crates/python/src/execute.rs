//! Runs in the background, while the interpreter is free and hears of interrupts.

use crate::errors::wrong;
use crate::reading::Variant;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use tidegate_scenario::RunResult;
use tidegate_sim::{Options, in_order, run_one};

/// Time between two looks for an interrupt.
const LOOK: Duration = Duration::from_millis(10);

/// Stops what runs, from another thread.
#[pyclass(frozen, module = "tidegate._native")]
#[derive(Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Whatever runs ends soon, with an error.
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// How to run.
pub struct Asked {
    /// The quantities to be kept; empty: all; none: none.
    series: Option<Vec<String>>,
    bin: Duration,
    threads: usize,
}

impl Asked {
    /// As Python says it.
    ///
    /// # Errors
    /// When a number is none that can be.
    pub fn new(
        py: Python<'_>,
        series: Option<Vec<String>>,
        bin_ms: f64,
        threads: Option<usize>,
    ) -> PyResult<Self> {
        if !(0.1..=1e6).contains(&bin_ms) {
            let message = format!("bin_ms is {bin_ms}, expected 0.1 to 1000000 (milliseconds)");
            return Err(wrong(py, "bin_ms", message));
        }
        if threads == Some(0) {
            let message = "threads is 0, expected at least 1".to_owned();
            return Err(wrong(py, "threads", message));
        }
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        Ok(Self {
            series,
            bin: Duration::from_secs_f64(bin_ms / 1e3),
            threads: threads.unwrap_or(cores),
        })
    }

    /// For the simulator.
    pub fn options(&self) -> Options<'static> {
        Options {
            series: self.series.is_some(),
            bin: self.bin,
            ..Options::default()
        }
    }

    /// The result with the curves that are wanted.
    fn kept(&self, mut result: RunResult) -> RunResult {
        if let Some(wanted) = self.series.as_ref().filter(|wanted| !wanted.is_empty()) {
            result.series.retain(|s| wanted.contains(&s.quantity));
        }
        result
    }
}

/// Those runs, each by the number of its variant and its own within that, in their order.
///
/// # Errors
/// When it was stopped; what an interrupt's handler or `progress` raises, after everything has been stopped.
pub fn execute(
    py: Python<'_>,
    variants: &[Variant],
    jobs: &[(usize, usize)],
    asked: &Asked,
    stop: &Stop,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<RunResult>> {
    let stop = &stop.0;
    let passed_us = AtomicU64::new(0);
    let over = AtomicBool::new(false);
    let options = Options {
        stop: Arc::clone(stop),
        progress: &|further| {
            passed_us.fetch_add(further.as_micros() as u64, Ordering::Relaxed);
        },
        ..asked.options()
    };
    let work = |number: usize| {
        let (variant, run) = jobs[number];
        let Variant {
            scenario, inputs, ..
        } = &variants[variant];
        let result = run_one(scenario, inputs, &scenario.runs[run], &options);
        result.map(|result| result.map(|result| asked.kept(result)))
    };
    let seconds = jobs.iter().map(|job| variants[job.0].scenario.duration_s);
    let all: f64 = seconds.sum();
    let caller = thread::current();
    let done = thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let mut results = Vec::new();
            let take = |_, result| {
                results.push(result);
                Ok(())
            };
            let done = in_order(jobs.len(), asked.threads, work, take, || {});
            over.store(true, Ordering::Release);
            caller.unpark();
            done.map(|_| results)
        });
        let heard = watch(py, &over, || match progress {
            Some(progress) => {
                let done = passed_us.load(Ordering::Relaxed) as f64 / 1e6;
                progress.call1((done, all)).map(drop)
            }
            None => Ok(()),
        });
        if heard.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        let done = py.detach(|| worker.join());
        heard.map(|()| done)
    })?;
    match done {
        Ok(Ok(results)) if results.len() == jobs.len() => Ok(results),
        Ok(Ok(_)) => Err(PyRuntimeError::new_err("stopped")),
        Ok(Err(error)) => Err(PyRuntimeError::new_err(format!("{error:#}"))),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Waits until it is over, and looks for interrupts meanwhile.
fn watch(py: Python<'_>, over: &AtomicBool, tell: impl Fn() -> PyResult<()>) -> PyResult<()> {
    while !over.load(Ordering::Acquire) {
        py.detach(|| thread::park_timeout(LOOK));
        py.check_signals()?;
        tell()?;
    }
    Ok(())
}
