//! The records of a load's threads: probes and answers, when data last came, and failures.

use super::super::socket::now;
use crate::analysis::responsiveness::{Kind, Probe};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// The journal.
#[derive(Debug)]
pub struct Journal(Mutex<Entries>);

#[derive(Debug)]
struct Entries {
    /// Probes that wait for their answer.
    asked: Vec<(Kind, Instant)>,
    answered: Vec<Probe>,
    heard: Instant,
    /// How often each failure occurred.
    failures: BTreeMap<String, usize>,
}

impl Journal {
    /// The journal of a load that begins at `start`.
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

    /// A probe is sent. Returns when.
    pub fn ask(&self, kind: Kind) -> Instant {
        let at = now();
        self.entries().asked.push((kind, at));
        at
    }

    /// The probe that was sent at `asked` is answered.
    pub fn answer(&self, kind: Kind, asked: Instant) {
        let heard = now();
        let ms = (heard - asked).as_secs_f64() * 1e3;
        self.give_up(kind, asked);
        let mut entries = self.entries();
        entries.heard = heard;
        entries.answered.push(Probe { kind, heard, ms });
    }

    /// It will not be answered.
    pub fn give_up(&self, kind: Kind, asked: Instant) {
        let mut entries = self.entries();
        let place = entries.asked.iter().position(|it| *it == (kind, asked));
        if let Some(place) = place {
            entries.asked.swap_remove(place);
        }
    }

    /// Data of the load have come.
    pub fn hear(&self) {
        self.entries().heard = now();
    }

    /// A connection could not be opened, or broke.
    pub fn failed(&self, why: &io::Error) {
        *self.entries().failures.entry(why.to_string()).or_default() += 1;
    }

    /// When data last came.
    pub fn heard(&self) -> Instant {
        self.entries().heard
    }

    /// Probes that were answered after `since`.
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

    /// How many probes of a kind wait for their answer, and for how long the first of them has waited.
    pub fn waiting(&self, kind: Kind) -> (usize, Duration) {
        let at = now();
        let entries = self.entries();
        let waiting = entries.asked.iter().filter(|(known, _)| *known == kind);
        let waits = waiting.map(|(_, asked)| at - *asked);
        waits.fold((0, Duration::ZERO), |(count, longest), wait| {
            (count + 1, longest.max(wait))
        })
    }

    /// The failures, and how often each occurred.
    pub fn failures(&self) -> Vec<(String, usize)> {
        let entries = self.entries();
        let failures = entries.failures.iter();
        failures.map(|(why, count)| (why.clone(), *count)).collect()
    }
}
