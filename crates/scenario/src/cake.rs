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
    pub mbps: f64,
    /// The least that cake-autorate makes of it, in Mbit/s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_mbps: Option<f64>,
    /// The most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
        to.within("mbps", base, 1e6);
        let rise = 0.0 < least && least <= base && base <= most && most <= 1e6;
        to.expect(rise || !self.is_steered(), "min_mbps", || {
            format!("min_mbps = {least}, mbps = {base}, max_mbps = {most}, expected them to rise, from more than 0 to 1000000")
        });
    }
}
