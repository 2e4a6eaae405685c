//! Choices of which scenarios are made.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::ops::RangeInclusive;

/// Choices, the same for the same seed.
#[derive(Clone, Debug)]
pub struct Draw(Pcg64Mcg);

impl Draw {
    /// Those of that seed.
    pub fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// One of these numbers.
    pub fn count(&mut self, range: RangeInclusive<usize>) -> usize {
        self.0.random_range(range)
    }

    /// A seed of another generator, short enough for people.
    pub fn seed(&mut self) -> u64 {
        self.0.random_range(1..=1_000_000)
    }

    /// A part of a whole, from 0 to below 1, each as likely as any other.
    pub fn part(&mut self) -> f64 {
        self.0.random()
    }

    /// Whether what has that probability happens.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.0.random::<f64>() < probability
    }

    /// One of them.
    ///
    /// # Panics
    /// If there are none.
    pub fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.random_range(0..of.len())]
    }

    /// From `low` to `high`, each ratio as likely as any other; of two digits, for people.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        let exponent = libm::log(low) + self.0.random::<f64>() * libm::log(high / low);
        two_digits(libm::exp(exponent)).clamp(low, high)
    }
}

/// The nearest number of two digits.
pub fn two_digits(value: f64) -> f64 {
    digits(value, 2)
}

/// The nearest number of so many digits, `value` being above 0.
pub fn digits(value: f64, digits: u32) -> f64 {
    let last = libm::floor(libm::log10(value)) + 1.0 - f64::from(digits);
    let magnitude = libm::pow(10.0, last);
    // A multiple of 0.1 has digits that nobody wrote; a quotient by 10 has not.
    match magnitude < 1.0 {
        true => libm::round(value / magnitude) / libm::round(1.0 / magnitude),
        false => libm::round(value / magnitude) * libm::round(magnitude),
    }
}
