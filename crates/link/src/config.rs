//! What a link is made of.

use crate::{Arq, DelayProfile, Disorder, Loss, Middlebox, Rate, Sharing, TokenBucket};
use std::time::Duration;

/// One direction of a path: its stages, in the order in which a packet passes them.
#[derive(Clone, Debug)]
pub struct Config {
    /// Shaping in front of the queue, as a server or an operator does it.
    pub shaper: Option<TokenBucket>,
    /// The buffer in front of the link.
    pub queue: QueueConfig,
    /// How much the link carries, and when.
    pub rate: Rate,
    /// Other users with whom it is shared; without any, the whole rate is this link's.
    pub sharing: Option<Sharing>,
    /// Retransmission on the link itself.
    pub arq: Option<Arq>,
    /// Loss on the link, after the queue.
    pub loss: Loss,
    /// Propagation delay.
    pub delay: DelayProfile,
    /// Reordering and duplication on the way.
    pub disorder: Option<Disorder>,
    /// A box at the far end that puts packets in order.
    pub middlebox: Option<Middlebox>,
}

impl Default for Config {
    /// 10 Mbit/s without delay or loss behind the default queue, and none of the other stages.
    fn default() -> Self {
        Self {
            shaper: None,
            queue: QueueConfig::default(),
            rate: Rate::Constant(10e6),
            sharing: None,
            arq: None,
            loss: Loss::None,
            delay: DelayProfile::default(),
            disorder: None,
            middlebox: None,
        }
    }
}

/// A queue's limits and policy. The packet being transmitted has left the queue and does not count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueConfig {
    /// Limit in packets.
    pub packets: Option<usize>,
    /// Limit in bytes.
    pub bytes: Option<usize>,
    /// What happens at the limit, and before.
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

/// What a full (or, with active queue management, a standing) queue does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
}

/// Parameters of random early detection (Floyd and Jacobson 1993), gentle, in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedPolicy {
    /// min_th: an average queue below it is left alone.
    pub min_packets: f64,
    /// max_th, above `min_packets`: from here to twice that the probability rises to 1.
    pub max_packets: f64,
    /// max_p: the probability of a drop at `max_packets`.
    pub max_probability: f64,
    /// w_q: the weight of the newest queue length in the average (section VI: 0.002).
    pub weight: f64,
    /// s: how long a typical packet takes to be sent, by which the average of an idle queue falls.
    pub packet_time: Duration,
}

/// Parameters of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodelPolicy {
    /// CoDel's target for each flow (RFC 8290 §5.2.2; 5 ms).
    pub target: Duration,
    /// CoDel's interval for each flow (§5.2.1; 100 ms).
    pub interval: Duration,
    /// Bytes that a flow may send in a round (§5.2.4: the MTU, here without a link-layer header).
    pub quantum: u32,
    /// Queues that flows hash to (§5.2.5; 1024).
    pub flows: u32,
}

impl Default for FqCodelPolicy {
    /// 5 ms, 100 ms, 1500 bytes, 1024 queues.
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            quantum: 1500,
            flows: 1024,
        }
    }
}
