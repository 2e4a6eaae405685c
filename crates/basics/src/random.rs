//! Draws from distributions, with the same bits on every platform.
//!
//! They are `rand_distr`'s, draw by draw, except for the last bits, with `exp`, `log` and `pow` of [`libm`].
//! `rand_distr` takes those from the platform as soon as any crate of a build turns on `num-traits/std`, which most do,
//! and platforms differ in the last bit.

mod draw;
mod ziggurat;

pub use draw::{Draw, digits, two_digits};

use rand::distr::{Open01, OpenClosed01};
use rand::{Rng, RngExt};
use ziggurat::{EXPONENTIAL, NORMAL};

/// From the normal distribution of mean 0 and deviation 1.
pub fn normal<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    let density = |x: f64| libm::exp(-x * x / 2.0);
    NORMAL.draw(rng, density, |rng, u| {
        let beyond = normal_tail(rng, NORMAL.tail());
        if u < 0.0 { -beyond } else { beyond }
    })
}

/// From the normal distribution's tail beyond `start` (G. Marsaglia, "Generating a variable from the tail
/// of the normal distribution", Technometrics 6, 1964).
fn normal_tail<R: Rng + ?Sized>(rng: &mut R, start: f64) -> f64 {
    loop {
        let x = -libm::log(rng.sample(Open01)) / start;
        let y = -libm::log(rng.sample(Open01));
        if 2.0 * y >= x * x {
            return start + x;
        }
    }
}

/// From the exponential distribution of mean 1.
pub fn exponential<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    let density = |x: f64| libm::exp(-x);
    // It has no memory: the distribution beyond the tail's start is that beyond 0.
    EXPONENTIAL.draw(rng, density, |rng, _| {
        EXPONENTIAL.tail() - libm::log(rng.random::<f64>())
    })
}

/// From the Pareto distribution with that shape, above 0, and scale 1: the share x^−`shape` of the draws is larger than
/// x.
pub fn pareto<R: Rng + ?Sized>(rng: &mut R, shape: f64) -> f64 {
    let share: f64 = rng.sample(OpenClosed01);
    libm::pow(share, -1.0 / shape)
}

/// From the log-normal distribution with median 1 whose logarithm has that deviation.
pub fn log_normal<R: Rng + ?Sized>(rng: &mut R, deviation: f64) -> f64 {
    libm::exp(deviation * normal(rng))
}

#[cfg(test)]
mod tests;
