//! A walk through a cell, as scenarios spell it.

use crate::complaints::Complaints;
use crate::link::milliseconds;
use crate::ranges::pairs;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tidegate_link::{Fading, SignalWalk, WalkError};

/// A signal that is piecewise linear in time, and the rate that LTE's modulation and coding schemes
/// make of it: none below −6.9 dB, all of `peak_mbps` from 19.8 dB on.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WalkSpec {
    /// Rate of the best scheme, in Mbit/s.
    #[schemars(range(min = 0.001, max = 100_000.0))]
    pub peak_mbps: f64,
    /// Seconds and signal-to-noise ratio in dB; the first at 0 s. The walk starts anew at the last
    /// one; a single point stands still.
    #[schemars(extend("unit" = "s, dB"), schema_with = "points")]
    pub points: Vec<[f64; 2]>,
    /// Standard deviation of fast fading, in dB.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 100.0))]
    pub fading_db: f64,
    /// How long the fading takes to change, in milliseconds.
    #[serde(default = "coherence_ms")]
    #[schemars(range(min = 0.001, max = 60_000.0))]
    pub coherence_ms: f64,
    /// Its own seed; the scenario's by default.
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807u64))]
    pub seed: Option<u64>,
}

fn points(_: &mut SchemaGenerator) -> Schema {
    pairs([("s", 0.0, 86_400.0), ("dB", -200.0, 200.0)])
}

fn coherence_ms() -> f64 {
    20.0
}

impl WalkSpec {
    pub(super) fn complain(&self, to: &mut Complaints) {
        if to.sound(["walk"])
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
