//! What a Sprout connection is given.

use crate::{Direction, words};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// As many datagrams as Sprout (NSDI 2013) sends, whose receiver forecasts what the link will deliver.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct SproutSpec {
    /// Which way the data goes.
    #[schemars(schema_with = "words::direction")]
    pub direction: Direction,
    /// How the receiver forecasts.
    pub forecast: SproutForecast,
}

/// How Sprout's receiver forecasts.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum SproutForecast {
    /// What arrives with a probability of 95 %, by Bayesian inference: Sprout.
    #[default]
    Cautious,
    /// That the mean of the last ticks goes on: Sprout-EWMA.
    Ewma,
}
