//! Runs in the laboratory: in real time, over links between network namespaces, with the kernel's TCP, or at hosts of
//! `own_tcp` with laws and senders in Python.

use crate::execute::{Asked, watch};
use crate::own::Trouble;
use crate::reading::Variant;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use tidegate_lab::{Options, Progress, run_scenario};
use tidegate_scenario::{Run, RunResult, Scenario};

/// Runs the variant's runs, one after another.
///
/// # Errors
/// Without root or a TUN driver, and if the laboratory lacks what the scenario asks for; and the exception of an
/// interrupt's handler, of `progress`, or of a law or sender in Python, after the run has ended.
pub fn execute(
    py: Python<'_>,
    variant: &Variant,
    asked: &Asked,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<RunResult>> {
    let stop = Arc::new(AtomicBool::new(false));
    let work = Work {
        variant,
        asked,
        trouble: Trouble::stopping(&stop),
        stop,
        passed_us: AtomicU64::new(0),
    };
    let done = work.in_background(py, progress)?;
    if let Some(error) = work.trouble.take() {
        return Err(error);
    }
    match done {
        Ok(results) if results.len() == variant.scenario.runs.len() => Ok(results),
        Ok(_) => Err(PyRuntimeError::new_err("stopped")),
        Err(error) => Err(PyRuntimeError::new_err(format!("{error:#}"))),
    }
}

struct Work<'a> {
    variant: &'a Variant,
    asked: &'a Asked,
    /// Set when the runs are to end.
    stop: Arc<AtomicBool>,
    /// The exceptions of laws and senders in Python.
    trouble: Trouble,
    /// Time that is done, in µs.
    passed_us: AtomicU64,
}

impl Work<'_> {
    /// Performs the runs on a thread, while the interpreter is free and interrupts are noticed.
    fn in_background(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<anyhow::Result<Vec<RunResult>>> {
        let over = AtomicBool::new(false);
        let caller = thread::current();
        let done = thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let done = self.all();
                over.store(true, Ordering::Release);
                caller.unpark();
                done
            });
            let heard = watch(py, &over, || self.tell(progress));
            if heard.is_err() {
                self.stop.store(true, Ordering::Relaxed);
            }
            let done = py.detach(|| worker.join());
            heard.map(|()| done)
        })?;
        Ok(done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }

    fn all(&self) -> anyhow::Result<Vec<RunResult>> {
        let mut results = Vec::new();
        for (nth, run) in self.variant.scenario.runs.iter().enumerate() {
            let Some(result) = self.perform(nth, run)? else {
                break;
            };
            results.push(self.asked.kept(result));
        }
        Ok(results)
    }

    fn perform(&self, nth: usize, run: &Run) -> anyhow::Result<Option<RunResult>> {
        let own = self.variant.own_of(run);
        let scenario = Scenario {
            runs: vec![run.clone()],
            ..self.variant.scenario.clone()
        };
        let before_us = nth as u64 * (scenario.duration_s * 1e6) as u64;
        let options = Options {
            stop: Arc::clone(&self.stop),
            progress: &|progress: &Progress| {
                let us = before_us + progress.elapsed.as_micros() as u64;
                self.passed_us.store(us, Ordering::Relaxed);
            },
            series: self.asked.options().series,
            senders: Some(&|workload| own?.sender(&self.trouble, workload)),
            laws: Some(&|workload| own?.law(&self.trouble, workload)),
            ..Options::default()
        };
        let mut result = run_scenario(&scenario, &self.variant.inputs, &options)?
            .runs
            .pop();
        if let (Some(result), Some(name)) = (&mut result, own.and_then(|own| own.sender_name())) {
            result.congestion_control = name.to_owned();
        }
        Ok(result)
    }

    fn tell(&self, progress: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let Some(progress) = progress else {
            return Ok(());
        };
        let Scenario {
            duration_s, runs, ..
        } = &self.variant.scenario;
        let done_s = self.passed_us.load(Ordering::Relaxed) as f64 / 1e6;
        let all_s = duration_s * runs.len() as f64;
        progress.call1((done_s, all_s)).map(drop)
    }
}
