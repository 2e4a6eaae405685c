//! How laboratory and simulator count, so that the same name means the same number in both.
//!
//! Neither knows the other; both get the definitions of a queueing delay, a utilisation or a curve from here.

#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

mod bins;
mod curves;
mod demand;
mod distribution;
mod player;
mod quantiles;
mod record;

pub use bins::{BIN, Bin, Bins, round_trip};
pub use curves::{curve, link_curves, ms};
pub use demand::{Demand, demand};
pub use distribution::Distribution;
pub use player::Player;
pub use quantiles::{Durations, median, quantile, quantiles};
pub use record::{LinkRecord, Passage, Window};

/// Time between two samples of a flow.
pub const SAMPLE_INTERVAL: std::time::Duration = std::time::Duration::from_millis(20);

/// The ratio; zero if the denominator is.
pub fn ratio(numerator: f64, denominator: f64) -> f64 {
    if denominator > 0.0 {
        numerator / denominator
    } else {
        0.0
    }
}
