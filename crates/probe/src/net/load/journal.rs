//! What a load's threads have to tell: which probes were asked and answered, when something was heard, what went wrong.

use super::super::socket::now;
use crate::analysis::responsiveness::{Kind, Probe};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tidegate_time::Instant;

/// It.
#[derive(Debug)]
pub struct Journal(Mutex<Entries>);

#[derive(Debug)]
struct Entries {
    /// Probes that wait for their answer.
    asked: Vec<(Kind, Instant)>,
    answered: Vec<Probe>,
    heard: Instant,
    /// How often each thing went wrong.
    failures: BTreeMap<String, usize>,
}

impl Journal {
    /// Of a load that begins at `start`.
    pub fn new(start: Instant) -> Self {
        Self(Mutex::new(Entries {
            asked: Vec::new(),
            answered: Vec::new(),
            heard: start,
            failures: BTreeMap::new(),
        }))
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A probe is sent: when.
    pub fn ask(&self, kind: Kind) -> Instant {
        let at = now();
        self.entries().asked.push((kind, at));
        at
    }

    /// The probe that was sent then is answered.
    pub fn answer(&self, kind: Kind, asked: Instant) {
        let heard = now();
        let ms = (heard - asked).as_secs_f64() * 1e3;
        self.give_up(kind, asked);
        let mut entries = self.entries();
        entries.heard = heard;
        entries.answered.push(Probe { kind, heard, ms });
    }

    /// It will not be.
    pub fn give_up(&self, kind: Kind, asked: Instant) {
        let mut entries = self.entries();
        let place = entries.asked.iter().position(|it| *it == (kind, asked));
        if let Some(place) = place {
            entries.asked.swap_remove(place);
        }
    }

    /// Something of the load has come.
    pub fn hear(&self) {
        self.entries().heard = now();
    }

    /// A connection could not be opened, or broke.
    pub fn failed(&self, why: &io::Error) {
        *self.entries().failures.entry(why.to_string()).or_default() += 1;
    }

    /// When something came last.
    pub fn heard(&self) -> Instant {
        self.entries().heard
    }

    /// Probes that were answered after that moment.
    pub fn answered_since(&self, since: Instant) -> Vec<Probe> {
        let entries = self.entries();
        let recent = entries.answered.iter().filter(|p| p.heard > since);
        recent.copied().collect()
    }

    /// The longest round trip so far.
    pub fn longest(&self) -> Duration {
        let entries = self.entries();
        let longest = entries.answered.iter().map(|p| p.ms).fold(0.0, f64::max);
        Duration::from_secs_f64(longest / 1e3)
    }

    /// How many of a kind wait for their answer, and for how long the first of them does.
    pub fn waiting(&self, kind: Kind) -> (usize, Duration) {
        let at = now();
        let entries = self.entries();
        let waiting = entries.asked.iter().filter(|(known, _)| *known == kind);
        let waits = waiting.map(|(_, asked)| at - *asked);
        waits.fold((0, Duration::ZERO), |(count, longest), wait| {
            (count + 1, longest.max(wait))
        })
    }

    /// What went wrong, and how often.
    pub fn failures(&self) -> Vec<(String, usize)> {
        let entries = self.entries();
        let failures = entries.failures.iter();
        failures.map(|(why, count)| (why.clone(), *count)).collect()
    }
}
