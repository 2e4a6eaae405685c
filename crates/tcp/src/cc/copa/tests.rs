//! Each rule by itself, and what they make of a path together.

use super::super::tests::driver::{flight, ms, window};
use super::mode::Mode;
use super::*;
use crate::cc::path::bottleneck::{Bottleneck, Link, MSS};

mod modes;
mod paths;

/// The flow of `delays` (RTTmin, RTTstanding, RTTmax in ms) with a window of `cwnd`, out of slow start.
fn copa(cwnd: u64, [min, standing, max]: [u64; 3]) -> Copa {
    Copa {
        cwnd: cwnd << Q16,
        slow_start: false,
        delays: Delays {
            min: 1000 * min,
            standing: 1000 * standing,
            max: 1000 * max,
        },
        velocity: Velocity::new(cwnd << Q16),
        ..Copa::default()
    }
}

/// Packets with two places behind the point.
fn packets(q16: u64) -> f64 {
    (q16 as f64 / 65_536.0 * 100.0).round() / 100.0
}

#[test]
fn the_target_is_that_two_packets_wait() {
    // With 100 ms, 10 of them in the queue, λt is 1/(0.5 · 10 ms): 20 packets in a round trip.
    assert!(copa(20, [90, 100, 100]).is_below_target());
    assert!(!copa(21, [90, 100, 100]).is_below_target());
    // No queue, no bound.
    assert!(copa(1_000_000, [100, 100, 100]).is_below_target());
}

#[test]
fn an_ack_moves_the_window_by_v_over_delta_and_window() {
    let mut up = copa(10, [90, 100, 100]);
    up.steer(Instant::ZERO, 1, true);
    assert_eq!(packets(up.cwnd), 10.2);
    // It has gone up for a round.
    up.velocity.round(11 << Q16, 2 << Q16);
    up.velocity.v = 4;
    up.steer(Instant::ZERO, 2, true);
    // 2 · 4 · 2 / 10.2
    assert_eq!(packets(up.cwnd), 11.77);

    let mut down = copa(40, [90, 100, 100]);
    down.steer(Instant::ZERO, 1, true);
    assert_eq!(packets(down.cwnd), 39.95);
}

#[test]
fn a_window_that_limits_nothing_falls_and_does_not_grow() {
    let mut idle = copa(10, [90, 100, 100]);
    idle.steer(Instant::ZERO, 1, false);
    assert_eq!(packets(idle.cwnd), 10.0);
    let mut queued = copa(40, [90, 100, 100]);
    queued.steer(Instant::ZERO, 1, false);
    assert_eq!(packets(queued.cwnd), 39.95);
}

#[test]
fn slow_start_doubles_until_the_rate_is_the_target() {
    let mut c = copa(10, [100, 100, 100]);
    c.slow_start = true;
    c.steer(Instant::ZERO, 10, true);
    assert_eq!((packets(c.cwnd), c.slow_start), (20.0, true));
    // Now 10 ms of queue: the target is 20 or a little more.
    c.delays.standing = 110_000;
    c.steer(Instant::ZERO, 3, true);
    assert_eq!((packets(c.cwnd), c.slow_start), (23.0, true));
    c.steer(Instant::ZERO, 1, true);
    // Out of it, and down by 2/23 of a packet.
    assert_eq!((packets(c.cwnd), c.slow_start), (22.91, false));
}

#[test]
fn packets_are_paced_at_twice_the_rate() {
    let c = copa(20, [90, 100, 100]);
    // 2 · 20 packets in 100 ms.
    assert_eq!(c.pacing_rate(1000), 400_000);
}

#[test]
fn velocity_doubles_from_the_fourth_round_of_a_direction_on() {
    let delta = 2 << Q16;
    let mut velocity = Velocity::new(100 << Q16);
    let mut seen = Vec::new();
    for cwnd in [102, 104, 106, 108, 110, 114, 110, 106, 108] {
        velocity.round(cwnd << Q16, delta);
        seen.push(velocity.v);
    }
    assert_eq!(seen, [1, 1, 1, 2, 4, 8, 1, 1, 1]);
}

#[test]
fn a_round_moves_the_window_by_no_more_than_itself() {
    let delta = 2 << Q16;
    let mut velocity = Velocity::new(10 << Q16);
    for cwnd in 11..40 {
        velocity.round(cwnd << Q16, delta);
        assert!(velocity.v <= cwnd / 2, "{} at {cwnd}", velocity.v);
    }
    assert_eq!(velocity.v, 19);
}

#[test]
fn a_timeout_begins_anew_and_may_prove_to_have_been_none() {
    let mut c = copa(40, [90, 100, 100]);
    let (mut w, mut f) = (window(40, 40), flight());
    c.event(&mut w, &f, Event::Timeout);
    assert_eq!((packets(c.cwnd), c.slow_start), (2.0, true));
    assert_eq!(w.ssthresh, Window::NO_SSTHRESH);
    f.recovery = Recovery::Loss;
    assert_eq!(c.undo_cwnd(&w, &f), 40);
}

#[test]
fn the_window_is_two_packets_at_least_and_its_clamp_at_most() {
    let mut w = window(1, 1);
    w.clamp = 30;
    let mut c = copa(1, [90, 100, 100]);
    c.apply(&mut w, &flight());
    assert_eq!(w.cwnd, 2);
    c.cwnd = 31 << Q16;
    c.apply(&mut w, &flight());
    assert_eq!((w.cwnd, packets(c.cwnd)), (30, 30.0));
}
