//! A generated cell, as scenarios spell it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_link::{CellKind, CellModel};

/// A generated rate process.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct GenerateSpec {
    /// Which technology it resembles.
    pub kind: CellKind,
    /// Overrides the technology's mean rate, in Mbit/s.
    #[schemars(range(min = 0.001, max = 100_000.0))]
    pub mean_mbps: Option<f64>,
    /// Its own seed; the scenario's by default.
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807u64))]
    pub seed: Option<u64>,
}

impl GenerateSpec {
    /// The cell model, with `seed` unless it has one of its own.
    pub fn model(&self, seed: u64) -> CellModel {
        CellModel::new(
            self.kind,
            self.mean_mbps.map(|m| m * 1e6),
            self.seed.unwrap_or(seed),
        )
    }
}
