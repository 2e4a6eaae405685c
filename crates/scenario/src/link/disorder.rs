//! Reordering and duplication, as scenarios spell them.

use super::milliseconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_link::Disorder;

/// Reordering and duplication.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DisorderSpec {
    /// Probability that a packet is late, so that those behind it overtake it.
    #[serde(default)]
    #[schemars(extend("unit" = "probability"))]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub reorder: f64,
    /// By how many milliseconds.
    #[serde(default = "late_ms")]
    #[schemars(range(min = 0.001, max = 60_000.0))]
    pub late_ms: f64,
    /// Probability that a packet comes twice.
    #[serde(default)]
    #[schemars(extend("unit" = "probability"))]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub duplicate: f64,
}

fn late_ms() -> f64 {
    5.0
}

impl DisorderSpec {
    pub(super) fn resolve(self) -> Disorder {
        Disorder {
            reorder: self.reorder,
            late_by: milliseconds(self.late_ms),
            duplicate: self.duplicate,
        }
    }
}
