use super::super::tests::driver::{Driver, ms};
use super::*;

fn after_loss(cwnd: u32) -> Driver<Bic> {
    let mut d = Driver::new(Bic::default(), cwnd);
    d.w.clamp = cwnd;
    d.round(ms(100));
    d.w.clamp = u32::MAX;
    d.lose();
    d
}

/// Linux's factor of growth if each segment has its ACK: `delayed_ack` begins at 32/16 and rounds to 31/16.
const RATIO: f64 = 31.0 / 16.0;

/// Growth in a round trip, after the paper with Linux's constants, in segments.
fn growth(cwnd: f64, max: f64) -> f64 {
    let d = (cwnd - max).abs();
    if cwnd < max {
        match d / 4.0 {
            far if far > 16.0 => 16.0,
            near if near < 2.0 => 4.0 / 20.0,
            step => step,
        }
    } else {
        match d {
            ..4.0 => 4.0 / 20.0,
            4.0..48.0 => d / 3.0,
            _ => 16.0,
        }
    }
}

/// Follows it from `cwnd` while `condition` holds, searching around 1000.
fn follow(cwnd: u32, allowed: f64, condition: impl Fn(u32) -> bool) {
    let mut d = after_loss(1000);
    assert_eq!((d.w.cwnd, d.cc.last_max), (799, 1000));
    d.w.cwnd = cwnd;
    let mut expected = f64::from(cwnd);
    while condition(d.w.cwnd) {
        d.round(ms(100));
        // Growth follows the window within a round trip, too.
        for _ in 0..10 {
            expected += RATIO * growth(expected, 1000.0) / 10.0;
        }
        let error = f64::from(d.w.cwnd) - expected;
        assert!(error.abs() <= allowed, "{} for {expected}", d.w.cwnd);
    }
}

#[test]
fn it_searches_for_the_window_of_the_loss() {
    follow(799, 3.0, |cwnd| cwnd < 1000);
}

#[test]
fn beyond_it_probes_faster_and_faster() {
    follow(1004, 10.0, |cwnd| cwnd < 1300);
}

/// 5 % a round trip, doubled.
#[test]
fn before_the_first_loss_it_probes_faster_than_reno() {
    let mut d = Driver::new(Bic::default(), 800);
    d.w.ssthresh = 800;
    d.round(ms(20));
    assert_eq!(d.w.cwnd, 880);
}

#[test]
fn a_loss_leaves_four_fifths_and_half_of_small_windows() {
    for (before, after) in [(1000, 799), (100, 79), (15, 11), (14, 7), (3, 2)] {
        let mut d = Driver::new(Bic::default(), before);
        d.lose();
        assert_eq!(d.w.cwnd, after);
    }
}

#[test]
fn small_windows_grow_as_reno() {
    let mut d = after_loss(20);
    d.w.cwnd = 8;
    d.w.ssthresh = 8;
    for expected in [9, 10, 11, 12] {
        d.round(ms(100));
        assert_eq!(d.w.cwnd, expected);
    }
}

#[test]
fn fast_convergence_makes_room_for_others() {
    let mut d = after_loss(1000);
    d.w.cwnd = 800;
    d.lose();
    // (1 + 0.8)/2 of 800.
    assert_eq!(d.cc.last_max, 719);
}

#[test]
fn delayed_acks_are_taken_for_what_they_acknowledge() {
    let mut d = Driver::new(Bic::default(), 1000);
    assert_eq!(d.cc.delayed_ack, 32);
    for _ in 0..200 {
        d.ack(ms(1), 4, ms(100));
    }
    assert_eq!(d.cc.delayed_ack >> 4, 4);
    d.set_state(Recovery::Recovery);
    let before = d.cc.delayed_ack;
    d.ack(ms(1), 1, ms(100));
    assert_eq!(d.cc.delayed_ack, before);
}

#[test]
fn a_timeout_forgets_the_maximum() {
    let mut d = after_loss(1000);
    d.time_out();
    assert_eq!((d.cc.last_max, d.w.ssthresh), (0, 639));
}
