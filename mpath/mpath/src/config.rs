//! Settings of the two ends.

use std::time::Duration;

/// How to find paths that share a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detection {
    /// The thesis's way (section 3.1.3): their loss intervals overlap. A queue that overflows by only a packet or two
    /// mostly drops them from one path, and is not found.
    LossIntervals,
    /// The same, and also: whenever one of the two loses a packet, the round trips of the other are longer than usual.
    #[default]
    Queues,
}

/// Settings of a sender. The defaults are the thesis's (section 3.3.7), except for [`Detection`].
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// α: the largest share of a proxied path's window that one shared loss moves to the direct path.
    pub alpha: f64,
    /// β: new proxied paths after a loss on the direct path, as a share of its window.
    pub beta: f64,
    /// How to find paths that share a queue with the direct one.
    pub detection: Detection,
    /// τ as a multiple of the direct path's round trip: how long a probe may take, and how long the receiver waits
    /// before it asks for missing packets.
    pub patience: f64,
    /// Time between two probes (section 3.1.1).
    pub probe_interval: Duration,
    /// Probes in a row that a proxy may fail before it is not asked again.
    pub probe_attempts: u32,
    /// Window of the direct path at the start, in packets (RFC 6928; the thesis: "like TCP").
    pub initial_window: u32,
    /// How long a path that was dropped is not used, the first time; twice as long each further time. The thesis says
    /// "temporarily".
    pub pause: Duration,
    /// The seed of random choices.
    pub seed: u64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            alpha: 0.5,
            beta: 0.25,
            detection: Detection::default(),
            patience: 2.0,
            probe_interval: Duration::from_millis(250),
            probe_attempts: 2,
            initial_window: 10,
            pause: Duration::from_secs(30),
            seed: 0,
        }
    }
}

/// Settings of a receiver.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverConfig {
    /// Packets that may wait for those before them or for the application.
    pub buffer: u64,
    /// The most packets that one feedback acknowledges (section 3.1.2).
    pub packets_per_feedback: u32,
    /// How long an acknowledgement may wait for others.
    pub feedback_delay: Duration,
}

impl Default for ReceiverConfig {
    /// 25 MB of packets of 1436 bytes (section 3.3.6), 10 packets, 10 ms.
    fn default() -> Self {
        Self {
            buffer: 25_000_000 / 1436,
            packets_per_feedback: 10,
            feedback_delay: Duration::from_millis(10),
        }
    }
}
