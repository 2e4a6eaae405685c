//! What a link is made of.

use crate::{DelayProfile, Loss, Rate};
use std::time::Duration;

/// One direction of a path.
#[derive(Clone, Debug)]
pub struct Config {
    /// How much the link carries, and when.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: DelayProfile,
    /// The buffer in front of the link.
    pub queue: QueueConfig,
    /// Loss on the link, after the queue.
    pub loss: Loss,
}

impl Default for Config {
    /// 10 Mbit/s without delay or loss behind the default queue.
    fn default() -> Self {
        Self {
            rate: Rate::Constant(10e6),
            delay: DelayProfile::default(),
            queue: QueueConfig::default(),
            loss: Loss::None,
        }
    }
}

/// A queue's limits and policy. The packet being transmitted has left the queue and does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueConfig {
    /// Limit in packets.
    pub packets: Option<usize>,
    /// Limit in bytes.
    pub bytes: Option<usize>,
    /// What happens at the limit.
    pub policy: Policy,
}

impl Default for QueueConfig {
    /// 1000 packets, drop-tail.
    fn default() -> Self {
        Self {
            packets: Some(1000),
            bytes: None,
            policy: Policy::DropTail,
        }
    }
}

/// What a full (or, with CoDel, a standing) queue does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
}
