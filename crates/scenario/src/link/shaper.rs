//! A token bucket in front of the queue, as scenarios spell it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_link::TokenBucket;

/// A token bucket with a queue, in front of the link's own.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ShaperSpec {
    /// The rate shaped to, in Mbit/s.
    #[schemars(range(min = 0.001, max = 100_000.0))]
    pub mbps: f64,
    /// How many bytes may leave at once; a larger packet never does.
    #[serde(default = "burst_bytes")]
    #[schemars(range(min = 1500, max = 1_000_000_000))]
    pub burst_bytes: u32,
    /// How many packets may wait.
    #[serde(default = "queue_packets")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub queue_packets: usize,
}

fn burst_bytes() -> u32 {
    15_000
}

fn queue_packets() -> usize {
    1000
}

impl ShaperSpec {
    pub(super) fn resolve(self) -> TokenBucket {
        TokenBucket {
            rate_bps: self.mbps * 1e6,
            burst_bytes: self.burst_bytes,
            queue_packets: self.queue_packets,
        }
    }
}
