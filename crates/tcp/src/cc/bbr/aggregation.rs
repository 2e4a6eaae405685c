//! ACKs that come in bursts, as over Wi-Fi, cable and cellular links: how many segments more than
//! the bandwidth would deliver are acknowledged at once. The window needs room for them, or the
//! sender would stop between two bursts.

use crate::cc::path::Bandwidth;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// Rounds in a slot of the window; there are two slots.
const SLOT_ROUNDS: u32 = 5;

/// An epoch ends when it has acknowledged this many segments.
const EPOCH_SEGMENTS: u32 = 1 << 20;

/// The allowance is never more than the bandwidth delivers in this time.
const LONGEST: Duration = Duration::from_millis(100);

/// The largest excess of the last five to ten rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    /// When this epoch began, and segments acknowledged in it.
    epoch_at: Instant,
    epoch_acked: u32,
    /// The largest excess of each slot, in segments; which slot is current, and its rounds.
    excess: [u32; 2],
    slot: usize,
    rounds: u32,
}

impl Aggregation {
    /// A new epoch begins.
    pub fn restart(&mut self, now: Instant) {
        self.epoch_at = now;
        self.epoch_acked = 0;
    }

    /// A round begins.
    pub fn round(&mut self) {
        self.rounds += 1;
        if self.rounds >= SLOT_ROUNDS {
            self.rounds = 0;
            self.slot ^= 1;
            self.excess[self.slot] = 0;
        }
    }

    /// `acked` segments are delivered at `now`; the window is `cwnd`.
    pub fn acked(&mut self, now: Instant, bandwidth: Bandwidth, acked: u32, cwnd: u32) {
        let mut expected = bandwidth.segments(now - self.epoch_at);
        // Slower than expected: no burst, or it is over.
        if u64::from(self.epoch_acked) <= expected || self.epoch_acked + acked >= EPOCH_SEGMENTS {
            self.restart(now);
            expected = 0;
        }
        self.epoch_acked = (self.epoch_acked + acked).min(EPOCH_SEGMENTS - 1);
        let excess = u64::from(self.epoch_acked).saturating_sub(expected);
        let excess = u32::try_from(excess).unwrap_or(u32::MAX).min(cwnd);
        self.excess[self.slot] = self.excess[self.slot].max(excess);
    }

    /// Segments to allow for.
    pub fn allowance(&self, bandwidth: Bandwidth) -> u32 {
        let most = u32::try_from(bandwidth.segments(LONGEST)).unwrap_or(u32::MAX);
        self.excess[0].max(self.excess[1]).min(most)
    }
}
