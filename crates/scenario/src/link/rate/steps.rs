//! A rate that changes at given times, as scenarios spell it: seconds and Mbit/s.

use super::outside_a_day;
use crate::complaints::Complaints;
use std::time::Duration;
use tidegate_link::{RateSeries, StepsError};

pub(super) fn complain(steps: &[[f64; 2]], to: &mut Complaints) {
    if let Some(late) = outside_a_day(steps) {
        to.say(
            "steps",
            format!("rate.steps, a step at {late} s, expected 0 to 86400"),
        );
    } else if let Some(step) = steps.iter().find(|s| s[1] > 1e6) {
        let rate = step[1];
        to.say(
            "steps",
            format!("rate.steps, a rate of {rate} Mbit/s, expected at most 1000000"),
        );
    } else if let Err(refusal) = resolve(steps) {
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
