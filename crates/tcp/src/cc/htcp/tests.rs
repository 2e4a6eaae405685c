use super::super::tests::driver::{Driver, Path, flight, ms, window};
use super::*;

/// The paper's α without scaling, by β and seconds since the last loss.
fn alpha(beta: f64, delta: f64) -> f64 {
    let late = (delta - 1.0).max(0.0);
    2.0 * (1.0 - beta) * (1.0 + 10.0 * late + late * late / 4.0)
}

/// After a loss at 1000, which leaves β = 1/2, a round trip adds α, scaled with its length.
#[test]
fn a_round_trip_adds_alpha() {
    for rtt in [50, 100, 200] {
        let mut d = Driver::new(Htcp::default(), 1000);
        d.ack(ms(rtt), 1, ms(rtt));
        d.w.cwnd = 1000;
        d.lose();
        let start = d.f.now;
        let (mut expected, mut t) = (500.0f64, 0.0);
        while t < 5.0 {
            d.round(ms(rtt));
            let now = (d.f.now - start).as_secs_f64();
            let alpha = alpha(0.5, (t + now) / 2.0) * rtt as f64 / 100.0;
            // Whole ACKs are counted, and one more finds that they are enough.
            let acks = (expected / alpha).ceil() + 1.0;
            expected += expected / acks;
            t = now;
        }
        let error = f64::from(d.w.cwnd - 500) / (expected - 500.0) - 1.0;
        assert!(error.abs() < 0.06, "{rtt} ms: {} for {expected}", d.w.cwnd);
    }
}

#[test]
fn alpha_is_the_papers() {
    let mut h = Htcp {
        min_rtt: 100,
        ..Htcp::default()
    };
    for beta in [64, 80, 102] {
        h.beta = beta;
        for now in [0, 500, 1000, 1500, 2000, 5000, 10_000] {
            h.update_alpha(now);
            let expected = alpha(beta as f64 / 128.0, now as f64 / 1000.0);
            let error = h.alpha as f64 / 128.0 / expected - 1.0;
            // f(Δ) is rounded down to an integer.
            assert!((-0.2..=0.001).contains(&error), "{now}: {error}");
        }
    }
}

#[test]
fn scaling_is_bounded() {
    let alpha_at = |min_rtt| {
        let mut h = Htcp {
            min_rtt,
            ..Htcp::default()
        };
        h.update_alpha(11_000);
        h.alpha / ONE
    };
    // f(11 s) = 1 + 100 + 25, times RTT/100 ms from 0.1 to 2.
    assert_eq!(alpha_at(100), 126);
    assert_eq!(alpha_at(50), 63);
    assert_eq!(alpha_at(1), 12);
    assert_eq!(alpha_at(150), 126 * 8 / 5);
    assert_eq!(alpha_at(200), 252);
    assert_eq!(alpha_at(1000), 252);
}

/// A buffer of 40 behind a pipe of 100: the queue makes the round trip 1.4 times its smallest, so
/// 0.71 of the window keeps the pipe full, less what RTTmax fades with each loss.
#[test]
fn beta_drains_the_queue_and_no_more() {
    let mut path = Path::new(Htcp::default(), ms(99), ms(1), 40);
    path.run(ms(60_000));
    let beta = path.driver.cc.beta as f64 / 128.0;
    assert!((0.69..0.76).contains(&beta), "{beta}");
}

#[test]
fn beta_is_a_half_until_throughput_is_steady() {
    let mut h = Htcp {
        min_rtt: 100,
        max_rtt: 125,
        ..Htcp::default()
    };
    let mut loss = |max| {
        h.throughput.max = max;
        h.update_beta();
        h.beta
    };
    assert_eq!(loss(1000), 64); // Unlike the 0 before.
    assert_eq!(loss(1000), 64); // Steady for the first time.
    assert_eq!(loss(1190), 102); // 100/125 = 0.8.
    assert_eq!(loss(1190), 102);
    assert_eq!(loss(900), 64); // 24 % less.
    assert_eq!(loss(900), 64);
    assert_eq!(loss(900), 102);
}

#[test]
fn undoing_forgets_the_loss() {
    let mut d = Driver::new(Htcp::default(), 100);
    d.ack(ms(100), 1, ms(100));
    d.w.cwnd = 100;
    let since = d.cc.last_cong;
    d.f.now += ms(2000);
    d.enter_recovery();
    assert_eq!(d.w.cwnd, 50);
    assert_eq!(d.cc.last_cong, since + 2100);
    assert_eq!(d.cc.undo_cwnd(&d.w, &d.f), 100);
    d.set_state(Recovery::Open);
    assert_eq!(d.cc.last_cong, since);
}

#[test]
fn the_clock_runs_from_the_end_of_recovery() {
    let mut d = Driver::new(Htcp::default(), 100);
    d.enter_recovery();
    d.f.now += ms(700);
    d.leave_recovery();
    assert_eq!(d.cc.last_cong, jiffies(d.f.now));
}

#[test]
fn beta_stays_a_half_on_short_paths() {
    let beta_at = |min_rtt| {
        let mut h = Htcp {
            min_rtt,
            max_rtt: min_rtt,
            mode_switch: true,
            ..Htcp::default()
        };
        h.update_beta();
        h.beta
    };
    assert_eq!(beta_at(10), 64);
    assert_eq!(beta_at(11), 102);
}

#[test]
fn the_longest_round_trip_grows_in_steps_and_fades() {
    let mut h = Htcp::default();
    let mut longest = |rtt, state| {
        h.measure_rtt(rtt, state);
        h.max_rtt
    };
    assert_eq!(longest(100, Recovery::Open), 100);
    assert_eq!(longest(121, Recovery::Open), 100);
    assert_eq!(longest(120, Recovery::Open), 120);
    assert_eq!(longest(140, Recovery::Recovery), 120);
    assert_eq!(longest(140, Recovery::Open), 140);
    // 95 % of what it is above the smallest.
    h.ssthresh(&window(10, 10), &flight());
    assert_eq!(h.max_rtt, 138);
}

/// Once a window, and a round trip; smoothed by a fourth from the fourth round trip after a loss on.
#[test]
fn throughput_is_measured_a_window_at_a_time() {
    let mut h = Htcp {
        min_rtt: 100,
        ..Htcp::default()
    };
    let mut measured = |now, acked| {
        h.measure_throughput(now, 11, acked);
        (h.throughput.smoothed, h.throughput.max)
    };
    assert_eq!(measured(50, 10), (0, 0)); // Half a round trip.
    assert_eq!(measured(100, 10), (200, 200));
    assert_eq!(measured(250, 9), (200, 200)); // Less than a window.
    assert_eq!(measured(300, 1), (50, 50)); // Just after the loss the latest counts.
    assert_eq!(measured(400, 45), (150, 150));
    assert_eq!(measured(500, 10), (137, 150));
}

#[test]
fn in_disorder_an_ack_counts_once() {
    let mut d = Driver::new(Htcp::default(), 100);
    d.w.ssthresh = 100;
    d.ack(ms(1), 4, ms(100));
    assert_eq!(d.w.count, 4);
    d.set_state(Recovery::Disorder);
    d.ack(ms(1), 4, ms(100));
    assert_eq!(d.w.count, 5);
}
