//! A shaper with CAKE at the client's router, as scenarios spell it.

use crate::Step;
use crate::complaints::Complaints;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A shaper of each direction at the client's router, with CAKE's queues: what arrives has passed the link, what leaves has
/// not. Where bounds are given, cake-autorate steers its rate within them.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CakeSpec {
    /// Of what arrives.
    pub down: ShapedSpec,
    /// Of what leaves.
    pub up: ShapedSpec,
}

/// A shaper's rate.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ShapedSpec {
    /// Its rate in Mbit/s; with cake-autorate that of the start, to which it returns without load.
    #[schemars(range(min = 0.001, max = 100_000.0))]
    pub mbps: f64,
    /// The least that cake-autorate makes of it, in Mbit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 100_000.0))]
    pub min_mbps: Option<f64>,
    /// The most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 100_000.0))]
    pub max_mbps: Option<f64>,
}

impl CakeSpec {
    /// Whether cake-autorate steers any of them.
    pub fn is_steered(&self) -> bool {
        self.down.is_steered() || self.up.is_steered()
    }

    pub(crate) fn complain(self, to: &mut Complaints) {
        to.at([Step::Key("down")], "cake.down: ", |to| {
            self.down.complain(to)
        });
        to.at([Step::Key("up")], "cake.up: ", |to| self.up.complain(to));
    }
}

impl ShapedSpec {
    /// Whether cake-autorate steers it.
    pub fn is_steered(&self) -> bool {
        self.min_mbps.is_some() || self.max_mbps.is_some()
    }

    /// Least, base and most, in Mbit/s.
    pub fn bounds(&self) -> [f64; 3] {
        let Self { mbps, .. } = *self;
        [
            self.min_mbps.unwrap_or(mbps),
            mbps,
            self.max_mbps.unwrap_or(mbps),
        ]
    }

    fn complain(self, to: &mut Complaints) {
        let [least, base, most] = self.bounds();
        let sound = to.sound(["mbps", "min_mbps", "max_mbps"]);
        to.expect(!sound || least <= base && base <= most, "min_mbps", || {
            format!("min_mbps = {least}, mbps = {base}, max_mbps = {most}, expected them to rise")
        });
    }
}
