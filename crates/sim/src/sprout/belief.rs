//! The receiver's belief about the link's rate (§3.1, §3.2): a probability for each of 256 rates.
//!
//! Packets leave the link as a Poisson process whose rate λ performs a random walk: over a time τ it changes with a
//! standard deviation of σ√τ. An outage, λ = 0, ends at the rate λz. Each tick widens the belief by this walk, then
//! weighs it by the Poisson probability of the packets that arrived.

use super::TICK;
use std::sync::LazyLock;

/// Rates, from 0 to [`MOST_RATE`].
pub const RATES: usize = 256;

/// The highest rate, in packets a second.
pub const MOST_RATE: f64 = 1000.0;

/// σ: standard deviation of the rate's walk, in packets/s/√s.
const WANDER: f64 = 200.0;

/// λz: rate at which outages end, per second.
const ESCAPE: f64 = 1.0;

/// Standard deviations to which a tick's change of the rate is cut off.
const REACH: f64 = 5.0;

/// The tick in seconds.
pub const TICK_S: f64 = TICK.as_millis() as f64 / 1e3;

/// Difference between neighbouring rates, in packets a second.
const STEP: f64 = MOST_RATE / (RATES - 1) as f64;

/// The `nth` rate, in packets a second.
pub fn rate(nth: usize) -> f64 {
    nth as f64 * STEP
}

/// How a tick changes the rate.
#[derive(Debug)]
struct Drift {
    /// Probability of a change by that many rates, up or down alike.
    by: Vec<f64>,
    /// Probability that an outage lasts.
    stays: f64,
}

static DRIFT: LazyLock<Drift> = LazyLock::new(|| {
    let deviation = WANDER * libm::sqrt(TICK_S);
    // The normal distribution, up to half a rate beyond `rates`.
    let below = |rates: f64| {
        let x = rates * STEP / deviation;
        0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)
    };
    let reach = (REACH * deviation / STEP) as usize;
    let by = |n: usize| below(n as f64 + 0.5) - below(n as f64 - 0.5);
    Drift {
        by: (0..=reach).map(by).collect(),
        stays: libm::exp(-ESCAPE * TICK_S),
    }
});

/// A probability for each rate; they add up to 1.
#[derive(Clone, Debug)]
pub struct Belief {
    of: [f64; RATES],
}

impl Belief {
    /// Nothing is known: all rates are equally likely.
    pub fn uniform() -> Self {
        Self {
            of: [1.0 / RATES as f64; RATES],
        }
    }

    /// The rate is certainly the `nth`.
    pub fn certain(nth: usize) -> Self {
        let mut of = [0.0; RATES];
        of[nth] = 1.0;
        Self { of }
    }

    /// The probability of each rate.
    pub fn probabilities(&self) -> &[f64; RATES] {
        &self.of
    }

    /// A tick passes (§3.2.1). Probability that would move below 0 or beyond the highest rate is dropped.
    pub fn evolve(&mut self) {
        let drift = &*DRIFT;
        let reach = drift.by.len() - 1;
        let mut next = [0.0; RATES];
        for (from, &p) in self.of.iter().enumerate().filter(|&(_, &p)| p > 0.0) {
            let leaves = if from == 0 { 1.0 - drift.stays } else { 1.0 };
            let reached = from.saturating_sub(reach)..=(from + reach).min(RATES - 1);
            for to in reached {
                next[to] += p * leaves * drift.by[from.abs_diff(to)];
            }
        }
        next[0] += self.of[0] * drift.stays;
        self.of = next;
        self.normalise();
    }

    /// `packets` packets have arrived in a tick (§3.2.2).
    pub fn observe(&mut self, packets: u32) {
        let mut weights = [f64::NEG_INFINITY; RATES];
        for (nth, weight) in weights.iter_mut().enumerate() {
            *weight = log_poisson(rate(nth) * TICK_S, packets);
        }
        let most = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (p, weight) in self.of.iter_mut().zip(weights) {
            *p *= libm::exp(weight - most);
        }
        self.normalise();
    }

    fn normalise(&mut self) {
        let sum: f64 = self.of.iter().sum();
        if sum > 0.0 {
            self.of.iter_mut().for_each(|p| *p /= sum);
        } else {
            // The belief held this observation impossible: start anew.
            *self = Self::uniform();
        }
    }
}

/// The logarithm of the Poisson probability of `packets` with a mean of `mean`, without the term that all means share.
pub fn log_poisson(mean: f64, packets: u32) -> f64 {
    match (mean > 0.0, packets) {
        (true, _) => f64::from(packets) * libm::log(mean) - mean,
        (false, 0) => 0.0,
        (false, _) => f64::NEG_INFINITY,
    }
}
