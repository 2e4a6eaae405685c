//! A token bucket in front of the queue, as scenarios spell it.

use crate::complaints::Complaints;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidegate_link::TokenBucket;

/// A token bucket with a queue, in front of the link's own.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ShaperSpec {
    /// The rate shaped to, in Mbit/s.
    pub mbps: f64,
    /// How many bytes may leave at once; a larger packet never does.
    #[serde(default = "burst_bytes")]
    pub burst_bytes: u32,
    /// How many packets may wait.
    #[serde(default = "queue_packets")]
    pub queue_packets: usize,
}

fn burst_bytes() -> u32 {
    15_000
}

fn queue_packets() -> usize {
    1000
}

impl ShaperSpec {
    pub(super) fn complain(self, to: &mut Complaints) {
        to.within("shaper.mbps", self.mbps, 1e6);
        to.expect(self.burst_bytes >= 1500 && self.queue_packets > 0, "shaper", || {
            "shaper.burst_bytes and shaper.queue_packets, expected at least 1500 and 1, or nothing \
             passes"
                .into()
        });
    }

    pub(super) fn resolve(self) -> TokenBucket {
        TokenBucket {
            rate_bps: self.mbps * 1e6,
            burst_bytes: self.burst_bytes,
            queue_packets: self.queue_packets,
        }
    }
}
