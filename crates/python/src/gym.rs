//! Episodes for agents, one or many at once: `python/tidegate/gym.py` makes Gymnasium's environments of them.
//!
//! Numbers go to numpy as a `bytearray`, which an array takes over without copying: the stable ABI of Python 3.9 has no
//! buffer protocol, and the wheel does not depend on numpy.

use crate::own::Trouble;
use crate::session::{POLL_INTERVAL, Session};
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyDict};
use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Instant;
use tidegate_gym::{FEATURES, Shared, Step};

/// The task of an agent.
#[pyclass(frozen, module = "tidegate._native")]
pub struct Task(tidegate_gym::Task);

#[pymethods]
impl Task {
    #[new]
    #[pyo3(signature = (*, act, reward, step_ms, start_ms, history, delta))]
    fn new(
        act: &str,
        reward: &str,
        step_ms: f64,
        start_ms: f64,
        history: usize,
        delta: f64,
    ) -> PyResult<Self> {
        within("step_ms", step_ms, step_ms > 0.0 && step_ms <= 1e6)?;
        within("start_ms", start_ms, (0.0..=1e9).contains(&start_ms))?;
        within("delta", delta, delta > 0.0 && delta <= 1e3)?;
        within("history", history, (1..=1_000_000).contains(&history))?;
        Ok(Self(tidegate_gym::Task {
            act: one_of("act", act, "window, cwnd, rate, none")?,
            reward: one_of("reward", reward, "tide, pcc, orca")?,
            step_ms,
            start_ms,
            history,
            delta,
        }))
    }
}

fn within(name: &str, value: impl std::fmt::Display, fits: bool) -> PyResult<()> {
    let message = || format!("{name} is {value}, which is too small or too large");
    fits.then_some(())
        .ok_or_else(|| PyValueError::new_err(message()))
}

fn one_of<T: FromStr>(name: &str, value: &str, known: &str) -> PyResult<T> {
    let unknown =
        |_| PyValueError::new_err(format!("{name} is {value:?}, expected one of {known}"));
    value.parse().map_err(unknown)
}

/// An episode over a session.
#[pyclass(frozen, module = "tidegate._native")]
pub struct Episode {
    session: Shared,
    trouble: Trouble,
    inner: Mutex<tidegate_gym::Episode>,
}

#[pymethods]
impl Episode {
    /// Goes to the start of the task.
    #[new]
    fn new(py: Python<'_>, session: &Session, task: &Task, flow: usize) -> PyResult<Self> {
        let new = Self {
            session: session.shared(),
            trouble: session.trouble(),
            inner: Mutex::new(tidegate_gym::Episode::new(task.0, flow)),
        };
        new.travel(py, |_, _| (), |_, _| ())?;
        Ok(new)
    }

    /// The observation: 32-bit numbers.
    fn seen<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyByteArray>> {
        numbers(py, lock(&self.inner).seen())
    }

    /// Acts and goes on; returns the observation, the reward, whether the run is over, and the results of the step.
    fn step<'py>(
        &self,
        py: Python<'py>,
        action: f64,
    ) -> PyResult<(Bound<'py, PyByteArray>, f64, bool, Bound<'py, PyDict>)> {
        if action.is_nan() {
            let message = "the action is NaN, expected a number from -1 to 1";
            return Err(PyValueError::new_err(message));
        }
        let step = self.travel(
            py,
            |episode, session| episode.act(session, action),
            |episode, session| episode.observe(session),
        )?;
        Ok((self.seen(py)?, step.reward, step.over, told(py, &step)?))
    }
}

impl Episode {
    /// Does `first`, goes on to the end of the episode's start or step, and does `last`; without the interpreter's
    /// lock, and with a check for interrupts now and then.
    fn travel<T: Send>(
        &self,
        py: Python<'_>,
        first: impl FnOnce(&mut tidegate_gym::Episode, &mut tidegate_sim::Session) + Send,
        last: impl FnOnce(&mut tidegate_gym::Episode, &mut tidegate_sim::Session) -> T + Send,
    ) -> PyResult<T> {
        let (mut first, mut last) = (Some(first), Some(last));
        loop {
            let arrived = py.detach(|| {
                let mut session = lock(&self.session);
                let session = session.as_mut()?;
                let episode = &mut *lock(&self.inner);
                if let Some(first) = first.take() {
                    first(episode, session);
                }
                let began = Instant::now();
                let arrived = episode.go_on(session, &|| began.elapsed() < POLL_INTERVAL);
                let last = arrived.then(|| last.take()).flatten();
                Some(last.map(|last| last(episode, session)))
            });
            raised(&self.trouble)?;
            if let Some(done) = arrived.ok_or_else(finished)? {
                return Ok(done);
            }
            py.check_signals()?;
        }
    }
}

/// Raises the exception of Python code, if there was one.
fn raised(trouble: &Trouble) -> PyResult<()> {
    trouble.take().map_or(Ok(()), Err)
}

/// The results of a step, for observers.
fn told<'py>(py: Python<'py>, step: &Step) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item(intern!(py, "now_s"), step.now_s)?;
    dict.set_item(intern!(py, "goodput_bps"), step.goodput_bps)?;
    dict.set_item(intern!(py, "sent_bps"), step.sent_bps)?;
    dict.set_item(intern!(py, "lost_bps"), step.lost_bps)?;
    dict.set_item(intern!(py, "rtt_ms"), step.rtt_ms)?;
    dict.set_item(intern!(py, "queue_delay_ms"), step.queue_delay_ms)?;
    dict.set_item(intern!(py, "dropped"), step.dropped)?;
    Ok(dict)
}

fn numbers<'py>(py: Python<'py>, numbers: &[f32]) -> PyResult<Bound<'py, PyByteArray>> {
    PyByteArray::new_with(py, size_of_val(numbers), |bytes| {
        put(bytes, numbers);
        Ok(())
    })
}

/// Episodes that are stepped together, all with the same length of history.
#[pyclass(frozen, module = "tidegate._native")]
pub struct Vector {
    inner: Mutex<tidegate_gym::Vector>,
    /// The exceptions of laws and senders in Python, by place.
    troubles: Mutex<BTreeMap<usize, Trouble>>,
    /// Numbers in an observation.
    width: usize,
}

/// 64-bit numbers that are returned for each episode: its reward, six results of the step, and the packets dropped.
const WORDS: usize = 8;

/// The state of all episodes, and whether the run of one is over.
type Standing<'py> = (Bound<'py, PyByteArray>, bool);

#[pymethods]
impl Vector {
    /// Places for `count` episodes, for `threads` threads, the caller's included.
    #[new]
    fn new(count: usize, threads: usize, history: usize) -> Self {
        Self {
            inner: Mutex::new(tidegate_gym::Vector::new(count, threads)),
            troubles: Mutex::default(),
            width: FEATURES * history,
        }
    }

    /// Puts an episode into a place, at a session's start.
    fn place(&self, number: usize, session: &Session, task: &Task, flow: usize) -> PyResult<()> {
        let vector = self.alone()?;
        if number >= vector.count() || FEATURES * task.0.history != self.width {
            return Err(PyIndexError::new_err("no such place"));
        }
        vector.place(number, session.shared(), task.0, flow);
        lock(&self.troubles).insert(number, session.trouble());
        Ok(())
    }

    /// Takes the new episodes to their start; returns the state of all, and whether the run of one is over.
    ///
    /// The state has, for all of them: rewards; `now_s`, `goodput_bps`, `sent_bps`, `lost_bps`, `rtt_ms` and
    /// `queue_delay_ms`; packets dropped (64-bit integers); the observations (32-bit numbers, an episode's together); a
    /// byte each: whether its run is over; and another: whether it has taken a step, or is at its start.
    fn begin<'py>(&self, py: Python<'py>) -> PyResult<Standing<'py>> {
        self.go_on(py, self.alone()?)
    }

    /// Acts on all but the new episodes, with 32-bit actions, goes on, and returns the same as [`Self::begin`].
    fn step<'py>(&self, py: Python<'py>, actions: &[u8]) -> PyResult<Standing<'py>> {
        let vector = self.alone()?;
        let (numbers, rest) = actions.as_chunks();
        if numbers.len() != vector.count() || !rest.is_empty() {
            return Err(PyValueError::new_err("not as many actions as episodes"));
        }
        let actions = || numbers.iter().map(|&bytes| f32::from_ne_bytes(bytes));
        if let Some(number) = actions().position(f32::is_nan) {
            let message = format!("action {number} is NaN, expected a number from -1 to 1");
            return Err(PyValueError::new_err(message));
        }
        for (number, action) in actions().enumerate() {
            vector.act(number, action.into());
        }
        self.go_on(py, vector)
    }
}

impl Vector {
    fn alone(&self) -> PyResult<MutexGuard<'_, tidegate_gym::Vector>> {
        match self.inner.try_lock() {
            Ok(vector) => Ok(vector),
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(
                "another thread is stepping these environments",
            )),
        }
    }

    fn go_on<'py>(
        &self,
        py: Python<'py>,
        mut vector: MutexGuard<'_, tidegate_gym::Vector>,
    ) -> PyResult<Standing<'py>> {
        let vector = &mut *vector;
        while !py.detach(|| vector.go_on()) {
            py.check_signals()?;
        }
        lock(&self.troubles).values().try_for_each(raised)?;
        let size = vector.count() * (WORDS * 8 + self.width * 4 + 2);
        let mut over = false;
        let bytes = PyByteArray::new_with(py, size, |bytes| {
            over = self.write(vector, bytes).ok_or_else(finished)?;
            Ok(())
        })?;
        Ok((bytes, over))
    }

    /// Writes the state of the episodes, and returns whether the run of one is over; none if one has no session any
    /// more.
    fn write(&self, vector: &tidegate_gym::Vector, bytes: &mut [u8]) -> Option<bool> {
        let (count, width) = (vector.count(), self.width);
        let (words, rest) = bytes.split_at_mut(count * WORDS * 8);
        let (seen, flags) = rest.split_at_mut(count * width * 4);
        let (over, stepped) = flags.split_at_mut(count);
        for (number, seen) in seen.chunks_exact_mut(width * 4).enumerate() {
            vector.read(number, |outcome| {
                let step = outcome.step.unwrap_or_default();
                let now_s = outcome.now_s;
                for (column, word) in row(&step, now_s).into_iter().enumerate() {
                    words[(column * count + number) * 8..][..8].copy_from_slice(&word);
                }
                put(seen, outcome.seen);
                over[number] = step.over.into();
                stepped[number] = outcome.step.is_some().into();
            })?;
        }
        Some(over.contains(&1))
    }
}

/// The 64-bit numbers of a step.
fn row(step: &Step, now_s: f64) -> [[u8; 8]; WORDS] {
    [
        step.reward.to_ne_bytes(),
        now_s.to_ne_bytes(),
        step.goodput_bps.to_ne_bytes(),
        step.sent_bps.to_ne_bytes(),
        step.lost_bps.to_ne_bytes(),
        step.rtt_ms.to_ne_bytes(),
        step.queue_delay_ms.to_ne_bytes(),
        step.dropped.to_ne_bytes(),
    ]
}

fn put(bytes: &mut [u8], numbers: &[f32]) {
    for (place, number) in bytes.as_chunks_mut().0.iter_mut().zip(numbers) {
        *place = number.to_ne_bytes();
    }
}

fn finished() -> PyErr {
    PyValueError::new_err("the session is finished")
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
