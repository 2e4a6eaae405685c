//! What a rate could have carried. Utilisation is measured against it.

use super::{Rate, fluid};
use crate::Instant;
use std::fmt::Debug;

/// A meter of the bytes that a link of some rate could have carried.
///
/// For a generated cell or walk it generates the rate a second time. That is cheap as long as questions come in order
/// of time; a question about the past starts again from zero.
#[derive(Debug)]
pub struct Capacity(Box<dyn Meter>);

/// Counts what a rate could have carried; questions may come in any order.
pub(crate) trait Meter: Debug + Send + Sync {
    /// Bytes that could have been carried before `t`.
    fn bytes_before(&mut self, t: Instant) -> u64;
}

impl Capacity {
    /// A meter for `rate`.
    pub fn new(rate: &Rate) -> Self {
        Self(rate.meter())
    }

    /// Bytes that could have been carried in [`from`, `to`): whole ones, rounded so that the sums
    /// over adjacent intervals add up.
    pub fn bytes(&mut self, from: Instant, to: Instant) -> u64 {
        let before = self.before(from);
        self.before(to.max(from)) - before
    }

    /// Bytes that could have been carried before `t`.
    pub(crate) fn before(&mut self, t: Instant) -> u64 {
        self.0.bytes_before(t)
    }
}

pub(super) fn whole_bytes(nanobits: u128) -> u64 {
    (nanobits / u128::from(fluid::NANOBITS_PER_BYTE)) as u64
}

#[cfg(test)]
mod tests;
