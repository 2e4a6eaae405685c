//! The draft's appendix A, "BBR Example Test Cases", and some more.

use super::*;
use crate::cc::path::bottleneck::{Bottleneck, Link};

mod losses;
mod probe_bw;
mod probe_rtt;
mod startup;

/// A flow over `link`, which has run for `secs`.
fn flow(link: Link, secs: u64) -> Bottleneck<Bbr3> {
    let mut b = Bottleneck::new(Bbr3::new(1), link);
    b.run(Duration::from_secs(secs), |_| {});
    b
}

/// Runs until the flow is in `state`; false if `secs` do not suffice.
fn until(b: &mut Bottleneck<Bbr3>, state: State, secs: u64) -> bool {
    b.run_until(Duration::from_secs(secs), |b| b.control.state == state)
}

/// Runs until the flow is no longer in `state`.
fn leaves(b: &mut Bottleneck<Bbr3>, state: State, secs: u64) -> bool {
    b.run_until(Duration::from_secs(secs), |b| b.control.state != state)
}

/// A rate in segments a second.
fn per_second(bandwidth: Bandwidth) -> u64 {
    bandwidth.segments(Duration::from_secs(1))
}

/// Whether `value` is within `percent` of `expected`.
fn near(value: u64, expected: u64, percent: u64) -> bool {
    value.abs_diff(expected) * 100 <= expected * percent
}

/// The states that the flow goes through in `secs`, each with the time it was entered.
fn states(b: &mut Bottleneck<Bbr3>, secs: u64) -> Vec<(State, Instant)> {
    let mut states = vec![(b.control.state, b.now)];
    b.run(Duration::from_secs(secs), |b| {
        if states.last().unwrap().0 != b.control.state {
            states.push((b.control.state, b.now));
        }
    });
    states
}
