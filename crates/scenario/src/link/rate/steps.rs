//! A rate that changes at given times, as scenarios spell it: seconds and Mbit/s.

use super::outside_a_day;
use std::time::Duration;
use tidegate_link::{RateSeries, StepsError};

pub(super) fn complaint(steps: &[[f64; 2]]) -> Option<String> {
    if let Some(late) = outside_a_day(steps) {
        return Some(format!(
            "rate.steps, a step at {late} s, expected 0 to 86400"
        ));
    }
    if let Some(step) = steps.iter().find(|s| s[1] > 1e6) {
        return Some(format!(
            "rate.steps, a rate of {} Mbit/s, expected at most 1000000",
            step[1]
        ));
    }
    let refusal = resolve(steps).err()?;
    Some(format!("rate.steps: {refusal}"))
}

/// The series that these seconds and Mbit/s make; the seconds are times.
pub(super) fn resolve(steps: &[[f64; 2]]) -> Result<RateSeries, StepsError> {
    let steps: Vec<_> = steps
        .iter()
        .map(|&[s, mbps]| (Duration::from_secs_f64(s), mbps * 1e6))
        .collect();
    RateSeries::steps(&steps)
}
