use super::super::tests::driver::{Driver, ms};
use super::*;

/// RFC 3649 §5 with Low_Window 38, High_Window 83000, High_P 1e-7, High_Decrease 0.1.
fn b(w: f64) -> f64 {
    (0.1 - 0.5) * libm::log(w / 38.0) / libm::log(83_000.0 / 38.0) + 0.5
}

/// The response function, inverted: the loss rate at which the window is w.
fn p(w: f64) -> f64 {
    0.078 / libm::pow(w, 1.2)
}

fn a(w: f64) -> f64 {
    w * w * p(w) * 2.0 * b(w) / (2.0 - b(w))
}

#[test]
fn the_table_is_that_of_the_response_function() {
    assert_eq!(TABLE[0], (38, 128));
    for (i, &(w, decrease)) in TABLE.iter().enumerate().skip(1) {
        let w = f64::from(w);
        assert_eq!(f64::from(decrease), (256.0 * b(w)).floor(), "b({w})");
        let row = i as f64 + 1.0;
        assert!((a(w) - row).abs() < 0.05, "a({w}) = {}", a(w));
    }
}

/// Appendix B: the row up to 1058 has a = 8 and b = 0.33.
#[test]
fn a_round_trip_adds_a_and_a_loss_takes_b() {
    for (cwnd, a, left) in [
        (20, 1, 0.5),
        (1000, 8, 0.67),
        (10_000, 30, 0.79),
        (80_000, 71, 0.9),
    ] {
        let mut d = Driver::new(HighSpeed::default(), cwnd);
        d.w.ssthresh = cwnd;
        d.round(ms(100));
        let grown = d.w.cwnd - cwnd;
        assert!(grown.abs_diff(a) <= 1, "{grown} at {cwnd}");
        let before = f64::from(d.w.cwnd);
        d.lose();
        let kept = f64::from(d.w.cwnd) / before;
        let rounding = 0.01 + 1.0 / before;
        assert!((kept - left).abs() < rounding, "{kept} of {before}");
    }
}

/// RFC 3649 §5: W = 0.12 / p^0.835; somewhat above, because a row serves all windows below it.
#[test]
fn the_mean_window_is_that_of_the_response_function() {
    for p in [1e-4f64, 1e-5] {
        let mut d = Driver::new(HighSpeed::default(), 50);
        d.w.ssthresh = 50;
        let (mut rounds, mut sent) = (0u64, 0u64);
        for loss in 0..20 {
            let mut left = (1.0 / p) as u64;
            while left > 0 {
                if loss >= 10 {
                    rounds += 1;
                    sent += u64::from(d.w.cwnd);
                }
                left = left.saturating_sub(d.w.cwnd.into());
                d.round(ms(100));
            }
            d.lose();
        }
        let mean = sent as f64 / rounds as f64;
        let expected = 0.12 / libm::pow(p, 0.835);
        assert!((mean / expected - 1.0).abs() < 0.2, "{mean} for {expected}");
    }
}

#[test]
fn the_row_follows_the_window_both_ways() {
    let mut h = HighSpeed::default();
    for (cwnd, row) in [
        (38, 0),
        (39, 1),
        (118, 1),
        (119, 2),
        (1_000_000, 71),
        (84_036, 71),
        (2, 0),
    ] {
        h.look_up(cwnd);
        assert_eq!(h.row, row, "{cwnd}");
    }
}
