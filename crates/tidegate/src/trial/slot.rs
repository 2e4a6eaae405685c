//! What was measured, slot by slot.

use super::plan::{Planned, Purpose};
use serde::Serialize;
use tidegate_agent::{Direction, Holding};

/// The second half of a trial's matter: the first is the idle link.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// Round trips of the idle link before the first slot, in ms.
    pub idle_ms: Vec<f64>,
    /// Slots that are over, in their order.
    pub slots: Vec<Slot>,
    /// Why there are no more of them, if that was not the plan.
    pub cut_short: Option<CutShort>,
}

/// Why a trial ended early.
#[derive(Clone, Copy, Debug, Serialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum CutShort {
    /// It would have taken more data than it may: so many bytes, at the rate of the first pair.
    WouldTake(u64),
    /// It has taken all the data that it may.
    Taken,
}

/// A round trip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTrip {
    /// When it began: seconds since the trial did.
    pub at_s: f64,
    /// How long it took.
    pub ms: f64,
}

/// What was met in one slot, from when it had settled on.
#[derive(Clone, Debug, Serialize)]
pub struct Slot {
    /// What for.
    pub purpose: Purpose,
    /// Of the pair, from 0, the warm-up.
    pub pair: usize,
    /// Whether there was steering.
    pub steered: bool,
    /// Its length that counts, in seconds.
    pub seconds: f64,
    /// Those that were answered.
    #[serde(skip)]
    pub round_trips: Vec<RoundTrip>,
    /// Questions that were not.
    pub unanswered: usize,
    /// What the interfaces carried, by [`Direction::ALL`].
    pub carried: [Way; 2],
    /// What the load itself carried, by [`Direction::ALL`], as far as that can be told from all else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_bytes: Option<[u64; 2]>,
    /// Signs of loss: segments that arrived behind a gap, or had to be sent again.
    pub lost: u64,
    /// Whether the delay was as it was without load before the next one began.
    pub drained: bool,
}

/// What was carried one way.
#[derive(Clone, Debug, Default, Serialize, PartialEq)]
pub struct Way {
    /// Bytes of TCP that the law can steer, from the IP header on.
    pub reached_bytes: u64,
    /// Bytes of TCP that it leaves alone.
    pub left_bytes: u64,
    /// Bytes of what has no window, and was held.
    pub held_bytes: u64,
    /// Bytes of what has no window, and was left alone,
    pub windowless_bytes: u64,
    /// which is mostly this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub windowless: Option<String>,
    /// Why most of it was left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unheld: Option<Holding>,
    /// Packets that say that they met a queue (ECN's CE).
    pub marked_packets: u64,
    /// The part of the time, in tenths of a second, in which anything came.
    pub active: f64,
}

impl Slot {
    /// Nothing yet of what was planned.
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

    /// The delays, in no order that means anything.
    pub fn delays_ms(&self) -> Vec<f64> {
        self.round_trips.iter().map(|trip| trip.ms).collect()
    }

    /// The load's bits a second; all that the interfaces carried where the load is not known from the rest.
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
    /// All of them.
    pub fn bytes(&self) -> u64 {
        self.reached_bytes + self.held_bytes + self.left_bytes + self.windowless_bytes
    }
}

/// The value below which `part` of them lie, the nearer of the two at either side; none of none.
pub fn quantile(values: &[f64], part: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = part * sorted.len().checked_sub(1)? as f64;
    let (below, above) = (place as usize, (place as usize + 1).min(sorted.len() - 1));
    let between = place - below as f64;
    Some(sorted[below] + (sorted[above] - sorted[below]) * between)
}

/// The one in the middle.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_lie_between_values() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(quantile(&[1.0, 2.0], 0.95), Some(1.95));
        assert_eq!(quantile(&[7.0], 0.95), Some(7.0));
    }
}
