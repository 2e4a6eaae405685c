use super::super::tests::driver::{Driver, Path, ms};
use super::*;
use std::time::Duration;

const BETA_CUBIC: f64 = 0.7;
const C_CUBIC: f64 = 0.4;

/// RFC 9438 equation 2.
fn k(w_max: f64, cwnd: f64) -> f64 {
    libm::cbrt((w_max - cwnd) / C_CUBIC)
}

/// RFC 9438 equation 1, after a loss at `w_max`.
fn w_cubic(t: f64, w_max: f64) -> f64 {
    C_CUBIC * libm::pow(t - k(w_max, BETA_CUBIC * w_max), 3.0) + w_max
}

/// Follows a loss at `w_max` for `seconds` and returns the largest distance from `expected`,
/// relative to it.
fn worst(w_max: u32, rtt: Duration, seconds: f64, expected: impl Fn(f64) -> f64) -> f64 {
    let mut d = Driver::after_loss(Cubic::default(), w_max);
    let start = d.f.now;
    let mut worst: f64 = 0.0;
    while (d.f.now - start).as_secs_f64() < seconds {
        d.round(rtt);
        let expected = expected((d.f.now - start).as_secs_f64());
        worst = worst.max((f64::from(d.w.cwnd) / expected - 1.0).abs());
    }
    worst
}

#[test]
fn the_window_follows_the_cubic_function() {
    for (w_max, rtt) in [(400, 100), (1000, 100), (1000, 200), (5000, 50)] {
        let seconds = 1.6 * k(w_max.into(), BETA_CUBIC * f64::from(w_max));
        let error = worst(w_max, ms(rtt), seconds, |t| w_cubic(t, w_max.into()));
        assert!(error < 0.02, "{w_max} segments, {rtt} ms: {error}");
    }
}

/// RFC 9438 §4.3, equation 4: W_est grows by α a round trip.
#[test]
fn on_short_paths_it_grows_as_reno_would() {
    let alpha = 3.0 * (1.0 - BETA_CUBIC) / (1.0 + BETA_CUBIC);
    let error = worst(100, ms(10), 1.5, |t| 70.0 + alpha * t / 0.010);
    assert!(error < 0.04, "{error}");
}

#[test]
fn the_cube_root_is_exact() {
    let mut a: u64 = 1;
    while a < u64::MAX / 3 {
        for a in [a - 1, a, a + 1] {
            let root = u128::from(cube_root(a));
            assert!(root.pow(3) <= a.into() && (root + 1).pow(3) > a.into());
        }
        a = a * 3 / 2 + 1;
    }
    assert_eq!(cube_root(u64::MAX), 2_642_245);
}

#[test]
fn a_loss_leaves_seven_tenths() {
    for (before, after) in [(1000, 700), (100, 70), (10, 7), (2, 2), (1, 2)] {
        let mut d = Driver::new(Cubic::default(), before);
        d.lose();
        assert_eq!(d.w.cwnd, after);
    }
}

/// RFC 9438 §4.7: W_max becomes cwnd·(1+β)/2.
#[test]
fn fast_convergence_makes_room_for_others() {
    let mut d = Driver::after_loss(Cubic::default(), 1000);
    assert_eq!(d.cc.curve.last_max, 1000);
    d.w.cwnd = 800;
    d.lose();
    assert_eq!(d.cc.curve.last_max, 680);
    assert_eq!(d.w.cwnd, 560);
    d.w.cwnd = 680;
    d.lose();
    assert_eq!(d.cc.curve.last_max, 680);
}

#[test]
fn it_never_grows_by_more_than_half_a_round_trip() {
    let mut d = Driver::after_loss(Cubic::default(), 100);
    d.round(ms(100));
    // As if the window had been idle for long, and no event had told it: the curve is far above.
    d.f.now += ms(60_000);
    let before = d.w.cwnd;
    d.round(ms(100));
    // One more for the credits of the slower growth before.
    assert!((before + before / 2..=before + before / 2 + 1).contains(&d.w.cwnd));
}

/// `cnt` of at most 20: 5 % a round trip.
#[test]
fn before_the_first_loss_it_probes_faster_than_reno() {
    let mut d = Driver::new(Cubic::default(), 400);
    d.w.ssthresh = 400;
    d.round(ms(20));
    assert_eq!(d.w.cwnd, 420);
}

#[test]
fn the_curve_is_looked_up_once_a_jiffy() {
    let mut curve = Curve {
        last_max: 1000,
        ..Curve::default()
    };
    curve.update(5, 700, 1);
    let per = curve.per;
    curve.update(5, 800, 1);
    assert_eq!((curve.last_cwnd, curve.per), (700, per));
    curve.update(6, 800, 1);
    assert_eq!(curve.last_cwnd, 800);
}

#[test]
fn idle_time_does_not_move_along_the_curve() {
    let mut d = Driver::after_loss(Cubic::default(), 1000);
    d.round(ms(100));
    let epoch = d.cc.curve.epoch.unwrap();
    d.f.now += ms(5000);
    d.cc.event(&mut d.w, &d.f, Event::TransmitStart);
    assert_eq!(d.cc.curve.epoch, Some(epoch + 5000));
    d.round(ms(100));
    let expected = w_cubic(0.2, 1000.0);
    assert!((f64::from(d.w.cwnd) / expected - 1.0).abs() < 0.01);
}

#[test]
fn the_second_after_a_loss_gives_no_delay() {
    let mut d = Driver::after_loss(Cubic::default(), 100);
    d.ack(ms(1), 1, ms(100));
    d.ack(ms(999), 1, ms(50));
    assert_eq!(d.cc.curve.delay_min, 100_000);
    d.ack(ms(2), 1, ms(50));
    assert_eq!(d.cc.curve.delay_min, 50_000);
}

#[test]
fn a_timeout_forgets_the_curve() {
    let mut d = Driver::after_loss(Cubic::default(), 1000);
    d.time_out();
    assert_eq!(d.w.ssthresh, 490);
    assert_eq!(d.cc.curve.last_max, 0);
    assert_eq!(d.cc.curve.delay_min, 0);
}

/// The window when slow start ends on a path of 100 ms with 200 segments of buffer, which nothing
/// may overflow.
fn exit(service: u64) -> u32 {
    let mut path = Path::new(Cubic::default(), ms(100), ms(service), 200);
    while path.driver.w.in_slow_start() {
        path.step();
    }
    assert_eq!(path.drops, 0);
    assert_eq!(path.driver.w.ssthresh, path.driver.w.cwnd);
    path.driver.w.cwnd
}

/// A pipe of 101 segments, ACKs 1 ms apart. The round that begins with 40 segments brings 40 ACKs
/// in 39 ms, that with 80 passes half of 101 ms with its 52nd.
#[test]
fn hystart_sees_a_train_before_the_pipe_is_full() {
    let cwnd = exit(1);
    assert!((130..=134).contains(&cwnd), "{cwnd}");
}

/// A pipe of 34 segments, ACKs 3 ms apart: no train. A window of 40 puts 6 segments, 18 ms, into the
/// queue, more than an eighth of 103 ms; its ACKs come a round later, at 80, and the ninth tells.
#[test]
fn hystart_sees_the_queue_grow_before_it_overflows() {
    assert_eq!(exit(3), 88);
}

/// The first ACK, of a round whose round trips are longer than the last one's, that ends slow start.
fn detection(rtt: u64, later: u64) -> Option<usize> {
    let mut d = Driver::new(Cubic::default(), 16);
    // 3 ms between ACKs: no train.
    for _ in 0..20 {
        d.ack(ms(3), 1, ms(rtt));
    }
    while d.f.snd_una < d.cc.hystart.end_seq {
        d.ack(ms(3), 1, ms(rtt));
    }
    assert!(d.w.in_slow_start());
    (1..30).find(|_| {
        d.ack(ms(3), 1, ms(later));
        !d.w.in_slow_start()
    })
}

/// An eighth, between 4 and 16 ms.
#[test]
fn a_longer_round_trip_ends_slow_start_after_eight_samples() {
    for (rtt, flat, risen) in [(20, 23, 25), (80, 89, 91), (400, 415, 417)] {
        assert_eq!(detection(rtt, flat), None, "{flat} ms for {rtt}");
        assert_eq!(detection(rtt, risen), Some(9), "{risen} ms for {rtt}");
    }
}

#[test]
fn jitter_does_not_as_long_as_one_sample_is_short() {
    let mut d = Driver::new(Cubic::default(), 16);
    for _ in 0..500 {
        d.ack(ms(3), 1, ms(80));
        d.ack(ms(3), 1, ms(120));
    }
    assert!(d.w.in_slow_start());
}

#[test]
fn a_train_of_half_the_round_trip_ends_slow_start() {
    let mut d = Driver::new(Cubic::default(), 100);
    // Starts a round of 100 segments.
    d.ack(ms(80), 1, ms(80));
    let acks = (0..)
        .take_while(|_| {
            d.ack(ms(1), 1, ms(80));
            d.w.in_slow_start()
        })
        .count();
    // 80 ms and 1 ms for offload, halved: 40.5 ms of train, passed by the 41st ACK.
    assert_eq!(acks, 40);
}

#[test]
fn a_sender_that_paces_may_see_a_train_of_a_whole_round_trip() {
    let mut d = Driver::new(Cubic::default(), 200);
    d.w.pacing_rate = Some(10_000_000);
    d.ack(ms(80), 1, ms(80));
    for _ in 0..81 {
        d.ack(ms(1), 1, ms(80));
        assert!(d.w.in_slow_start());
    }
    d.ack(ms(1), 1, ms(80));
    assert!(!d.w.in_slow_start());
}

#[test]
fn below_sixteen_segments_nothing_is_concluded() {
    let mut d = Driver::new(Cubic::default(), 10);
    d.ack(ms(80), 1, ms(80));
    for _ in 0..4 {
        d.w.cwnd = 10;
        for _ in 0..60 {
            d.ack(ms(1), 1, ms(300));
            d.w.cwnd = 10;
        }
    }
    assert!(d.w.in_slow_start());
}
