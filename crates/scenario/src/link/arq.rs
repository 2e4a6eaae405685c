//! Retransmission on the link, as scenarios spell it.

use super::{RateSpec, milliseconds};
use crate::complaints::Complaints;
use crate::ranges::pairs;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use tidegate_link::{Arq, BlockError, Rate};

/// Retransmission on the link itself, with delivery in order: loss becomes delay.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ArqSpec {
    /// Probability that a transmission fails.
    #[schemars(extend("unit" = "probability"))]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub error: Option<f64>,
    /// Instead of `error`, for a link whose rate is a walk: signal in dB and probability, piecewise
    /// linear.
    #[serde(default)]
    #[schemars(extend("unit" = "dB, probability"), schema_with = "error_by_db")]
    pub error_by_db: Option<Vec<[f64; 2]>>,
    /// Milliseconds from one transmission to the next.
    #[serde(default = "retry_ms")]
    #[schemars(range(min = 0.001, max = 60_000.0))]
    pub retry_ms: f64,
    /// Transmissions of one packet, the first included; then it is lost.
    #[serde(default = "tries")]
    #[schemars(extend("unit" = "transmissions"))]
    #[schemars(range(min = 1, max = 1000))]
    pub tries: u32,
}

fn error_by_db(_: &mut SchemaGenerator) -> Schema {
    pairs([("dB", -200.0, 200.0), ("probability", 0.0, 1.0)])
}

/// HARQ's round trip in LTE.
fn retry_ms() -> f64 {
    8.0
}

fn tries() -> u32 {
    8
}

impl ArqSpec {
    pub(super) fn complain(&self, rate: &RateSpec, to: &mut Complaints) {
        if let Some((key, message)) = self.odd_errors(rate) {
            to.say(key, message);
        }
    }

    /// What makes no sense in its error probabilities, and where.
    fn odd_errors(&self, rate: &RateSpec) -> Option<(&'static str, String)> {
        let key = "arq.error_by_db";
        match (self.error, &self.error_by_db) {
            (Some(_), None) => None,
            (None, Some(_)) if !matches!(rate, RateSpec::Walk(_)) => {
                Some((key, format!("{key}, expected a rate that is a walk")))
            }
            (None, Some(curve)) => {
                let in_order = curve.windows(2).all(|w| w[0][0] < w[1][0]);
                let ok = in_order && !curve.is_empty();
                (!ok).then(|| (key, format!("{key}, expected points in order of dB")))
            }
            _ => Some(("arq", "arq, expected either error or error_by_db".into())),
        }
    }

    pub(super) fn resolve(&self, rate: &Rate) -> Arq {
        Arq {
            error: match (&self.error_by_db, rate.walk()) {
                (Some(points), Some(walk)) => BlockError::Signal {
                    walk,
                    curve: points.iter().map(|&[db, p]| (db, p)).collect(),
                },
                _ => BlockError::Constant(self.error.unwrap_or(0.0)),
            },
            retry: milliseconds(self.retry_ms),
            tries: self.tries,
        }
    }
}
