use super::super::Recovery;
use super::super::tests::driver::{Driver, MSS, Path, ms};
use super::*;

/// 1 segment a ms, RTTmin 100 ms: a pipe of 100 segments.
fn path() -> Path<Westwood> {
    Path::new(Westwood::default(), ms(99), ms(1), 200)
}

#[test]
fn a_loss_leaves_what_the_pipe_holds() {
    let mut path = path();
    // Until the second loss has been recovered from; slow start's floods are over.
    for state in [Recovery::Recovery, Recovery::Open].repeat(2) {
        while path.driver.f.recovery != state {
            path.step();
        }
    }
    let bandwidth = path.driver.cc.bandwidth as f64 / f64::from(MSS);
    assert!((0.95..=1.0).contains(&bandwidth), "{bandwidth} segments/ms");
    assert_eq!(path.driver.cc.rtt_min, 100);
    // Reno would have 150 of 300.
    let cwnd = path.driver.w.cwnd;
    assert!((94..=100).contains(&cwnd), "{cwnd}");
    assert_eq!(path.driver.w.ssthresh, cwnd);
}

#[test]
fn a_timeout_sets_the_threshold_to_the_pipe() {
    let mut path = path();
    path.run(ms(60_000));
    let d = &mut path.driver;
    let expected = d.cc.bandwidth * d.cc.rtt_min / u64::from(MSS);
    d.time_out();
    assert_eq!(u64::from(d.w.ssthresh), expected);
    assert!((94..=100).contains(&d.w.ssthresh));
    // The next round trip is the smallest, even if it is longer.
    d.ack(ms(1), 1, ms(180));
    assert_eq!(d.cc.rtt_min, 180);
}

/// Two low-pass filters of 7/8 in a row, fed a step from 100 to 200 segments in 101 ms.
#[test]
fn the_estimate_is_filtered_twice() {
    let mut d = Driver::new(Westwood::default(), 20);
    let mut interval = |acked: u32| {
        d.ack(ms(51), acked / 2, ms(50));
        d.ack(ms(50), acked - acked / 2, ms(50));
        d.cc.bandwidth as f64
    };
    for _ in 0..40 {
        interval(100);
    }
    let (mut once, mut twice) = (100.0, 100.0);
    for _ in 0..20 {
        let bandwidth = interval(200) * 101.0 / f64::from(MSS);
        let expected: f64 = twice;
        assert!(
            (bandwidth / expected - 1.0).abs() < 0.03,
            "{bandwidth} for {expected}"
        );
        once = (7.0 * once + 200.0) / 8.0;
        twice = (7.0 * twice + once) / 8.0;
    }
}

#[test]
fn short_round_trips_are_measured_over_fifty_ms() {
    let mut d = Driver::new(Westwood::default(), 20);
    d.ack(ms(10), 1, ms(10));
    for _ in 0..4 {
        d.ack(ms(10), 1, ms(10));
    }
    assert_eq!(d.cc.bandwidth, 0);
    d.ack(ms(1), 1, ms(10));
    // 4 segments in 51 ms: the first ACK's and this one's do not count.
    assert_eq!(d.cc.bandwidth, u64::from(4 * MSS / 51));
}

#[test]
fn duplicates_count_what_they_deliver_once() {
    let mut d = Driver::new(Westwood::default(), 20);
    d.ack(ms(10), 1, ms(100));
    let before = d.cc.bytes;
    let duplicate = AckSample {
        acked: 0,
        rtt: None,
        in_flight: 18,
        timestamps: None,
    };
    for _ in 0..3 {
        d.f.delivered += 1;
        d.cc.pkts_acked(&mut d.w, &d.f, &duplicate);
    }
    // The hole: one segment more, four acknowledged.
    d.f.delivered += 1;
    let hole = AckSample {
        acked: 4,
        ..duplicate
    };
    d.cc.pkts_acked(&mut d.w, &d.f, &hole);
    assert_eq!(d.cc.bytes - before, u64::from(4 * MSS));
}
