//! A generated cell, as scenarios spell it.

use super::positive;
use crate::complaints::Complaints;
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
    pub mean_mbps: Option<f64>,
    /// Its own seed; the scenario's by default.
    pub seed: Option<u64>,
}

impl GenerateSpec {
    pub(super) fn complain(&self, to: &mut Complaints) {
        if let Some(mbps) = self.mean_mbps {
            positive(to, "mean_mbps", mbps);
        }
    }

    /// The cell model, with `seed` unless it has one of its own.
    pub fn model(&self, seed: u64) -> CellModel {
        CellModel::new(
            self.kind,
            self.mean_mbps.map(|m| m * 1e6),
            self.seed.unwrap_or(seed),
        )
    }
}
