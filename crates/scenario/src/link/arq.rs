//! Retransmission on the link, as scenarios spell it.

use super::{RateSpec, milliseconds};
use crate::complaints::Complaints;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_link::{Arq, BlockError, Rate};

/// Retransmission on the link itself, with delivery in order: loss becomes delay.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ArqSpec {
    /// Probability that a transmission fails.
    #[schemars(extend("unit" = "probability"))]
    pub error: Option<f64>,
    /// Instead of `error`, for a link whose rate is a walk: signal in dB and probability, piecewise
    /// linear.
    #[schemars(extend("unit" = "dB, probability"))]
    pub error_by_db: Option<Vec<[f64; 2]>>,
    /// Milliseconds from one transmission to the next.
    #[serde(default = "retry_ms")]
    pub retry_ms: f64,
    /// Transmissions of one packet, the first included; then it is lost.
    #[serde(default = "tries")]
    #[schemars(extend("unit" = "transmissions"))]
    pub tries: u32,
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
        to.expect((1..=1000).contains(&self.tries), "arq.tries", || {
            format!("arq.tries is {}, expected 1 to 1000", self.tries)
        });
        to.within("arq.retry_ms", self.retry_ms, 60_000.0);
    }

    /// What makes no sense in its error probabilities, and where.
    fn odd_errors(&self, rate: &RateSpec) -> Option<(&'static str, String)> {
        let (key, errors) = match (self.error, &self.error_by_db) {
            (Some(p), None) => ("arq.error", vec![p]),
            (None, Some(curve)) => {
                let key = "arq.error_by_db";
                if !matches!(rate, RateSpec::Walk(_)) {
                    return Some((key, format!("{key}, expected a rate that is a walk")));
                }
                let in_order = curve.windows(2).all(|w| w[0][0] < w[1][0]);
                if curve.is_empty() || !in_order || curve.iter().any(|p| !p[0].is_finite()) {
                    return Some((key, format!("{key}, expected points in order of dB")));
                }
                (key, curve.iter().map(|p| p[1]).collect())
            }
            _ => return Some(("arq", "arq, expected either error or error_by_db".into())),
        };
        let odd = errors.into_iter().find(|p| !(0.0..=1.0).contains(p))?;
        Some((
            key,
            format!("arq, an error probability of {odd}, expected 0 to 1"),
        ))
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
