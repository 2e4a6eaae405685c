pub(super) mod driver;

use super::*;
use driver::window;

#[test]
fn slow_start_stops_at_the_threshold_and_returns_the_rest() {
    let mut w = window(10, 14);
    assert!(w.in_slow_start());
    assert_eq!((w.slow_start(3), w.cwnd), (0, 13));
    assert_eq!((w.slow_start(3), w.cwnd), (2, 14));
    assert!(!w.in_slow_start());

    let mut clamped = window(10, Window::NO_SSTHRESH);
    clamped.clamp = 12;
    assert_eq!((clamped.slow_start(5), clamped.cwnd), (0, 12));
}

#[test]
fn additive_increase_keeps_the_remainder() {
    let mut w = window(10, 5);
    w.additive_increase(10, 9);
    assert_eq!((w.cwnd, w.count), (10, 9));
    w.additive_increase(10, 3);
    assert_eq!((w.cwnd, w.count), (11, 2));
    // A stretch ACK is worth several.
    w.additive_increase(4, 9);
    assert_eq!((w.cwnd, w.count), (13, 3));
}

#[test]
fn credits_of_a_larger_divisor_count_as_one_segment() {
    let mut w = window(10, 5);
    w.count = 90;
    w.additive_increase(10, 1);
    assert_eq!((w.cwnd, w.count), (11, 1));
}

#[test]
fn no_increase_passes_the_clamp() {
    let mut w = window(10, 5);
    w.clamp = 11;
    w.additive_increase(2, 10);
    assert_eq!(w.cwnd, 11);
}

#[test]
fn names_lead_back_to_their_algorithms() {
    for &algorithm in Algorithm::ALL {
        assert_eq!(algorithm.name().parse(), Ok(algorithm));
        assert_eq!(algorithm.to_string(), algorithm.name());
    }
    let error = "Reno2".parse::<Algorithm>().unwrap_err();
    assert_eq!(error.to_string(), "unknown congestion control \"Reno2\"");
}

#[test]
fn every_algorithm_at_least_halves_at_most_and_undoes() {
    let f = driver::flight();
    for &algorithm in Algorithm::ALL {
        let mut cc = algorithm.build(1);
        if cc.controls_rate() {
            continue; // It has a model of the path instead.
        }
        let mut w = window(100, Window::NO_SSTHRESH);
        cc.init(&mut w, &f);
        w.prior_cwnd = w.cwnd;
        let ssthresh = cc.ssthresh(&w, &f);
        assert!((2..100).contains(&ssthresh), "{algorithm}: {ssthresh}");
        w.cwnd = ssthresh;
        w.ssthresh = ssthresh;
        assert_eq!(cc.undo_cwnd(&w, &f), 100, "{algorithm}");
    }
}

/// Vegas heeds its own estimate, LEDBAT what is in flight.
#[test]
fn a_window_that_limits_nothing_does_not_grow() {
    let mut f = driver::flight();
    f.cwnd_limited = false;
    for &algorithm in Algorithm::ALL {
        let mut cc = algorithm.build(1);
        if cc.controls_rate() || matches!(algorithm, Algorithm::Vegas | Algorithm::Ledbat) {
            continue;
        }
        for ssthresh in [10, Window::NO_SSTHRESH] {
            let mut w = window(20, ssthresh);
            cc.init(&mut w, &f);
            for _ in 0..100 {
                cc.cong_avoid(&mut w, &f, 1);
            }
            assert_eq!((w.cwnd, w.count), (20, 0), "{algorithm}");
        }
    }
}
