use super::*;
use crate::send::rtt::{RTO_MAX, Rtt};

fn without_sack() -> Setup {
    Setup {
        sack: false,
        ..Setup::default()
    }
}

/// RFC 6298 §2 in floating point, with Linux's least variance.
#[test]
fn the_first_timeout_is_that_of_rfc_6298() {
    for rtt in [1_000_u32, 40_000, 100_000, 333_333, 2_000_000] {
        let estimate = Rtt::new(Instant::ZERO, Some(rtt), 1, 1);
        let r = f64::from(rtt);
        let expected = r + (4.0 * r / 2.0).max(200_000.0);
        let rto = f64::from(estimate.rto_us());
        assert!((rto - expected).abs() <= 1.0, "{rto} for {expected}");
    }
    // Without a measurement: 3 s (§5.7).
    let blind = Rtt::new(Instant::ZERO, None, 1, 1);
    assert_eq!(blind.rto_us(), 3_000_000);
}

#[test]
fn a_steady_round_trip_settles_at_the_least_variance() {
    let mut rtt = Rtt::new(Instant::ZERO, Some(300_000), 1, 1);
    for round in 0..40 {
        // A window each: `una` passes what was sent last.
        rtt.sample(300_000, 2 * round + 2, 2 * round + 1);
    }
    let rto = rtt.rto_us() / 1000;
    assert!((500..=502).contains(&rto), "{rto}");
    assert_eq!(rtt.srtt(), Some(Duration::from_millis(300)));
}

#[test]
fn smoothing_follows_the_gains_of_rfc_6298() {
    let mut rtt = Rtt::new(Instant::ZERO, Some(100_000), 1, 1);
    let (mut srtt, mut rttvar) = (100_000.0_f64, 50_000.0_f64);
    // Rising: there Linux's deviation is the RFC's.
    for sample in [110_000_u32, 150_000, 240_000, 400_000, 700_000] {
        rtt.sample(sample, 1, 1);
        let r = f64::from(sample);
        rttvar = 0.75 * rttvar + 0.25 * (srtt - r).abs();
        srtt = 0.875 * srtt + 0.125 * r;
        assert!((rtt.srtt_us() as f64 - srtt).abs() < 5.0);
        assert!((rtt.var().as_micros() as f64 - rttvar).abs() < 5.0);
        let rto = srtt + (4.0 * rttvar).max(200_000.0);
        assert!((f64::from(rtt.rto_us()) - rto).abs() < 20.0);
    }
}

#[test]
fn the_smallest_round_trip_is_forgotten_after_300_s() {
    let mut rtt = Rtt::new(Instant::ZERO, Some(20_000), 1, 1);
    let at = |s: u64| Instant::from_millis(1000 * s);
    for second in 1..300 {
        rtt.sample_min(at(second), 50_000, false);
        assert_eq!(rtt.min_us(), Some(20_000));
    }
    rtt.sample_min(at(301), 60_000, false);
    assert_eq!(rtt.min_us(), Some(50_000));
    // A round trip that the peer may have delayed does not raise it.
    for second in 302..1000 {
        rtt.sample_min(at(second), 90_000, true);
    }
    assert_eq!(rtt.min_us(), Some(50_000));
    rtt.sample_min(at(1001), 90_000, false);
    assert_eq!(rtt.min_us(), Some(90_000));
}

#[test]
fn the_timeout_doubles_up_to_two_minutes_and_ends_after_fifteen_minutes() {
    let mut s = Script::new(without_sack());
    s.write(MSS);
    s.at(3_600_000);
    let times: Vec<u64> = s.sent_at().iter().map(|&(ms, _)| ms).collect();
    let mut expected = vec![0];
    let (mut rto, mut now) = (300, 0);
    // `tcp_retries2` = 15, from 200 ms on: 924.6 s after the first retransmission.
    while now < 300 + 924_600 {
        now += rto;
        expected.push(now);
        rto = (2 * rto).min(u64::from(RTO_MAX) / 1000);
    }
    expected.pop();
    assert_eq!(times, expected);
    assert!(s.sender.gave_up());
    assert_eq!(s.info().timeouts, times.len() as u64);
}

#[test]
fn after_a_timeout_one_segment_and_slow_start() {
    let mut s = Script::new(without_sack());
    s.write(100 * MSS);
    s.sent();
    s.at(300);
    assert_eq!(s.sent(), [0]);
    let info = s.info();
    assert_eq!((info.recovery, info.cwnd), (Recovery::Loss, 1));
    assert_eq!((info.ssthresh, info.in_flight), (5, 1));
    assert_eq!(info.rto, Duration::from_millis(600));
    // F-RTO (RFC 5682 §2.1): the first ACK brings new segments …
    s.at(400).ack(1, &[]);
    assert_eq!(s.sent(), [10, 11]);
    // … and a duplicate for them proves the loss.
    s.at(500).ack(1, &[]);
    assert_eq!(s.sent(), [1]);
    s.at(600).ack(2, &[]);
    assert_eq!(s.info().undos, 0);
    assert_eq!(s.info().ssthresh, 5);
}

#[test]
fn karn_ambiguous_segments_measure_nothing_unless_by_timestamps() {
    for timestamps in [false, true] {
        let mut s = Script::new(Setup {
            timestamps,
            ..without_sack()
        });
        s.write(MSS);
        s.at(300);
        assert_eq!(s.sent(), [0, 0]);
        // The retransmission's answer, 80 ms later.
        s.at(380).ack_echoing(1, &[], Some(300));
        let expected = if timestamps { 80 } else { 100 };
        let info = s.info();
        assert_eq!(info.last_rtt, Some(Duration::from_millis(expected)));
        // Without a measurement the backoff stays (RFC 6298 §5.7, Karn).
        assert_eq!(info.rto < Duration::from_millis(600), timestamps);
    }
}

#[test]
fn a_probe_turns_a_lost_tail_into_fast_recovery() {
    let mut s = Script::with_segments(10);
    s.sent();
    // 8 and 9 are lost.
    s.at(100).ack_each(0, 8);
    // Two round trips and two ticks.
    s.at(400);
    assert_eq!(s.sent_at(), [(302, 9)]);
    s.at(402).ack(8, &[(9, 10)]);
    assert_eq!(s.sent(), [8]);
    assert_eq!(s.info().recovery, Recovery::Recovery);
    s.at(502).ack(10, &[]);
    let info = s.info();
    assert_eq!((info.timeouts, info.retransmits), (0, 2));
    assert_eq!(info.recovery, Recovery::Open);
}

#[test]
fn a_probe_that_repaired_a_loss_halves_the_window() {
    let mut s = Script::with_segments(10);
    s.at(100).ack_each(0, 9);
    s.sent();
    // A lone segment's ACK may be delayed by 200 ms: the timeout's time comes first.
    s.at(450);
    assert_eq!(s.sent_at(), [(400, 9)]);
    s.at(500).ack(10, &[]);
    let before = s.info().cwnd;
    assert_eq!(before, 20);
    s.write(MSS);
    s.at(600).ack(11, &[]);
    let info = s.info();
    assert_eq!((info.cwnd, info.recovery), (before / 2, Recovery::Open));
}

#[test]
fn a_probe_that_was_needless_costs_nothing() {
    let mut s = Script::with_segments(10);
    s.at(100).ack_each(0, 9);
    let before = s.info().cwnd;
    s.at(450).ack(10, &[]);
    // The receiver reports the copy.
    s.at(500).ack(10, &[(9, 10)]);
    s.write(MSS);
    s.at(600).ack(11, &[]);
    let info = s.info();
    assert_eq!((info.retransmits, info.timeouts), (1, 0));
    assert!(info.cwnd >= before, "{} < {before}", info.cwnd);
}

#[test]
fn a_probe_sends_new_data_if_there_are_any() {
    let mut s = Script::with_segments(20);
    s.sent();
    s.at(250);
    // Beyond the congestion window, once.
    assert_eq!(s.sent_at(), [(202, 10)]);
    s.at(400);
    assert_eq!(s.sent(), []);
    assert_eq!(s.info().retransmits, 0);
}
