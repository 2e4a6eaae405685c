//! A middlebox, as scenarios spell it.

use super::milliseconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_link::Middlebox;

/// A box that holds a TCP stream's packets until they are in order.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MiddleboxSpec {
    /// How long it holds a packet at most, in milliseconds.
    #[schemars(range(min = 0.001, max = 60_000.0))]
    pub patience_ms: f64,
}

impl MiddleboxSpec {
    pub(super) fn resolve(self) -> Middlebox {
        Middlebox {
            patience: milliseconds(self.patience_ms),
        }
    }
}
