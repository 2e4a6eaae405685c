//! Propagation delay, as scenarios spell it.

use super::{LinkSpec, milliseconds, milliseconds_ok};
use crate::load::{LoadError, parse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use tidegate_link::{DelayProfile, DelayTrace, Instant};

/// From `at_s` on, the propagation delay is `ms`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DelayStep {
    /// Seconds since the start of the run.
    pub at_s: f64,
    /// One-way delay in milliseconds.
    pub ms: f64,
}

impl LinkSpec {
    pub(super) fn delay_complaint(&self) -> Option<String> {
        if !milliseconds_ok(self.delay_ms) {
            return Some(format!(
                "delay_ms is {}, expected 0 to 60000",
                self.delay_ms
            ));
        }
        if let Some(s) = self
            .delay_steps
            .iter()
            .find(|s| !milliseconds_ok(s.ms) || s.at_s.is_nan() || s.at_s < 0.0)
        {
            return Some(format!(
                "delay step {{ at_s = {}, ms = {} }}, expected at_s >= 0 and ms 0 to 60000",
                s.at_s, s.ms
            ));
        }
        let out_of_order = self.delay_steps.windows(2).any(|w| w[0].at_s >= w[1].at_s);
        out_of_order.then(|| "delay_steps out of order, expected increasing at_s".into())
    }

    pub(super) fn delay(&self, folder: &Path) -> Result<DelayProfile, LoadError> {
        let steps = self
            .delay_steps
            .iter()
            .map(|s| (Instant::from_secs_f64(s.at_s), milliseconds(s.ms)));
        let given = DelayProfile::new(milliseconds(self.delay_ms), steps.collect());
        Ok(match &self.delay_trace {
            None => given,
            Some(file) => given.above(Arc::new(parse(folder, file, DelayTrace::parse)?)),
        })
    }
}
