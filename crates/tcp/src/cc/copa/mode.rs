//! Whether other senders fill the buffer, and δ for either case (§2.2).
//!
//! Flows of Copa alone empty the queue at least once in five round trips (§3). As long as the sender sees a nearly
//! empty queue that often it is in the default mode. Otherwise other senders fill the queue, and it competes: 1/δ grows
//! by one in a round trip and is halved by a loss, as NewReno's window is.

use super::Q16;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// 1/δ of the default mode, in packets: δ = 0.5.
const DEFAULT: u64 = 2 << Q16;

/// Round trips in which the queue has to have been nearly empty.
const EMPTY_WITHIN: u32 = 5;

/// The queue is nearly empty below this percentage of its largest recent delay.
const NEARLY_EMPTY_PERCENT: u64 = 10;

/// Or below this many packets of the flow's own, Q16: one and a half. At the target at least two of them wait.
const NEARLY_EMPTY: u64 = 3 << (Q16 - 1);

/// What the flow takes the other senders for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Senders that keep the queue short, too.
    Default,
    /// Senders that fill the buffer.
    Competitive,
}

/// Round trips, in µs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delays {
    /// The least of the last 10 s.
    pub min: u64,
    /// The least of the last half of a smoothed round trip.
    pub standing: u64,
    /// The greatest of the last four round trips.
    pub max: u64,
}

impl Delays {
    /// d_q: the queueing delay, in µs.
    pub const fn queueing(&self) -> u64 {
        self.standing.saturating_sub(self.min)
    }

    /// d_q < 0.1 (RTTmax − RTTmin), or less than [`NEARLY_EMPTY`] of the window of `cwnd` packets (Q16) wait. The
    /// paper's queue is a fluid, and empties exactly by its analysis. Ours consists of packets, which leave in pairs
    /// and wait for one another, and a tenth of the delay of five of them is less than one packet.
    fn queue_is_nearly_empty(&self, cwnd: u64) -> bool {
        let most = self.max.saturating_sub(self.min);
        let waiting = u128::from(cwnd) * u128::from(self.queueing());
        100 * self.queueing() < NEARLY_EMPTY_PERCENT * most
            || waiting <= u128::from(NEARLY_EMPTY) * u128::from(self.standing)
    }
}

/// The mode, and 1/δ.
#[derive(Debug)]
pub struct Competition {
    pub mode: Mode,
    /// 1/δ in packets, Q16.
    pub inverse_delta: u64,
    /// When the queue was nearly empty last.
    emptied_at: Instant,
    /// When 1/δ last grew, and when a loss halved it.
    raised_at: Instant,
    halved_at: Option<Instant>,
}

impl Competition {
    pub const fn new(now: Instant) -> Self {
        Self {
            mode: Mode::Default,
            inverse_delta: DEFAULT,
            emptied_at: now,
            raised_at: now,
            halved_at: None,
        }
    }

    /// Begins anew at `now`: earlier samples say nothing about other senders.
    pub fn begin(&mut self, now: Instant) {
        *self = Self::new(now);
    }

    /// An ACK with a window of `cwnd` (Q16): `srtt` is the smoothed round trip, `lost` whether it told of a loss.
    pub fn acked(&mut self, now: Instant, srtt: Duration, seen: (&Delays, u64), lost: bool) {
        let (delays, cwnd) = seen;
        if delays.queue_is_nearly_empty(cwnd) {
            self.emptied_at = now;
        }
        if now - self.emptied_at <= EMPTY_WITHIN * srtt {
            self.mode = Mode::Default;
            self.inverse_delta = DEFAULT;
            self.raised_at = now;
            return;
        }
        self.mode = Mode::Competitive;
        if lost {
            self.halve(now, srtt);
        } else if now - self.raised_at >= srtt {
            self.inverse_delta += 1 << Q16;
            self.raised_at = now;
        }
    }

    /// Once in a round trip, as NewReno takes all of a window's losses for one; never more timid than in the default mode.
    fn halve(&mut self, now: Instant, srtt: Duration) {
        if self.halved_at.is_none_or(|at| now - at >= srtt) {
            self.inverse_delta = (self.inverse_delta / 2).max(DEFAULT);
            self.halved_at = Some(now);
            self.raised_at = now;
        }
    }
}
