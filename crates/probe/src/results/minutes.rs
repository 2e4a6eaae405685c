//! The rate over minutes (thesis §4.2.2, Fig. 4.6).

use super::rate;
use crate::Arrival;
use crate::analysis::bursts::backlogged;
use crate::analysis::quantile;
use crate::analysis::rate::summary;
use serde::{Deserialize, Serialize};
use tidegate_basics::time::Instant;

/// From short trains, one every few seconds.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Minutes {
    /// Seconds since the first, and the rate at that time, in bit/s.
    pub rates: Vec<(f64, f64)>,
    /// Trains with too few arrivals: the link stood still, or too few data were allowed.
    pub missed: usize,
}

impl Minutes {
    /// A train that arrived.
    pub fn note(&mut self, start: Instant, train: &[Arrival]) {
        let busy = backlogged(train);
        match busy.first().zip(summary(&busy)) {
            Some((first, rate)) => {
                let at_s = (first.arrived - start).as_secs_f64();
                self.rates.push((at_s, rate.median_bps));
            }
            None => self.missed += 1,
        }
    }

    /// The rate that has `share` of all below it, in bit/s; NaN without any.
    pub fn quantile_bps(&self, share: f64) -> f64 {
        let mut rates: Vec<f64> = self.rates.iter().map(|r| r.1).collect();
        quantile(&mut rates, share)
    }

    /// In words.
    pub fn words(&self) -> String {
        let [least, middle, most] = [0.0, 0.5, 1.0].map(|share| self.quantile_bps(share));
        let lasting = self.rates.last().map_or(0.0, |r| r.0);
        match self.rates.is_empty() {
            true => "rate over time: too little arrived to tell".into(),
            false => format!(
                "rate over {lasting:.0} s, {} times: {} to {}, a factor of {:.1}, median {}; {} times too little arrived",
                self.rates.len(),
                rate(least),
                rate(most),
                most / least,
                rate(middle),
                self.missed
            ),
        }
    }
}
