use super::*;
use crate::cc::path::bottleneck::{Bottleneck, Link, MSS};

mod startup;
mod steady;
mod unusual;

/// A flow over `link`, which has run for `secs`.
fn flow(link: Link, secs: u64) -> Bottleneck<Bbr> {
    let mut b = Bottleneck::new(Bbr::new(1), link);
    b.run(Duration::from_secs(secs), |_| {});
    b
}

/// The estimated bandwidth in segments a second.
fn estimate(b: &Bottleneck<Bbr>) -> u64 {
    b.control.bandwidth().segments(Duration::from_secs(1))
}

/// Whether `value` is within `percent` of `expected`.
fn near(value: u64, expected: u64, percent: u64) -> bool {
    value.abs_diff(expected) * 100 <= expected * percent
}
