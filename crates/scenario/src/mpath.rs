//! What an mPath transfer is given, and what makes no sense in it.

use crate::complaints::Complaints;
use crate::load::duplicate;
use crate::{Direction, ProxySpec, Side, words};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A stream over the direct path and over paths through proxies (chapter 3 of Xu's thesis, 2014); by default with
/// the thesis's parameters (section 3.3.7) and no proxies.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct MpathSpec {
    /// Which way the data goes.
    #[schemars(schema_with = "words::direction")]
    pub direction: Direction,
    /// The proxies that the registry knows.
    #[schemars(length(max = 100))]
    pub proxies: Vec<ProxySpec>,
    /// Largest share of a proxied path's window that a shared loss moves to the direct path.
    #[schemars(extend("unit" = "share"))]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub alpha: f64,
    /// New proxied paths after a loss on the direct path, as a share of its window.
    #[schemars(extend("unit" = "share"))]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub beta: f64,
    /// How long a way through a proxy may take, in round trips of the direct path (τ).
    #[schemars(extend("unit" = "round trips"))]
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub patience: f64,
    /// How paths that share a queue with the direct one are told.
    #[serde(skip_serializing_if = "Detection::is_usual")]
    pub detection: Detection,
    /// The receiver's buffer in bytes.
    #[schemars(range(min = 1500, max = 1_000_000_000_000u64))]
    pub buffer_bytes: u64,
}

/// How mPath tells paths that share a queue.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Detection {
    /// As the thesis does: their loss intervals overlap.
    LossIntervals,
    /// That, and by round trips that are long when the other path loses.
    #[default]
    Queues,
}

impl Detection {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for MpathSpec {
    fn default() -> Self {
        Self {
            direction: Direction::default(),
            proxies: Vec::new(),
            alpha: 0.5,
            beta: 0.25,
            patience: 2.0,
            detection: Detection::default(),
            buffer_bytes: 25_000_000,
        }
    }
}

impl MpathSpec {
    /// Where the data goes.
    pub fn receiver(&self) -> Side {
        match self.direction {
            Direction::Down => Side::Client,
            Direction::Up => Side::Server,
        }
    }

    /// It as the protocol's sender takes it.
    pub fn config(&self) -> tidegate_mpath::Config {
        tidegate_mpath::Config {
            alpha: self.alpha,
            beta: self.beta,
            patience: self.patience,
            detection: match self.detection {
                Detection::LossIntervals => tidegate_mpath::Detection::LossIntervals,
                Detection::Queues => tidegate_mpath::Detection::Queues,
            },
            ..tidegate_mpath::Config::default()
        }
    }

    /// Complains of all that makes no sense in it.
    pub(crate) fn complain(&self, to: &mut Complaints) {
        let names = self.proxies.iter().map(|proxy| &proxy.name);
        if let Some(name) = duplicate(names) {
            to.say(
                "mpath.proxies",
                format!("two proxies are named \"{name}\", expected different names"),
            );
        }
    }
}
