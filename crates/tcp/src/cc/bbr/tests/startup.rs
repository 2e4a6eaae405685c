//! STARTUP and DRAIN.

use super::*;

/// The gain that doubles: after n rounds the rate is 2^n initial windows a round trip.
#[test]
fn the_bandwidth_is_found_in_log2_rounds() {
    for (rate, rtt_ms) in [(2_000, 50), (20_000, 100), (100_000, 20)] {
        let link = Link::new(rate, rtt_ms, 1_000_000);
        let mut b = Bottleneck::new(Bbr::new(1), link);
        let found = b.run_until(Duration::from_secs(60), |b| near(estimate(b), rate, 5));
        assert!(found, "{rate}/s: {}", estimate(&b));
        let rounds = f64::from(b.control.rounds.count);
        let doublings = libm::log2(link.bdp() as f64 / 10.0);
        assert!(
            (rounds - doublings).abs() <= 2.0,
            "{rate}/s: {rounds} rounds for {doublings} doublings"
        );
    }
}

#[test]
fn three_rounds_without_growth_end_it() {
    let link = Link::new(10_000, 40, 1_000_000);
    let mut b = Bottleneck::new(Bbr::new(1), link);
    // The round in which the rate last grew by a quarter.
    let mut best = (0, 0);
    b.run_until(Duration::from_secs(10), |b| {
        let round = (b.control.rounds.count, estimate(b));
        if b.control.rounds.start && round.1 * 4 >= best.1 * 5 {
            best = round;
        }
        b.control.mode != Mode::Startup
    });
    assert_eq!(b.control.mode, Mode::Drain);
    assert_eq!(b.control.rounds.count, best.0 + 3);
    // 2/ln 2 times the BDP in the window, one of which is not in the queue.
    let expected = link.bdp() as f64 * (2.0 / std::f64::consts::LN_2 - 1.0);
    let excess = b.queue() as f64 - expected;
    assert!(
        excess.abs() <= 3.0 * 28.0,
        "{} queued, not {expected}",
        b.queue()
    );
}

#[test]
fn drain_empties_the_queue_in_about_the_time_it_took_to_come() {
    let link = Link::new(10_000, 40, 1_000_000);
    let mut b = Bottleneck::new(Bbr::new(1), link);
    b.run_until(Duration::from_secs(10), |b| b.control.mode == Mode::Drain);
    assert_eq!(b.control.pacing_gain, DRAIN_GAIN);
    let (began, queue) = (b.now, b.queue());
    assert!(b.run_until(Duration::from_secs(10), |b| b.control.mode == Mode::ProbeBw));
    // The queue falls at 1 - ln 2 / 2 of the rate.
    let expected = queue as f64 / 10_000.0 / (1.0 - std::f64::consts::LN_2 / 2.0);
    let took = (b.now - began).as_secs_f64();
    assert!(
        (took / expected - 1.0).abs() < 0.15,
        "{took} s, not {expected} s"
    );
    assert!(b.queue() <= 10, "{} segments left", b.queue());
    // The BDP, and three trains of a millisecond at 28.6 MB/s.
    let threshold = u64::from(b.window.ssthresh);
    assert!(near(threshold, link.bdp() + 3 * 28, 2), "{threshold}");
}

#[test]
fn an_application_that_is_slow_does_not_end_it() {
    let mut link = Link::new(10_000, 40, 1_000);
    link.offered = Some(500);
    let mut b = flow(link, 5);
    assert_eq!(b.control.mode, Mode::Startup);
    let paced = b.paced();
    assert!(paced >= 10 * 25 * 2, "the initial rate stays, not {paced}");
    b.link.offered = None;
    b.run(Duration::from_secs(2), |_| {});
    assert!(near(estimate(&b), 10_000, 5), "{}", estimate(&b));
}

#[test]
fn the_first_rate_is_the_initial_window_in_a_round_trip() {
    let b = Bottleneck::new(Bbr::new(1), Link::new(1_000, 50, 100));
    // 10 segments in 50 ms, times 2/ln 2, less 1 %.
    let expected = 10.0 * f64::from(MSS) / 0.050 * 2.0 / std::f64::consts::LN_2 * 0.99;
    let rate = b.window.pacing_rate.unwrap() as f64;
    assert!(
        (rate / expected - 1.0).abs() < 0.002,
        "{rate}, not {expected}"
    );
}
