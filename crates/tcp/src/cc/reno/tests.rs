use super::super::tests::driver::{Driver, Path, ms};
use super::*;

#[test]
fn slow_start_doubles_and_avoidance_adds_one_a_round_trip() {
    let mut d = Driver::new(Reno, 10);
    d.w.ssthresh = 40;
    for expected in [20, 40, 41, 42, 43] {
        d.round(ms(100));
        assert_eq!(d.w.cwnd, expected);
    }
}

#[test]
fn stretch_acks_add_as_much_as_many() {
    let mut d = Driver::after_loss(Reno, 80);
    for _ in 0..10 {
        d.ack(ms(10), 4, ms(100));
    }
    assert_eq!(d.w.cwnd, 41);
}

#[test]
fn the_rest_of_an_ack_that_ends_slow_start_counts_as_avoidance() {
    let mut d = Driver::new(Reno, 10);
    d.w.ssthresh = 12;
    d.ack(ms(1), 5, ms(100));
    assert_eq!((d.w.cwnd, d.w.count), (12, 3));
}

#[test]
fn a_loss_halves_down_to_two() {
    for (before, after) in [(100, 50), (101, 50), (5, 2), (3, 2), (1, 2)] {
        let mut d = Driver::new(Reno, before);
        d.lose();
        assert_eq!((d.w.ssthresh, d.w.cwnd), (after, after));
    }
}

/// Mathis et al. 1997: between two losses at a window of W, W/2 round trips carry 3/8·W² segments.
#[test]
fn the_saw_tooth_carries_three_eighths_of_the_window_squared() {
    let (bdp, buffer) = (100.0, 60);
    let mut path = Path::new(Reno, ms(99), ms(1), buffer);
    path.run(ms(120_000));
    let w = bdp + f64::from(buffer);
    let expected = 3.0 / 8.0 * w * w;
    let error = path.cycle as f64 / expected - 1.0;
    assert!(error.abs() < 0.05, "{} for {expected}", path.cycle);
}
