//! Flows that arrive one after another, each on a connection of its own.

mod sizes;
mod table;

pub use sizes::{PublishedSizes, SizeDistribution, SizesSpec};
pub use table::SizeTable;

use crate::complaints::Complaints;
use crate::{Direction, words};
use rand::Rng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_basics::random::{exponential, log_normal, pareto};

/// Flows that arrive whether those before have ended or not, each on a new connection, until the term ends.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FlowsSpec {
    /// Which way the data goes.
    #[serde(default)]
    #[schemars(schema_with = "words::direction")]
    pub direction: Direction,
    /// When they arrive.
    pub arrivals: ArrivalsSpec,
    /// How large they are.
    pub sizes: SizesSpec,
    /// Sizes in bytes at which the classes end by which results tell completion times, each larger than the one before; the
    /// last class has no end.
    #[serde(default = "classes", skip_serializing_if = "is_classes")]
    #[schemars(length(max = 100), inner(range(min = 1, max = 1_000_000_000_000u64)))]
    pub class_bytes: Vec<u64>,
}

fn classes() -> Vec<u64> {
    vec![10_000, 100_000, 1_000_000]
}

fn is_classes(bytes: &[u64]) -> bool {
    bytes == classes()
}

/// How flows arrive: the distribution of the time from one to the next, and how many there are. They follow from the
/// scenario's seed and the workload's name, and are the same in each run.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ArrivalsSpec {
    /// Whenever, whatever came before: times are exponentially distributed, and numbers of flows in a second have
    /// Poisson's distribution.
    Poisson(PaceSpec),
    /// Always as long after each other.
    Constant(PaceSpec),
    /// After times with Pareto's distribution: many short ones and a few very long ones.
    Pareto(ParetoGaps),
    /// After times with the log-normal distribution.
    Lognormal(LognormalGaps),
}

/// How many flows arrive: one of the two.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct PaceSpec {
    /// Flows a second, on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "flows a second"))]
    #[schemars(range(min = 1e-6, max = 1_000_000.0))]
    pub per_s: Option<f64>,
    /// Payload that they bring on average, as a share of what the slowest link on their way carries on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "share"))]
    #[schemars(range(min = 1e-6, max = 10.0))]
    pub load: Option<f64>,
}

/// As Pareto has it, of that mean.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct ParetoGaps {
    /// The distribution's shape: the smaller, the heavier its tail; below 2 its variance is infinite.
    #[schemars(extend("unit" = "exponent"))]
    #[schemars(range(min = 1.01, max = 100.0))]
    pub shape: f64,
    /// Flows a second, on average; either this or `load`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "flows a second"))]
    #[schemars(range(min = 1e-6, max = 1_000_000.0))]
    pub per_s: Option<f64>,
    /// Payload that they bring on average, as a share of what the slowest link on their way carries on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "share"))]
    #[schemars(range(min = 1e-6, max = 10.0))]
    pub load: Option<f64>,
}

/// As the log-normal distribution has it, of that mean.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct LognormalGaps {
    /// Standard deviation of the time's natural logarithm.
    #[schemars(extend("unit" = "logarithm"))]
    #[schemars(range(min = 0.0, max = 5.0))]
    pub deviation: f64,
    /// Flows a second, on average; either this or `load`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "flows a second"))]
    #[schemars(range(min = 1e-6, max = 1_000_000.0))]
    pub per_s: Option<f64>,
    /// Payload that they bring on average, as a share of what the slowest link on their way carries on average.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "share"))]
    #[schemars(range(min = 1e-6, max = 10.0))]
    pub load: Option<f64>,
}

impl ArrivalsSpec {
    /// How many flows arrive.
    fn pace(&self) -> PaceSpec {
        match *self {
            Self::Poisson(pace) | Self::Constant(pace) => pace,
            Self::Pareto(ParetoGaps { per_s, load, .. })
            | Self::Lognormal(LognormalGaps { per_s, load, .. }) => PaceSpec { per_s, load },
        }
    }

    /// Flows a second on average, where a flow has that many bytes on average and the way carries that much.
    pub fn per_second(&self, mean_bytes: f64, bps: f64) -> f64 {
        match self.pace() {
            PaceSpec {
                load: Some(load), ..
            } => load * bps / 8.0 / mean_bytes,
            PaceSpec { per_s, .. } => per_s.unwrap_or(0.0),
        }
    }

    /// The time from one flow to the next, where 1 is the mean.
    pub fn gap<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        match *self {
            Self::Poisson(_) => exponential(rng),
            Self::Constant(_) => 1.0,
            Self::Pareto(ParetoGaps { shape, .. }) => pareto(rng, shape) * (shape - 1.0) / shape,
            Self::Lognormal(LognormalGaps { deviation, .. }) => {
                log_normal(rng, deviation) / libm::exp(deviation * deviation / 2.0)
            }
        }
    }

    fn complain(&self, to: &mut Complaints) {
        let (kind, PaceSpec { per_s, load }) = (self.name(), self.pace());
        to.expect(per_s.is_some() != load.is_some(), kind, || {
            let found = match per_s {
                Some(_) => "both per_s and load",
                None => "neither per_s nor load",
            };
            format!("flows.arrivals.{kind} has {found}, expected one of them")
        });
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Poisson(_) => "poisson",
            Self::Constant(_) => "constant",
            Self::Pareto(_) => "pareto",
            Self::Lognormal(_) => "lognormal",
        }
    }
}

impl FlowsSpec {
    /// Complains of all that makes no sense in it.
    pub(crate) fn complain(&self, to: &mut Complaints) {
        to.inside("arrivals", |to| self.arrivals.complain(to));
        to.inside("sizes", |to| self.sizes.complain(to));
        let rises = self.class_bytes.is_sorted_by(|a, b| a < b);
        to.expect(rises, "class_bytes", || {
            format!(
                "flows.class_bytes is {:?}, expected each larger than the one before",
                self.class_bytes
            )
        });
    }

    /// The number of the class to which a flow of that size belongs.
    pub fn class_of(&self, bytes: u64) -> usize {
        self.class_bytes.partition_point(|end| *end <= bytes)
    }
}

#[cfg(test)]
mod tests;
