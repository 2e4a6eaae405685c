//! The measurements, slot by slot.

use super::plan::{Planned, Purpose};
use serde::Serialize;
use tidegate_agent::{Direction, Holding};

/// A trial's measurements: the idle link and the slots.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Round trips of the idle link before the first slot, in ms.
    pub idle_ms: Vec<f64>,
    /// Completed slots, in order.
    pub slots: Vec<Slot>,
    /// Why the trial ended early, if it did.
    pub cut_short: Option<CutShort>,
}

/// Why a trial ended early.
#[derive(Clone, Copy, Debug, Serialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum CutShort {
    /// The whole trial would have transferred more data than allowed: this many bytes, at the rate of the first pair.
    WouldTake(u64),
    /// It has used up the allowed data.
    Taken,
}

/// A round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTrip {
    /// When it began, in seconds from the start of the trial.
    pub at_s: f64,
    /// Its length.
    pub ms: f64,
}

/// The measurements of one slot, without its first seconds.
#[derive(Clone, Debug, Serialize)]
pub struct Slot {
    /// Its purpose.
    pub purpose: Purpose,
    /// The number of its pair; 0 is the warm-up.
    pub pair: usize,
    /// Whether it was steered.
    pub steered: bool,
    /// Length of the part that counts, in seconds.
    pub seconds: f64,
    /// Probes that were answered.
    #[serde(skip)]
    pub round_trips: Vec<RoundTrip>,
    /// How many probes were not.
    pub unanswered: usize,
    /// Bytes that the interfaces carried, by [`Direction::ALL`].
    pub carried: [Way; 2],
    /// Bytes of the load itself, by [`Direction::ALL`], if they can be told from other traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_bytes: Option<[u64; 2]>,
    /// Signs of loss: segments that arrived behind a gap, or were retransmitted.
    pub lost: u64,
    /// Whether the queue drained before the next slot began.
    pub drained: bool,
}

/// What was carried in one direction.
#[derive(Clone, Debug, Default, Serialize, PartialEq)]
pub struct Way {
    /// Bytes of TCP that the law can steer, IP headers included.
    pub reached_bytes: u64,
    /// Bytes of TCP that it leaves alone.
    pub left_bytes: u64,
    /// Bytes without a window that were held.
    pub held_bytes: u64,
    /// Bytes without a window that were left alone,
    pub windowless_bytes: u64,
    /// and the kind that most of them are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windowless: Option<String>,
    /// Why most of them were left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unheld: Option<Holding>,
    /// Packets with a congestion mark (ECN's CE).
    pub marked_packets: u64,
    /// The part of the slot's tenths of a second in which any bytes came.
    pub active: f64,
}

impl Slot {
    /// An empty slot, as planned.
    pub fn new(planned: Planned) -> Self {
        Self {
            purpose: planned.purpose,
            pair: planned.pair,
            steered: planned.steered,
            seconds: 0.0,
            round_trips: Vec::new(),
            unanswered: 0,
            carried: Default::default(),
            load_bytes: None,
            lost: 0,
            drained: false,
        }
    }

    /// The delays, in arbitrary order.
    pub fn delays_ms(&self) -> Vec<f64> {
        self.round_trips.iter().map(|trip| trip.ms).collect()
    }

    /// The load's rate in bit/s; the interfaces' whole rate if the load is not counted separately.
    pub fn bps(&self, direction: Direction) -> f64 {
        let carried = || self.carried[direction as usize].bytes();
        let bytes = self
            .load_bytes
            .map_or_else(carried, |bytes| bytes[direction as usize]);
        if self.seconds > 0.0 {
            bytes as f64 * 8.0 / self.seconds
        } else {
            0.0
        }
    }
}

impl Way {
    /// All bytes.
    pub fn bytes(&self) -> u64 {
        self.reached_bytes + self.held_bytes + self.left_bytes + self.windowless_bytes
    }
}
