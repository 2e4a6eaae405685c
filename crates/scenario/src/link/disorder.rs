//! Reordering and duplication, as scenarios spell them.

use super::milliseconds;
use crate::complaints::Complaints;
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
    pub reorder: f64,
    /// By how many milliseconds.
    #[serde(default = "late_ms")]
    pub late_ms: f64,
    /// Probability that a packet comes twice.
    #[serde(default)]
    #[schemars(extend("unit" = "probability"))]
    pub duplicate: f64,
}

fn late_ms() -> f64 {
    5.0
}

impl DisorderSpec {
    pub(super) fn complain(self, to: &mut Complaints) {
        to.share("disorder.reorder", self.reorder);
        to.share("disorder.duplicate", self.duplicate);
        to.within("disorder.late_ms", self.late_ms, 60_000.0);
    }

    pub(super) fn resolve(self) -> Disorder {
        Disorder {
            reorder: self.reorder,
            late_by: milliseconds(self.late_ms),
            duplicate: self.duplicate,
        }
    }
}
