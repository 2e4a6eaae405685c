//! Random draws for a mix.

use std::ops::RangeInclusive;
use tidegate_scenario::{CellKind, GenerateSpec, RateSpec};

/// Share of access links that are cells, where cells are fast enough.
const CELLS: f64 = 1.0 / 3.0;

/// Mean rates up to which a cell is HSPA, and up to which it is LTE, in Mbit/s.
const HSPA_MBPS: f64 = 12.0;
const LTE_MBPS: f64 = 100.0;

/// Draws of one mix, the same for the same seed.
pub struct Draw(tidegate_basics::random::Draw);

impl Draw {
    /// Draws of that seed.
    pub fn new(seed: u64) -> Self {
        Self(tidegate_basics::random::Draw::new(seed))
    }

    /// One of these numbers.
    pub fn count(&mut self, range: RangeInclusive<usize>) -> usize {
        self.0.count(range)
    }

    /// True with that probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.0.chance(probability)
    }

    /// A number from `low` to `high`, uniform in its logarithm; rounded to two digits for readers.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0.between(low, high)
    }

    /// A rate, constant or a cell's, with a mean between those in Mbit/s; and that mean.
    pub fn access(&mut self, low: f64, high: f64) -> (RateSpec, f64) {
        if low < LTE_MBPS && self.chance(CELLS) {
            return self.cell(low, high.min(LTE_MBPS));
        }
        let mbps = self.between(low, high);
        (RateSpec::ConstantMbps(mbps), mbps)
    }

    fn cell(&mut self, low: f64, high: f64) -> (RateSpec, f64) {
        let mbps = self.between(low, high);
        let kind = match mbps < HSPA_MBPS {
            true => CellKind::Hspa,
            false => CellKind::Lte,
        };
        let cell = GenerateSpec {
            kind,
            mean_mbps: Some(mbps),
            seed: Some(self.0.seed()),
        };
        (RateSpec::Generate(cell), mbps)
    }
}
