//! A running load: its rate, its probes, and when enough is known.

use super::load::Load;
use super::socket::now;
use crate::analysis::responsiveness::{
    AVERAGED, Confidence, Course, INTERVAL, Kind, Means, Responsiveness, STAGE, Score,
};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// The longest time to wait for an answer, whatever the rate.
const LONGEST: Duration = Duration::from_secs(120);

/// A load that has sent all that it may is over when nothing has come for as long as this many bytes take at its rate.
const QUIET_BYTES: f64 = 16e3;
const QUIET: [f64; 2] = [2.0, 30.0];

/// The results so far.
#[derive(Debug)]
pub struct Watch {
    begun: Instant,
    intervals: usize,
    carried: Course,
    goodput: Course,
    goodput_confidence: Confidence,
    scores: Course,
    score: Option<Score>,
    means: Means,
    /// Means of the recently answered probes.
    recent: Means,
}

impl Watch {
    /// For a load that began at `begun`.
    pub fn new(begun: Instant) -> Self {
        Self {
            begun,
            intervals: 0,
            carried: Course::default(),
            goodput: Course::default(),
            goodput_confidence: Confidence::Low,
            scores: Course::default(),
            score: None,
            means: Means::default(),
            recent: Means::default(),
        }
    }

    /// Whether the draft's time is not over yet.
    pub fn is_early(&self) -> bool {
        self.intervals < 2 * STAGE
    }

    /// Adds an interval, which took `lasted`.
    pub fn note(&mut self, load: &Load, lasted: Duration) {
        let carried = load.carried();
        // A load that has arrived completely has no rate.
        if carried > 0 || !load.has_arrived() {
            self.carried
                .note(carried as f64 * 8.0 / lasted.as_secs_f64());
            self.goodput
                .note(self.carried.moving_average().unwrap_or_default());
        }
        let answered = load.journal().answered_since(now() - window(load));
        self.recent = Means::of(&answered);
        let score = Score::of(&self.recent);
        self.score = score.or(self.score);
        self.means = self.recent.or(self.means);
        if self.goodput_confidence == Confidence::High || self.intervals >= STAGE {
            // A score of long ago shows nothing about how stable it is.
            self.scores.note(score.map_or(f64::NAN, |score| score.rpm));
        } else {
            self.goodput_confidence = self.goodput.confidence();
        }
        self.intervals += 1;
    }

    /// Whether the load is to go on.
    pub fn wants_more(&self, load: &Load) -> bool {
        if self.scores.confidence() == Confidence::High {
            return false;
        }
        if self.is_early() && !load.has_arrived() {
            return true;
        }
        Score::of(&self.recent).is_none() && self.may_be_answered(load)
    }

    /// Whether a kind without a recent answer can still get one.
    fn may_be_answered(&self, load: &Load) -> bool {
        let journal = load.journal();
        let waits = Kind::ALL
            .iter()
            .any(|kind| self.recent.of_kind(*kind).is_none() && journal.waiting(*kind).0 > 0);
        let silent = now() - journal.heard();
        waits && now() - self.begun < LONGEST && (!load.is_spent() || silent < self.quiet())
    }

    fn quiet(&self) -> Duration {
        let bps = self.goodput.moving_average().unwrap_or_default();
        let seconds = (QUIET_BYTES * 8.0 / bps.max(1.0)).clamp(QUIET[0], QUIET[1]);
        Duration::from_secs_f64(seconds)
    }

    /// The results now.
    pub fn found(self, load: &Load) -> Responsiveness {
        let missing = self.missing(load);
        // An earlier score stands only if nothing has waited longer since.
        let recent = Score::of(&self.recent);
        let earlier = self.score.filter(|_| missing.is_empty());
        // Behind losses that take long to repair, data arrive in lumps.
        let intervals = (window(load).as_secs_f64() / INTERVAL.as_secs_f64()).ceil();
        Responsiveness {
            missing,
            score: recent.or(earlier),
            means: self.means,
            score_confidence: self.scores.confidence(),
            goodput_bps: self.carried.average_of(intervals as usize),
            goodput_confidence: self.goodput_confidence,
            connections: load.connections(),
        }
    }

    /// What is missing, and why, in sentences.
    fn missing(&self, load: &Load) -> Vec<String> {
        let journal = load.journal();
        let mut said = Vec::new();
        for kind in Kind::ALL {
            let (waiting, longest) = journal.waiting(kind);
            let known = self.means.of_kind(kind);
            // The answered probes show too little if others wait for much longer.
            let is_long = longest > INTERVAL * AVERAGED as u32;
            let short = known.is_none_or(|ms| is_long && longest.as_secs_f64() * 1e3 > 2.0 * ms);
            if short && waiting > 0 {
                said.push(format!(
                    "{}: {waiting} without an answer, the first of them for {:.1} s{}",
                    kind.words(),
                    longest.as_secs_f64(),
                    if known.is_some() {
                        ""
                    } else {
                        "; none was answered"
                    },
                ));
            } else if known.is_none() {
                said.push(format!("{}: none was answered", kind.words()));
            }
        }
        if !said.is_empty() && load.is_spent() {
            let lasted = (now() - self.begun).as_secs_f64();
            said.push(format!(
                "the data that it may cost were spent (--max-data), after {lasted:.0} s"
            ));
        }
        let failures = journal.failures();
        let failures = failures
            .iter()
            .map(|(why, count)| format!("{count} TCP connections broke: {why}"));
        said.extend(failures);
        said
    }
}

/// The length of "recent": the draft's four intervals; behind a longer queue, as long as the longest answer took.
fn window(load: &Load) -> Duration {
    (INTERVAL * AVERAGED as u32).max(load.journal().longest())
}
