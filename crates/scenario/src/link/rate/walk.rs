//! A walk through a cell, as scenarios spell it.

use super::outside_a_day;
use crate::complaints::Complaints;
use crate::link::milliseconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tidegate_link::{Fading, SignalWalk, WalkError};

/// A signal that is piecewise linear in time, and the rate that LTE's modulation and coding schemes
/// make of it: none below −6.9 dB, all of `peak_mbps` from 19.8 dB on.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WalkSpec {
    /// Rate of the best scheme, in Mbit/s.
    pub peak_mbps: f64,
    /// Seconds and signal-to-noise ratio in dB; the first at 0 s. The walk starts anew at the last
    /// one; a single point stands still.
    #[schemars(extend("unit" = "s, dB"))]
    pub points: Vec<[f64; 2]>,
    /// Standard deviation of fast fading, in dB.
    #[serde(default)]
    pub fading_db: f64,
    /// How long the fading takes to change, in milliseconds.
    #[serde(default = "coherence_ms")]
    pub coherence_ms: f64,
    /// Its own seed; the scenario's by default.
    pub seed: Option<u64>,
}

fn coherence_ms() -> f64 {
    20.0
}

fn within(value: f64, max: f64) -> bool {
    value > 0.0 && value <= max
}

impl WalkSpec {
    pub(super) fn complain(&self, to: &mut Complaints) {
        let (peak, coherence) = (self.peak_mbps, self.coherence_ms);
        to.within("walk.peak_mbps", peak, 1e6);
        to.within("walk.coherence_ms", coherence, 60_000.0);
        let fading_ok = (0.0..=100.0).contains(&self.fading_db);
        to.expect(fading_ok, "walk.fading_db", || {
            format!("walk.fading_db is {}, expected 0 to 100", self.fading_db)
        });
        if let Some(late) = outside_a_day(&self.points) {
            to.say(
                "walk.points",
                format!("walk.points, a point at {late} s, expected 0 to 86400"),
            );
        } else if fading_ok
            && within(peak, 1e6)
            && within(coherence, 60_000.0)
            && let Err(refusal) = self.resolve(0)
        {
            to.say("walk.points", format!("walk.points: {refusal}"));
        }
    }

    /// The walk, with `seed` unless it has one of its own; times and rates make sense.
    pub(super) fn resolve(&self, seed: u64) -> Result<SignalWalk, WalkError> {
        let points: Vec<_> = self
            .points
            .iter()
            .map(|&[s, db]| (Duration::from_secs_f64(s), db))
            .collect();
        let fading = (self.fading_db > 0.0).then(|| Fading {
            deviation_db: self.fading_db,
            coherence: milliseconds(self.coherence_ms),
        });
        SignalWalk::new(
            &points,
            self.peak_mbps * 1e6,
            fading,
            self.seed.unwrap_or(seed),
        )
    }
}
