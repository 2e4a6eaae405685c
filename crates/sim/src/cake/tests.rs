//! `tc -s qdisc show` of Linux 6.12 for CAKE at some rates, in the digits that it prints.

use super::*;

/// Target and interval in units of 10 µs and of a millisecond, and the quantum in bytes.
fn at(kbps: f64) -> (u128, u128, u32) {
    let queues = queues(kbps * 1e3);
    let hundredths = (queues.target.as_micros() + 5) / 10;
    (hundredths, queues.interval.as_millis(), queues.quantum)
}

#[test]
fn queues_are_those_of_the_kernel() {
    assert_eq!(at(24_854.0), (500, 100, 758));
    assert_eq!(at(5_151.0), (500, 100, 300));
    assert_eq!(at(1_900.0), (956, 104, 300));
    assert_eq!(at(890.0), (2_041, 115, 300));
    assert_eq!(at(380.0), (4_781, 142, 300));
}

#[test]
fn a_quantum_is_a_packet_at_most() {
    assert_eq!(at(49_610.0).2, 1_513);
    assert_eq!(at(80_000.0).2, 1_514);
}
