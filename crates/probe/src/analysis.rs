//! Computes the link's properties from the packets that arrived: pure functions.

pub mod buffer;
pub mod bursts;
pub mod clock;
pub mod flights;
pub mod gain;
pub mod latency;
pub mod opportunities;
pub mod period;
pub mod policy;
pub mod queues;
pub mod rate;
pub mod responsiveness;
mod threshold;

/// The value that has `share` of `values` at or below it; NaN if there are none. Sorts them.
pub(crate) fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    let index = (share * last as f64).round() as usize;
    values.get(index).copied().unwrap_or(f64::NAN)
}

/// The median.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    quantile(&mut values, 0.5)
}
