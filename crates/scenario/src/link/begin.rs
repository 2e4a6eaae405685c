//! Where a link's recordings begin, as scenarios spell it.

use super::{LinkSpec, RateSpec};
use crate::complaints::Complaints;
use std::time::Duration;
use tidegate_basics::random::Draw;

/// The place in recordings that a seed stands for, as a part of their length.
pub(crate) fn place_of(seed: u64) -> f64 {
    Draw::new(seed).part()
}

impl LinkSpec {
    /// Complains of a place where nothing is recorded, and of two places.
    pub(super) fn complain_of_begin(&self, to: &mut Complaints) {
        let recorded = self.is_recorded();
        for (key, given) in [
            ("begin_s", self.begin_s.is_some()),
            ("begin_by_seed", self.begin_by_seed),
        ] {
            to.expect(recorded || !given, key, || {
                format!(
                    "{key} is given, but nothing is recorded; expected a rate of the kind trace, series or scheduled, or \
                     a delay_trace"
                )
            });
        }
        let both = self.begin_by_seed && self.begin_s.is_some();
        to.expect(!both, "begin_by_seed", || {
            "begin_by_seed and begin_s are given; expected one of them".into()
        });
    }

    /// Whether its rate or its delay is a recording.
    fn is_recorded(&self) -> bool {
        let rate = matches!(
            self.rate,
            RateSpec::Trace(_) | RateSpec::Series(_) | RateSpec::Scheduled(_)
        );
        rate || self.delay_trace.is_some()
    }

    /// Whether every seed plays the same piece of its recordings.
    pub(crate) fn plays_one_piece(&self) -> bool {
        self.is_recorded() && !self.begin_by_seed
    }

    /// How far into a recording of that length the run begins, in whole milliseconds, as recorded opportunities are.
    /// `place` is that of the scenario's seed.
    pub(super) fn ahead(&self, period: Duration, place: f64) -> Duration {
        let period_s = period.as_secs_f64();
        let seconds = match self.begin_s {
            _ if period.is_zero() => 0.0,
            _ if self.begin_by_seed => place * period_s,
            begin_s => begin_s.unwrap_or(0.0) % period_s,
        };
        Duration::from_millis((seconds * 1e3) as u64)
    }
}
