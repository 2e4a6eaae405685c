//! Configuration of a link.

use crate::{
    Arq, DelayProfile, Disorder, Loss, Middlebox, QueueConfig, Rate, Sharing, TokenBucket,
};

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
    pub loss: Option<Loss>,
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
            rate: Rate::constant(10e6),
            sharing: None,
            arq: None,
            loss: None,
            delay: DelayProfile::default(),
            disorder: None,
            middlebox: None,
        }
    }
}
