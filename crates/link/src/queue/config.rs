//! A queue's configuration.

use super::{AbcPolicy, DualPi2Policy, FqCodelPolicy, Marking, RedPolicy};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use strum::{EnumDiscriminants, EnumString, VariantNames};

/// A queue's limits and policy. The packet being transmitted has left the queue and does not count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueConfig {
    /// Limit in packets.
    pub packets: Option<usize>,
    /// Limit in bytes.
    pub bytes: Option<usize>,
    /// What happens at the limit, and before.
    pub policy: Policy,
    /// Which packets are marked instead of dropped.
    pub marking: Marking,
}

impl Default for QueueConfig {
    /// 1000 packets, drop-tail.
    fn default() -> Self {
        Self {
            packets: Some(1000),
            bytes: None,
            policy: Policy::DropTail,
            marking: Marking::default(),
        }
    }
}

/// What a full (or, with active queue management, a standing) queue does.
#[derive(Clone, Copy, Debug, Default, EnumDiscriminants, PartialEq)]
#[strum_discriminants(
    name(QueuePolicy),
    derive(Deserialize, EnumString, JsonSchema, Serialize, VariantNames),
    serde(rename_all = "kebab-case"),
    strum(serialize_all = "kebab-case"),
    doc = "What a full or a standing queue does, in a word: a [`Policy`] without its parameters."
)]
pub enum Policy {
    /// The packet that arrives is dropped.
    #[default]
    DropTail,
    /// The oldest packets are dropped until the one that arrives fits.
    DropHead,
    /// CoDel (RFC 8289), drop-tail at the limit.
    Codel {
        /// Standing delay that is acceptable (§4.3; 5 ms suits the Internet).
        target: Duration,
        /// How long the delay must stand, a worst-case round trip (§4.2; 100 ms).
        interval: Duration,
    },
    /// Random early detection, drop-tail at the limit.
    Red(RedPolicy),
    /// PIE (RFC 8033) as Linux has it, drop-tail at the limit.
    Pie {
        /// The delay to keep to (§4.2; 15 ms).
        target: Duration,
    },
    /// FQ-CoDel (RFC 8290); at the limit the flow with the most bytes loses its oldest packets.
    FqCodel(FqCodelPolicy),
    /// DualPI2 (RFC 9332) as Linux has it, drop-tail at the limit.
    #[strum_discriminants(serde(rename = "dualpi2"))]
    #[strum_discriminants(strum(serialize = "dualpi2"))]
    DualPi2(DualPi2Policy),
    /// ABC's router (Goyal et al. 2020), drop-tail at the limit: has each packet say whether to accelerate or to brake.
    Abc(AbcPolicy),
}
