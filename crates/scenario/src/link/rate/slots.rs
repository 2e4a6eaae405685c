//! Rates that take turns, as scenarios spell them.

use super::outside_a_day;
use crate::link::within;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tidegate_link::{RateSeries, StepsError};

/// Rates that take turns.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SlotsSpec {
    /// The rates in Mbit/s.
    pub mbps: Vec<f64>,
    /// Seconds of each.
    pub slot_s: f64,
    /// Seconds after the start at which the first of them begins.
    #[serde(default)]
    pub late_s: f64,
}

impl SlotsSpec {
    pub(super) fn complaint(&self) -> Option<String> {
        within("rate.slots.slot_s", self.slot_s, 86_400.0)
            .or_else(|| {
                let late = outside_a_day(&[[self.late_s, 0.0]])?;
                Some(format!("rate.slots.late_s is {late}, expected 0 to 86400"))
            })
            .or_else(|| {
                let fast = self.mbps.iter().find(|mbps| **mbps > 1e6)?;
                Some(format!(
                    "rate.slots.mbps, a rate of {fast} Mbit/s, expected at most 1000000"
                ))
            })
            .or_else(|| {
                self.resolve().err()?;
                Some("rate.slots.mbps, expected rates of at least 0, one above 0".into())
            })
    }

    /// The series; times make sense.
    pub(super) fn resolve(&self) -> Result<RateSeries, StepsError> {
        let rates: Vec<f64> = self.mbps.iter().map(|mbps| mbps * 1e6).collect();
        let [slot, late] = [self.slot_s, self.late_s].map(Duration::from_secs_f64);
        RateSeries::slots(&rates, slot, late)
    }
}
