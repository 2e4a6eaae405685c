//! A rate that changes at given times, as scenarios spell it: seconds and Mbit/s.

use crate::complaints::Complaints;
use crate::ranges::pairs;
use schemars::{Schema, SchemaGenerator};
use std::time::Duration;
use tidegate_link::{RateSeries, StepsError};

/// Of the list of them.
pub(super) fn schema(_: &mut SchemaGenerator) -> Schema {
    pairs([("s", 0.0, 86_400.0), ("Mbit/s", 0.0, 100_000.0)])
}

pub(super) fn complain(steps: &[[f64; 2]], to: &mut Complaints) {
    if to.sound(["steps"])
        && let Err(refusal) = resolve(steps)
    {
        to.say("steps", format!("rate.steps: {refusal}"));
    }
}

/// The series that these seconds and Mbit/s make; the seconds are times.
pub(super) fn resolve(steps: &[[f64; 2]]) -> Result<RateSeries, StepsError> {
    let steps: Vec<_> = steps
        .iter()
        .map(|&[s, mbps]| (Duration::from_secs_f64(s), mbps * 1e6))
        .collect();
    RateSeries::steps(&steps)
}
