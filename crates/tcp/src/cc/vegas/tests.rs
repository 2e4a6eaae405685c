use super::super::tests::driver::{Driver, Path, ms};
use super::*;
use std::time::Duration;

/// The queue of a path of 50 ms, by service time in ms and pipe in segments.
#[test]
fn two_to_four_segments_wait() {
    for service in [1, 2, 5] {
        let mut path = Path::new(Vegas::default(), ms(50), ms(service), 500);
        path.run(ms(20_000));
        assert_eq!(path.drops, 0);
        let pipe = (50 + service) as f64 / service as f64;
        for _ in 0..1000 {
            path.step();
            let queued = f64::from(path.driver.w.cwnd) - pipe;
            assert!((1.0..=5.0).contains(&queued), "{queued} at {service} ms");
        }
    }
}

#[test]
fn slow_start_ends_two_rounds_after_the_pipe_is_full() {
    let mut path = Path::new(Vegas::default(), ms(99), ms(1), 500);
    while path.driver.w.in_slow_start() {
        path.step();
    }
    // The pipe holds 100. The round that begins with 80 fills it, that with 160 finds a queue from
    // its first segment on, and has doubled the window when it ends.
    let cwnd = path.driver.w.cwnd;
    assert!((160..=320).contains(&cwnd), "{cwnd}");
}

/// One round of `cwnd` with round trips of `rtt` µs against a base of 100 ms.
fn after_round(cwnd: u32, ssthresh: u32, rtt: u64) -> Driver<Vegas> {
    let mut d = Driver::new(Vegas::default(), cwnd);
    d.w.ssthresh = ssthresh;
    d.cc.base_rtt = 100_001;
    d.cc.end_seq = d.f.snd_una + u64::from((cwnd - 1) * d.f.mss);
    for _ in 0..cwnd {
        d.ack(ms(1), 1, Duration::from_micros(rtt));
    }
    d
}

#[test]
fn the_window_moves_by_one_towards_two_to_four_waiting() {
    // RTT − 100 ms segments wait, rounded down.
    for (rtt, expected) in [
        (100_000, 101),
        (101_500, 101),
        (102_500, 100),
        (104_500, 100),
        (105_500, 99),
        (300_000, 99),
    ] {
        assert_eq!(after_round(100, 50, rtt).w.cwnd, expected, "{rtt} µs");
    }
}

#[test]
fn the_threshold_follows_at_three_fourths() {
    assert_eq!(after_round(100, 50, 102_500).w.ssthresh, 75);
    assert_eq!(after_round(100, 90, 102_500).w.ssthresh, 90);
}

#[test]
fn slow_start_falls_back_to_the_rate_of_the_acks() {
    // 19 of 20 segments grew it in the round; then 39·3/100 waiting are no reason, 39·25/100 are.
    let d = after_round(20, 1000, 125_000);
    assert_eq!(d.w.cwnd, 39 * 100 / 125 + 1);
    assert!(!d.w.in_slow_start());
    assert_eq!(after_round(20, 1000, 103_000).w.cwnd, 40);
}

#[test]
fn with_two_samples_it_is_reno() {
    let mut d = Driver::new(Vegas::default(), 4);
    d.w.ssthresh = 4;
    d.cc.base_rtt = 100_001;
    d.cc.end_seq = d.f.snd_una + u64::from(2 * d.f.mss);
    // Two delayed ACKs end the round; 8 segments would wait, if they could be believed.
    d.ack(ms(50), 2, ms(300));
    d.ack(ms(50), 2, ms(300));
    assert_eq!((d.w.cwnd, d.w.count), (4, 2));
}

#[test]
fn recovery_and_idling_begin_anew() {
    let mut d = after_round(100, 50, 100_000);
    d.enter_recovery();
    assert!(!d.cc.enabled);
    assert_eq!(d.w.cwnd, 50);
    d.leave_recovery();
    assert!(d.cc.enabled);
    assert_eq!((d.cc.round.samples, d.cc.base_rtt), (0, 100_001));
    d.cc.event(&mut d.w, &d.f, Event::TransmitStart);
    assert_eq!(d.cc.base_rtt, u64::MAX);
}
