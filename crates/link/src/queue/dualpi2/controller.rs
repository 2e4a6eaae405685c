//! The proportional integral controller of p, the base probability of both queues' signals (RFC 9332 §A.1,
//! `dualpi2_update`; Linux's `calculate_probability`, in its integer arithmetic).

use crate::Instant;
use std::time::Duration;

/// A probability of 1; p stays just below it.
pub(super) const PROBABILITY_ONE: u64 = u32::MAX as u64;

/// Tupdate: how often p is computed.
const T_UPDATE: Duration = Duration::from_millis(16);

/// α = 0.16 Hz and β = 3.2 Hz, in 2⁻³² a nanosecond and [`SCALE`]: Linux's 41 and 819 of 256ths of a hertz.
const ALPHA: i64 = gain(41);
const BETA: i64 = gain(819);

/// Factor by which the gains are scaled up.
const SCALE: u64 = 64;

const fn gain(of_256: i64) -> i64 {
    ((of_256 * PROBABILITY_ONE as i64) >> 2) / 1_000_000_000
}

/// p, and the state that it is computed from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Controller {
    target_ns: i64,
    probability: u32,
    /// The delay at the last update, in nanoseconds.
    delay_ns: i64,
    next_update: Instant,
}

impl Controller {
    pub(super) fn new(target: Duration) -> Self {
        Self {
            target_ns: target.as_nanos() as i64,
            probability: 0,
            delay_ns: 0,
            next_update: Instant::ZERO + T_UPDATE,
        }
    }

    /// p, as a share of [`PROBABILITY_ONE`].
    pub(super) fn probability(&self) -> u32 {
        self.probability
    }

    /// Fixes p from now on.
    #[cfg(test)]
    pub(super) fn set_probability(&mut self, probability: u32) {
        self.probability = probability;
    }

    /// Makes the updates that were due until `now`. The packet that has waited longest arrived at `oldest`; none: the
    /// queue is empty and the delay 0.
    pub(super) fn catch_up(&mut self, now: Instant, oldest: Option<Instant>) {
        while self.next_update <= now {
            let at = self.next_update;
            let rests = oldest.is_none() && self.probability == 0 && self.delay_ns == 0;
            if rests {
                let missed = (now - at).as_nanos() / T_UPDATE.as_nanos() + 1;
                self.next_update +=
                    Duration::from_nanos(missed as u64 * T_UPDATE.as_nanos() as u64);
                return;
            }
            self.update(oldest.map_or(Duration::ZERO, |oldest| at - oldest));
            self.next_update += T_UPDATE;
        }
    }

    /// p ← p + α (delay − target) + β (delay − delay before).
    fn update(&mut self, delay: Duration) {
        let delay = delay.as_nanos() as i64;
        let delta = (delay - self.target_ns) * ALPHA + (delay - self.delay_ns) * BETA;
        self.delay_ns = delay;
        let change = u32::try_from(delta.unsigned_abs() / SCALE).unwrap_or(u32::MAX);
        self.probability = match delta > 0 {
            true => self.probability.saturating_add(change),
            false => self.probability.saturating_sub(change),
        };
    }
}

#[cfg(test)]
mod tests;
