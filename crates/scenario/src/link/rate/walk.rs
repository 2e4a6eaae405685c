//! A walk through a cell, as scenarios spell it.

use super::outside_a_day;
use crate::link::{milliseconds, within};
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

impl WalkSpec {
    pub(super) fn complaint(&self) -> Option<String> {
        within("walk.peak_mbps", self.peak_mbps, 1e6)
            .or_else(|| within("walk.coherence_ms", self.coherence_ms, 60_000.0))
            .or_else(|| {
                let ok = (0.0..=100.0).contains(&self.fading_db);
                (!ok).then(|| format!("walk.fading_db is {}, expected 0 to 100", self.fading_db))
            })
            .or_else(|| {
                let late = outside_a_day(&self.points)?;
                Some(format!(
                    "walk.points, a point at {late} s, expected 0 to 86400"
                ))
            })
            .or_else(|| {
                let refusal = self.resolve(0).err()?;
                Some(format!("walk.points: {refusal}"))
            })
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
