//! Runs in the background, while the interpreter is free and interrupts are noticed.

use crate::errors::wrong;
use crate::own::{Codes, Trouble};
use crate::reading::Variant;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::ffi::c_long;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tidegate_scenario::{Run, RunResult};
use tidegate_sim::{Options, in_order, run_one};

/// Time between two checks for an interrupt.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// How long interrupted code has to end by itself.
const TIMEOUT: Duration = Duration::from_millis(30);

/// Stops the runs, from another thread.
#[pyclass(frozen, module = "tidegate._native")]
#[derive(Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

#[pymethods]
impl Stop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Makes the runs end soon, with an error.
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// How to run.
pub struct Asked {
    /// The quantities to keep; empty: all; none: none.
    series: Option<Vec<String>>,
    bin: Duration,
    threads: usize,
}

impl Asked {
    /// From Python's arguments.
    ///
    /// # Errors
    /// If a number is out of range.
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

    /// The result with the requested curves.
    pub fn kept(&self, mut result: RunResult) -> RunResult {
        if let Some(wanted) = self.series.as_ref().filter(|wanted| !wanted.is_empty()) {
            result.series.retain(|s| wanted.contains(&s.quantity));
        }
        result
    }
}

/// Runs `jobs`, each by the number of its variant and of the run within that; the results are in their order.
///
/// # Errors
/// If it was stopped; and the exception of an interrupt's handler, of `progress`, or of a law or sender in Python,
/// after everything has been stopped.
pub fn execute(
    py: Python<'_>,
    variants: &[Variant],
    jobs: &[(usize, usize)],
    asked: &Asked,
    stop: &Stop,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<RunResult>> {
    let seconds = jobs.iter().map(|job| variants[job.0].scenario.duration_s);
    let ended = Arc::default();
    let work = Work {
        variants,
        jobs,
        asked,
        stop: &stop.0,
        trouble: Trouble::stopping(&ended),
        ended,
        passed_us: AtomicU64::new(0),
        all_s: seconds.sum(),
        callers: Mutex::default(),
    };
    let calls_python = (0..jobs.len()).any(|number| work.own(number).is_some());
    let results = if calls_python && (asked.threads == 1 || jobs.len() == 1) {
        work.here(progress.map(|progress| progress.clone().unbind()))
    } else {
        work.on_threads(py, progress)?
    };
    if let Some(error) = work.trouble.take() {
        return Err(error);
    }
    match results {
        Ok(results) if results.len() == jobs.len() => Ok(results),
        Ok(_) => Err(PyRuntimeError::new_err("stopped")),
        Err(error) => Err(PyRuntimeError::new_err(format!("{error:#}"))),
    }
}

/// The runs in progress.
struct Work<'a> {
    variants: &'a [Variant],
    jobs: &'a [(usize, usize)],
    asked: &'a Asked,
    /// Set by another thread that wants the work to end.
    stop: &'a AtomicBool,
    /// Set when the work ends, for that or for another reason.
    ended: Arc<AtomicBool>,
    /// The exceptions of laws and senders in Python.
    trouble: Trouble,
    /// Virtual time that is done, and the total.
    passed_us: AtomicU64,
    all_s: f64,
    /// Threads that call laws and senders in Python, by Python's numbers.
    callers: Mutex<Vec<c_long>>,
}

impl Work<'_> {
    fn run(&self, number: usize) -> (&Variant, &Run) {
        let (variant, run) = self.jobs[number];
        let variant = &self.variants[variant];
        (variant, &variant.scenario.runs[run])
    }

    /// A run's laws and senders in Python.
    fn own(&self, number: usize) -> Option<&Arc<Codes>> {
        let (variant, run) = self.run(number);
        variant.own_of(run)
    }

    /// Performs one run; `told` is called for each step.
    fn perform(
        &self,
        number: usize,
        told: &(dyn Fn() + Sync),
    ) -> anyhow::Result<Option<RunResult>> {
        let (variant, run) = self.run(number);
        let options = Options {
            stop: Arc::clone(&self.ended),
            progress: &|further| {
                let further = further.as_micros() as u64;
                self.passed_us.fetch_add(further, Ordering::Relaxed);
                if self.stop.load(Ordering::Relaxed) {
                    self.ended.store(true, Ordering::Relaxed);
                }
                told();
            },
            own: self.own(number).map(|own| own.at_work(&self.trouble)),
            ..self.asked.options()
        };
        let result = run_one(&variant.scenario, &variant.inputs, run, &options)?;
        Ok(result.map(|result| self.asked.kept(result)))
    }

    fn tell(&self, progress: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let Some(progress) = progress else {
            return Ok(());
        };
        let done = self.passed_us.load(Ordering::Relaxed) as f64 / 1e6;
        progress.call1((done, self.all_s)).map(drop)
    }

    /// Performs one run after another on this thread, which keeps the interpreter's lock if Python is called: taking it
    /// anew for each call takes longer than many a call. An interrupt is raised inside Python.
    fn here(&self, progress: Option<Py<PyAny>>) -> anyhow::Result<Vec<RunResult>> {
        let last = Mutex::new(Instant::now());
        let told = || {
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            if last.elapsed() < POLL_INTERVAL {
                return;
            }
            *last = Instant::now();
            let heard = Python::attach(|py| {
                // Lets other threads take the lock, if they want to.
                py.detach(|| {});
                py.check_signals()?;
                self.tell(progress.as_ref().map(|progress| progress.bind(py)))
            });
            if let Err(error) = heard {
                self.trouble.keep(error);
            }
        };
        let mut results = Vec::new();
        for number in 0..self.jobs.len() {
            let result = match self.own(number) {
                Some(_) => self.perform(number, &told),
                None => Python::attach(|py| py.detach(|| self.perform(number, &told))),
            };
            let Some(result) = result? else { break };
            results.push(result);
        }
        Ok(results)
    }

    /// Performs the runs on threads, while the interpreter is free except where Python is called; interrupts are
    /// noticed.
    fn on_threads(
        &self,
        py: Python<'_>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<anyhow::Result<Vec<RunResult>>> {
        let work = |number: usize| match self.own(number) {
            Some(_) => self.calling_python(|| self.perform(number, &|| {})),
            None => self.perform(number, &|| {}),
        };
        let all = || {
            let mut results = Vec::new();
            let take = |_, result| {
                results.push(result);
                Ok(())
            };
            let done = in_order(self.jobs.len(), self.asked.threads, work, take, || {});
            done.map(|_| results)
        };
        in_background(
            py,
            all,
            || self.tell(progress),
            |over| {
                self.ended.store(true, Ordering::Relaxed);
                self.interrupt(py, over);
            },
        )
    }

    /// Performs `work` on a thread that calls Python: it has one interpreter state for all calls, and is registered.
    fn calling_python<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        Python::attach(|py| {
            let ident = py.import("threading").and_then(|threading| {
                let ident = threading.call_method0("get_ident")?;
                ident.extract::<c_long>()
            });
            let callers = || self.callers.lock().unwrap_or_else(PoisonError::into_inner);
            if let Ok(ident) = ident {
                callers().push(ident);
                let result = py.detach(work);
                callers().retain(|&other| other != ident);
                return result;
            }
            py.detach(work)
        })
    }

    /// Until the work is over, interrupts code that does not end by itself, for example a law in an endless loop.
    fn interrupt(&self, py: Python<'_>, over: &AtomicBool) {
        let since = Instant::now();
        while !over.load(Ordering::Acquire) {
            py.detach(|| thread::park_timeout(POLL_INTERVAL));
            if since.elapsed() < TIMEOUT {
                continue;
            }
            let callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
            for &ident in callers.iter() {
                // SAFETY: the interpreter's lock is held; a thread that is not there any more is not found.
                unsafe {
                    let interrupt = pyo3::ffi::PyExc_KeyboardInterrupt;
                    pyo3::ffi::PyThreadState_SetAsyncExc(ident, interrupt);
                }
            }
        }
    }
}

/// Performs `work` on a thread, while the interpreter is free, interrupts are noticed, and `tell` is called. If one of
/// them raises an exception, `stop` has to make the work end; it gets the flag that is set when it has.
///
/// # Errors
/// That exception.
pub fn in_background<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send,
    tell: impl Fn() -> PyResult<()>,
    stop: impl FnOnce(&AtomicBool),
) -> PyResult<T> {
    let over = AtomicBool::new(false);
    let caller = thread::current();
    let done = thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let done = work();
            over.store(true, Ordering::Release);
            caller.unpark();
            done
        });
        let heard = watch(py, &over, tell);
        if heard.is_err() {
            stop(&over);
        }
        let done = py.detach(|| worker.join());
        heard.map(|()| done)
    })?;
    Ok(done.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

/// Waits until the work is over, and checks for interrupts meanwhile.
fn watch(py: Python<'_>, over: &AtomicBool, tell: impl Fn() -> PyResult<()>) -> PyResult<()> {
    while !over.load(Ordering::Acquire) {
        py.detach(|| thread::park_timeout(POLL_INTERVAL));
        py.check_signals()?;
        tell()?;
    }
    Ok(())
}
