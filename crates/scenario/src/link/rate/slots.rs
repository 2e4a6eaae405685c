//! Rates that take turns, as scenarios spell them.

use super::outside_a_day;
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
    pub mbps: Vec<f64>,
    /// Seconds of each.
    pub slot_s: f64,
    /// Seconds after the start at which the first of them begins.
    #[serde(default)]
    pub late_s: f64,
}

impl SlotsSpec {
    pub(super) fn complain(&self, to: &mut Complaints) {
        let length_ok = self.slot_s > 0.0 && self.slot_s <= 86_400.0;
        to.expect(length_ok, "slots.slot_s", || {
            format!(
                "rate.slots.slot_s is {}, expected more than 0 and at most 86400",
                self.slot_s
            )
        });
        let late = outside_a_day(&[[self.late_s, 0.0]]);
        to.expect(late.is_none(), "slots.late_s", || {
            format!("rate.slots.late_s is {}, expected 0 to 86400", self.late_s)
        });
        let fast = self.mbps.iter().find(|mbps| **mbps > 1e6);
        if let Some(fast) = fast {
            to.say(
                "slots.mbps",
                format!("rate.slots.mbps, a rate of {fast} Mbit/s, expected at most 1000000"),
            );
        } else if length_ok && late.is_none() && self.resolve().is_err() {
            to.say(
                "slots.mbps",
                "rate.slots.mbps, expected rates of at least 0, one above 0",
            );
        }
    }

    /// The series; times make sense.
    pub(super) fn resolve(&self) -> Result<RateSeries, StepsError> {
        let rates: Vec<f64> = self.mbps.iter().map(|mbps| mbps * 1e6).collect();
        let [slot, late] = [self.slot_s, self.late_s].map(Duration::from_secs_f64);
        RateSeries::slots(&rates, slot, late)
    }
}
