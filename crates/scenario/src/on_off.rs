//! Sources that send at a rate for a while and fall silent for a while.

use crate::{Direction, words};
use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_basics::random::{exponential, pareto};

/// A source that sends at a rate for a while and falls silent for a while, each for times at random. They follow from the
/// scenario's seed and the workload's name, and are the same in each run.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct OnOffSpec {
    /// Which way the data goes.
    #[serde(default)]
    #[schemars(schema_with = "words::direction")]
    pub direction: Direction,
    /// Mbit/s while it sends: of payload over TCP, of packets with their headers over UDP.
    #[schemars(range(min = 0.001, max = 100_000.0))]
    pub mbps: f64,
    /// How long it sends each time.
    pub on: PeriodSpec,
    /// How long it is silent each time.
    pub off: PeriodSpec,
    /// What carries it.
    #[serde(default)]
    pub transport: Carrier,
    /// Length of each packet over UDP, in bytes, IP header included.
    #[serde(default = "packet_bytes")]
    #[schemars(range(min = 29, max = 65_535))]
    pub packet_bytes: u64,
}

fn packet_bytes() -> u64 {
    1200
}

/// What carries a source's data.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Carrier {
    /// One TCP connection: what does not fit now is sent later.
    #[default]
    Tcp,
    /// Datagrams that no congestion slows down.
    Udp,
}

/// The distribution of a period's length.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum PeriodSpec {
    /// Always the same.
    Constant {
        /// The length.
        #[schemars(range(min = 0.001, max = 86_400.0))]
        s: f64,
    },
    /// The exponential distribution.
    Exponential {
        /// The mean.
        #[schemars(range(min = 0.001, max = 86_400.0))]
        mean_s: f64,
    },
    /// Pareto's distribution: with a shape below 2 many such sources together are self-similar (Willinger et al., SIGCOMM
    /// 1995).
    Pareto {
        /// Its shape: the smaller, the heavier its tail.
        #[schemars(extend("unit" = "exponent"))]
        #[schemars(range(min = 1.01, max = 100.0))]
        shape: f64,
        /// The mean.
        #[schemars(range(min = 0.001, max = 86_400.0))]
        mean_s: f64,
    },
}

impl PeriodSpec {
    /// A length in seconds.
    pub fn draw<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        match *self {
            Self::Constant { s } => s,
            Self::Exponential { mean_s } => mean_s * exponential(rng),
            Self::Pareto { shape, mean_s } => mean_s * (shape - 1.0) / shape * pareto(rng, shape),
        }
    }
}
