//! Propagation delay, as scenarios spell it.

use super::{LinkSpec, milliseconds};
use crate::complaints::Complaints;
use crate::{Files, LoadError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_link::{DelayProfile, Instant};

/// From `at_s` on, the propagation delay is `ms`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DelayStep {
    /// Seconds since the start of the run.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub at_s: f64,
    /// One-way delay in milliseconds.
    #[schemars(range(min = 0.0, max = 60_000.0))]
    pub ms: f64,
}

impl LinkSpec {
    pub(super) fn complain_of_delay(&self, to: &mut Complaints) {
        let out_of_order = self.delay_steps.windows(2).any(|w| w[0].at_s >= w[1].at_s);
        to.expect(!out_of_order, "delay_steps", || {
            "delay_steps out of order, expected increasing at_s".into()
        });
    }

    pub(super) fn delay(&self, files: &Files, place: f64) -> Result<DelayProfile, LoadError> {
        let steps = self
            .delay_steps
            .iter()
            .map(|s| (Instant::from_secs_f64(s.at_s), milliseconds(s.ms)));
        let given = DelayProfile::new(milliseconds(self.delay_ms), steps.collect());
        Ok(match &self.delay_trace {
            None => given,
            Some(file) => {
                let trace = files.delay_trace(file)?;
                let ahead = self.ahead(trace.period(), place);
                given.above(trace, ahead)
            }
        })
    }
}
