//! Rates that take turns, as scenarios spell them.

use crate::complaints::Complaints;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tidegate_link::{RateSeries, StepsError};

/// Rates that take turns.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SlotsSpec {
    /// The rates in Mbit/s.
    #[schemars(inner(range(min = 0.0, max = 100_000.0)))]
    pub mbps: Vec<f64>,
    /// Seconds of each.
    #[schemars(range(min = 0.001, max = 86_400.0))]
    pub slot_s: f64,
    /// Seconds after the start at which the first of them begins.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 86_400.0))]
    pub late_s: f64,
}

impl SlotsSpec {
    pub(super) fn complain(&self, to: &mut Complaints) {
        if to.sound(["slots"])
            && let Err(refusal) = self.resolve()
        {
            to.say("slots.mbps", format!("rate.slots.mbps: {refusal}"));
        }
    }

    /// The series; times make sense.
    pub(super) fn resolve(&self) -> Result<RateSeries, StepsError> {
        let rates: Vec<f64> = self.mbps.iter().map(|mbps| mbps * 1e6).collect();
        let [slot, late] = [self.slot_s, self.late_s].map(Duration::from_secs_f64);
        RateSeries::slots(&rates, slot, late)
    }
}
