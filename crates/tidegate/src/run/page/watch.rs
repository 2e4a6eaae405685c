//! Watches the agent for the page: a sample every second, and everything when somebody looks, once a second at most however
//! many look.

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

/// Between two samples.
const SAMPLE: Duration = Duration::from_secs(1);
/// For so long an answer is given again.
const FRESH: Duration = Duration::from_millis(900);
/// Between the two looks that a rate takes, where there was none of late.
const BETWEEN: Duration = Duration::from_millis(250);
/// When nobody has looked for so long what was seen is forgotten: there may be a hundred thousand flows.
const FORGET: Duration = Duration::from_secs(10);
/// Samples in an hour.
const HOUR: u32 = 3600;

/// What was seen.
pub struct Watch<S> {
    source: S,
    history: Mutex<History>,
    seen: Mutex<Option<Seen>>,
}

/// When somebody looked last.
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
    /// Nothing yet.
    pub fn new(source: S) -> Self {
        Self {
            source,
            history: Mutex::default(),
            seen: Mutex::default(),
        }
    }

    /// What there is to be seen now, as JSON; none once the agent has ended.
    pub fn now(&self) -> Option<Result<Vec<u8>>> {
        // Who comes meanwhile waits, and has the same.
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

    /// With rates, which take two looks.
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

    /// A second is over. None: the agent has ended.
    fn step(&self) -> Option<()> {
        // One that could not be taken is missing, and the next one covers its time.
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

/// The thread that takes samples, until this goes or the agent ends.
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
        // After a sleep of the machine there is one sample, not one for each that was missed.
        next = (next + SAMPLE).max(Instant::now());
        thread::sleep(next - Instant::now());
    }
}
