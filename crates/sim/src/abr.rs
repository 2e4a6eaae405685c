//! Adaptive bit rates: which step of a video's ladder its player requests next.
//!
//! ```text
//!  a segment has come ─▶ observe(its throughput) ─▶ choose(buffer) ─▶ the next one's step
//! ```

mod bba;
mod mpc;
mod qoe;

pub use qoe::Played;

use bba::Bba;
use mpc::RobustMpc;
use std::collections::VecDeque;
use tidegate_scenario::{AbrAlgorithm, AdaptiveVideoSpec};

/// Number of segments that a throughput prediction uses (Yin et al. 2015, section 7.1).
const PAST: usize = 5;

/// An algorithm, and the throughputs that it has seen.
#[derive(Debug)]
pub struct Abr {
    /// Steps in Mbit/s, rising.
    ladder: Vec<f64>,
    algorithm: Algorithm,
    throughputs: VecDeque<f64>,
}

#[derive(Debug)]
enum Algorithm {
    Rate,
    Bba(Bba),
    RobustMpc(RobustMpc),
}

impl Abr {
    /// The algorithm of a video, before its first segment.
    pub fn new(spec: &AdaptiveVideoSpec) -> Self {
        Self {
            ladder: spec.ladder_mbps(),
            algorithm: match spec.algorithm {
                AbrAlgorithm::Rate => Algorithm::Rate,
                AbrAlgorithm::Bba => Algorithm::Bba(Bba {
                    reservoir_s: spec.reservoir_s,
                    cushion_s: spec.cushion_s,
                }),
                AbrAlgorithm::RobustMpc => Algorithm::RobustMpc(RobustMpc::new(spec)),
            },
            throughputs: VecDeque::new(),
        }
    }

    /// A segment has arrived at that many Mbit/s, measured from its request to its last byte.
    pub fn observe(&mut self, mbps: f64) {
        if let Algorithm::RobustMpc(mpc) = &mut self.algorithm {
            mpc.observe(mbps);
        }
        self.throughputs.push_back(mbps);
        if self.throughputs.len() > PAST {
            self.throughputs.pop_front();
        }
    }

    /// The step for the next segment, from 0, with `buffered_s` seconds buffered; `last` is the previous segment's
    /// step. The first segment gets the lowest step, since nothing is known of the link.
    pub fn choose(&mut self, buffered_s: f64, last: Option<usize>) -> usize {
        let (Some(last), Some(predicted)) = (last, harmonic_mean(&self.throughputs)) else {
            return 0;
        };
        match &mut self.algorithm {
            Algorithm::Rate => below(&self.ladder, predicted),
            Algorithm::Bba(bba) => bba.choose(&self.ladder, buffered_s, last),
            Algorithm::RobustMpc(mpc) => mpc.choose(&self.ladder, predicted, buffered_s, last),
        }
    }
}

/// The highest step that is at most `mbps`, or else the lowest.
fn below(ladder: &[f64], mbps: f64) -> usize {
    ladder
        .partition_point(|step| *step <= mbps)
        .saturating_sub(1)
}

fn harmonic_mean(values: &VecDeque<f64>) -> Option<f64> {
    let sum: f64 = values.iter().map(|value| 1.0 / value).sum();
    (sum > 0.0).then(|| values.len() as f64 / sum)
}

#[cfg(test)]
mod tests;
