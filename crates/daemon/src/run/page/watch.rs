//! Watches the agent for the page: it samples every second, and reads all flows when a browser asks, at most once a
//! second however many browsers there are.

use super::history::{Course, History, Observation};
use super::now::{Now, Summary};
use super::source::Source;
use crate::top::model::Model;
use anyhow::{Context, Result};
use serde::Serialize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Time between two samples.
const SAMPLE: Duration = Duration::from_secs(1);
/// How long an answer is reused.
const FRESH: Duration = Duration::from_millis(900);
/// A rate takes two looks: time between them, if the last one is too old.
const BETWEEN: Duration = Duration::from_millis(250);
/// Without requests for this long, we free the last state: there may be a hundred thousand flows.
const FORGET: Duration = Duration::from_secs(10);
/// Samples in an hour.
const HOUR: u32 = 3600;

/// The samples, and the state for the last request.
pub struct Watch<S> {
    source: S,
    history: Mutex<History>,
    seen: Mutex<Option<Seen>>,
}

/// The state at the last request.
struct Seen {
    model: Model,
    at: Instant,
    body: Vec<u8>,
}

#[derive(Serialize)]
struct Day<'a> {
    minutes: Course<'a>,
    day: Summary<'a>,
    hours: Course<'a>,
    week: Summary<'a>,
}

impl<S: Source> Watch<S> {
    /// Begins without samples.
    pub fn new(source: S) -> Self {
        Self {
            source,
            history: Mutex::default(),
            seen: Mutex::default(),
        }
    }

    /// The state now, as JSON; none once the agent has ended.
    pub fn now(&self) -> Option<Result<Vec<u8>>> {
        // Requests that come meanwhile wait for the lock, and get the same answer.
        let mut seen = lock(&self.seen);
        if let Some(seen) = seen.as_ref().filter(|seen| seen.at.elapsed() < FRESH) {
            return Some(Ok(seen.body.clone()));
        }
        let before = seen.take().map(|seen| seen.model);
        let model = match self.look(before)? {
            Ok(model) => model,
            Err(error) => return Some(Err(error)),
        };
        let at = Instant::now();
        let body = {
            let history = lock(&self.history);
            serde_json::to_vec(&Now::of(&model, &history, self.source.now_us()))
        };
        Some(body.context("write what was seen").map(|body| {
            let answer = body.clone();
            *seen = Some(Seen { model, at, body });
            answer
        }))
    }

    /// The state with rates, which take two looks.
    fn look(&self, before: Option<Model>) -> Option<Result<Model>> {
        let is_new = before.is_none();
        let mut model = before.unwrap_or_default();
        for look in 0..=u8::from(is_new) {
            if look == 1 {
                thread::sleep(BETWEEN);
            }
            match self.source.snapshot()? {
                Ok(snapshot) => model.update(snapshot),
                Err(error) => return Some(Err(error)),
            }
        }
        Some(Ok(model))
    }

    /// The last day and the last week, as JSON.
    pub fn day(&self) -> Option<Result<Vec<u8>>> {
        let known = self.source.past()?;
        let written = known.and_then(|past| {
            let (history, now_us) = (lock(&self.history), self.source.now_us());
            let day = Day {
                minutes: history.minutes(now_us),
                day: Summary::of(&past.day, &past.about),
                hours: history.hours(now_us),
                week: Summary::of(&past.week, &past.about),
            };
            serde_json::to_vec(&day).context("write the last day")
        });
        Some(written)
    }

    /// Takes a sample.
    pub fn note(&self, observation: Observation) {
        lock(&self.history).note(observation);
    }

    /// Takes the sample of a second. None: the agent has ended.
    fn step(&self) -> Option<()> {
        // If a sample fails it is missing; the next one covers its time.
        if let Ok(observation) = self.source.observe()? {
            self.note(observation);
        }
        let mut seen = lock(&self.seen);
        if seen.as_ref().is_some_and(|seen| seen.at.elapsed() > FORGET) {
            *seen = None;
        }
        Some(())
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread that takes samples, until this value is dropped or the agent ends.
pub struct Watching(Arc<AtomicBool>);

impl Watching {
    /// Starts it.
    ///
    /// # Errors
    /// When there is no thread.
    pub fn start<S: Source>(watch: Arc<Watch<S>>) -> Result<Self> {
        let ended = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&ended);
        thread::Builder::new()
            .name("page".into())
            .spawn(move || sample(&watch, &seen))
            .context("start a thread")?;
        Ok(Self(ended))
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn sample<S: Source>(watch: &Watch<S>, ended: &AtomicBool) {
    let mut next = Instant::now();
    for sample in 0_u32.. {
        if ended.load(Ordering::Relaxed) || watch.step().is_none() {
            return;
        }
        if sample % HOUR == HOUR - 1 && watch.source.mark_hour().is_none() {
            return;
        }
        // After the machine has slept there is one sample, not one for each that was missed.
        next = (next + SAMPLE).max(Instant::now());
        thread::sleep(next - Instant::now());
    }
}
