//! Random choices that make up scenarios.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::ops::RangeInclusive;

/// Random choices, the same for the same seed.
#[derive(Clone, Debug)]
pub struct Draw(Pcg64Mcg);

impl Draw {
    /// The choices of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// A number from the range.
    pub fn count(&mut self, range: RangeInclusive<usize>) -> usize {
        self.0.random_range(range)
    }

    /// A seed for another generator, short enough for people.
    pub fn seed(&mut self) -> u64 {
        self.0.random_range(1..=1_000_000)
    }

    /// A number from 0 to below 1, uniformly distributed.
    pub fn part(&mut self) -> f64 {
        self.0.random()
    }

    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.0.random::<f64>() < probability
    }

    /// One of the values.
    ///
    /// # Panics
    /// If there are none.
    pub fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.random_range(0..of.len())]
    }

    /// A number from `low` to `high` with uniformly distributed logarithm, rounded to two digits, for people.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        let exponent = libm::log(low) + self.0.random::<f64>() * libm::log(high / low);
        two_digits(libm::exp(exponent)).clamp(low, high)
    }
}

/// The nearest number of two digits.
pub fn two_digits(value: f64) -> f64 {
    digits(value, 2)
}

/// The nearest number of `digits` digits, for `value` above 0.
pub fn digits(value: f64, digits: u32) -> f64 {
    let last = libm::floor(libm::log10(value)) + 1.0 - f64::from(digits);
    let magnitude = libm::pow(10.0, last);
    // A multiple of 0.1 shows rounding errors in binary; a quotient by 10 does not.
    match magnitude < 1.0 {
        true => libm::round(value / magnitude) / libm::round(1.0 / magnitude),
        false => libm::round(value / magnitude) * libm::round(magnitude),
    }
}
