//! A recorded rate as a scheduler hands it out, as scenarios spell it.

use crate::link::milliseconds;
use crate::{Files, LoadError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_link::ScheduledSeries;

/// A rate series whose capacity leaves in bursts, as a cell's scheduler hands it out.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduledSpec {
    /// A file of `seconds,bits_per_second`, looped.
    pub series: String,
    /// Whether the rate is linear between the rows instead of a step at each.
    #[serde(default)]
    pub interpolate: bool,
    /// Milliseconds from one burst to the next.
    #[schemars(range(min = 0.1, max = 100.0))]
    pub burst_ms: f64,
}

impl ScheduledSpec {
    pub(super) fn resolve(&self, files: &Files) -> Result<ScheduledSeries, LoadError> {
        let series = files.series(&self.series)?;
        let steps = ScheduledSeries::new(series, milliseconds(self.burst_ms));
        Ok(match self.interpolate {
            true => steps.interpolated(),
            false => steps,
        })
    }
}
