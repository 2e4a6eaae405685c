//! Policers: token buckets that drop what exceeds a rate, and queue nothing. Until its tokens run out, a policer
//! delivers more than that rate, so the largest recent rate does not last.
//!
//! ```text
//! off ── loss ──▶ sampling ── two intervals alike ──▶ in use ── 48 rounds of PROBE_BW ──▶ off
//! ```
//!
//! An interval runs from a loss to a loss, when the bucket is empty both times; it lasts 4 to 16
//! rounds and has lost at least a fifth of what it delivered. Two in a row with the same rate (within
//! an eighth, or 4 kbit/s) are taken for a policer's, and their mean is the rate to go by.

use crate::cc::path::{Bandwidth, Gain};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// The least rounds of an interval; the most are four times as many.
const LEAST_ROUNDS: u32 = 4;

/// Lost segments for one delivered that make an interval lossy: 50/256, about a fifth.
const LOSS: Gain = Gain::ratio(50, 256);

/// Two rates are alike if they differ by at most this part,
const ALIKE: Gain = Gain::ratio(1, 8);

/// or by at most this many bytes a second.
const ALIKE_BYTES: u64 = 4000 / 8;

/// Rounds for which the policer's rate is used before something else is tried.
const USE_ROUNDS: u32 = 48;

/// The connection's counts at some moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub at: Instant,
    pub delivered: u64,
    pub lost: u64,
}

impl Totals {
    /// Linux notes the time in milliseconds.
    fn millis(&self) -> u64 {
        self.at.as_nanos() / 1_000_000
    }
}

/// The state of the detection.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTerm {
    /// The rate of the last interval; zero if there is none.
    rate: Bandwidth,
    /// Whether this rate is used.
    in_use: bool,
    sampling: bool,
    /// Rounds of this interval, or of use.
    rounds: u32,
    /// When this interval began.
    since: Totals,
}

impl LongTerm {
    /// The policer's rate, if there is one.
    pub fn rate(&self) -> Option<Bandwidth> {
        self.in_use.then_some(self.rate)
    }

    /// Back to the beginning.
    pub fn reset(&mut self, totals: Totals) {
        *self = Self {
            since: totals,
            ..Self::default()
        };
    }

    /// A round of PROBE_BW begins while the rate is in use; whether it has been for long enough.
    pub fn used_up(&mut self) -> bool {
        self.rounds += 1;
        self.rounds >= USE_ROUNDS
    }

    /// An ACK while the rate is not in use. Returns whether it is from now on.
    pub fn sample(
        &mut self,
        totals: Totals,
        round: bool,
        losses: u32,
        app_limited: bool,
        mss: u32,
    ) -> bool {
        if !self.sampling {
            if losses == 0 {
                return false;
            }
            self.begin(totals);
            self.sampling = true;
        }
        // The application's pauses would be taken for a low rate.
        if app_limited {
            self.reset(totals);
            return false;
        }
        self.rounds += u32::from(round);
        if self.rounds < LEAST_ROUNDS {
            return false;
        }
        if self.rounds > 4 * LEAST_ROUNDS {
            self.reset(totals);
            return false;
        }
        losses > 0 && self.interval_done(totals, mss)
    }

    fn begin(&mut self, totals: Totals) {
        self.since = totals;
        self.rounds = 0;
    }

    /// An interval ends with a loss. Returns whether two were alike.
    fn interval_done(&mut self, totals: Totals, mss: u32) -> bool {
        let delivered = totals.delivered - self.since.delivered;
        let lost = totals.lost - self.since.lost;
        let millis = totals.millis() - self.since.millis();
        // Not lossy enough, or too short: wait.
        if delivered == 0 || lost << 8 < LOSS.times(delivered << 8) || millis == 0 {
            return false;
        }
        let rate = Bandwidth::new(delivered, Duration::from_millis(millis));
        if self.rate > Bandwidth::ZERO {
            let difference = rate.abs_diff(self.rate);
            if difference <= self.rate.scaled(ALIKE)
                || difference.pacing_rate(mss, Gain::ONE) <= ALIKE_BYTES
            {
                self.rate = rate.mean(self.rate);
                self.in_use = true;
                self.rounds = 0;
                return true;
            }
        }
        self.rate = rate;
        self.begin(totals);
        false
    }
}
