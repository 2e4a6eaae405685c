use super::super::tests::driver::{Driver, Path, flight, ms, window};
use super::*;

#[test]
fn the_queueing_delay_converges_to_the_target() {
    for service in [1, 4] {
        let mut path = Path::new(Ledbat::default(), ms(50), ms(service), 2000);
        path.run(ms(60_000));
        assert_eq!(path.drops, 0);
        for _ in 0..500 {
            path.step();
            let delay = path.queue() * service as f64;
            assert!(
                (85.0..=110.0).contains(&delay),
                "{delay} ms at {service} ms"
            );
        }
    }
}

#[test]
fn slow_start_does_not_fill_a_deep_buffer() {
    let mut path = Path::new(Ledbat::default(), ms(50), ms(1), 10_000);
    while path.driver.w.in_slow_start() {
        path.step();
    }
    // 150 segments give the target; a round trip's delay in noticing it may double them.
    assert!((150..=320).contains(&path.driver.w.cwnd));
    assert_eq!(path.drops, 0);
}

/// Samples of one-way delay, each a ms apart.
fn delayed(d: &mut Ledbat, f: &mut Flight, delays: &[u32]) {
    for &delay in delays {
        f.now += ms(1);
        let sample = AckSample {
            acked: 1,
            rtt: None,
            in_flight: 10,
            timestamps: Some(Timestamps {
                val: 0xffff_fff0_u32.wrapping_add(delay),
                ecr: 0,
            }),
        };
        d.pkts_acked(&mut window(10, 10), f, &sample);
    }
}

#[test]
fn the_current_delay_is_the_smallest_of_four() {
    let (mut l, mut f) = (Ledbat::default(), flight());
    // Across the wrap of 32 bits.
    delayed(&mut l, &mut f, &[10, 60, 70, 80, 90]);
    assert_eq!(l.queueing_delay(&f), 50);
    delayed(&mut l, &mut f, &[90]);
    assert_eq!(l.queueing_delay(&f), 60);
    delayed(&mut l, &mut f, &[5]);
    assert_eq!(l.queueing_delay(&f), 0);
}

#[test]
fn samples_older_than_a_round_trip_do_not_count() {
    let (mut l, mut f) = (Ledbat::default(), flight());
    f.srtt = Some(ms(20));
    delayed(&mut l, &mut f, &[10, 10]);
    f.now += ms(30);
    delayed(&mut l, &mut f, &[70]);
    assert_eq!(l.queueing_delay(&f), 60);
    // With none left, the last one does.
    f.now += ms(30);
    assert_eq!(l.queueing_delay(&f), 60);
}

#[test]
fn the_base_delay_is_forgotten_after_ten_minutes() {
    let (mut l, mut f) = (Ledbat::default(), flight());
    delayed(&mut l, &mut f, &[10]);
    for minute in 1..=10 {
        f.now += ms(60_000);
        delayed(&mut l, &mut f, &[40, 40, 40, 40]);
        let expected = if minute < 10 { 30 } else { 0 };
        assert_eq!(l.queueing_delay(&f), expected, "minute {minute}");
    }
}

/// A window of 10 in congestion avoidance, after ten ACKs with `queueing` ms.
fn after_window(queueing: u32) -> u32 {
    let (mut l, mut f, mut w) = (Ledbat::default(), flight(), window(10, 10));
    f.outstanding = 9;
    delayed(&mut l, &mut f, &[0]);
    delayed(&mut l, &mut f, &[queueing; 4]);
    for _ in 0..10 {
        l.cong_avoid(&mut w, &f, 1);
    }
    w.cwnd
}

/// cwnd += (TARGET − delay)/TARGET a window acknowledged.
#[test]
fn a_window_moves_by_off_target() {
    assert_eq!(after_window(0), 11);
    assert_eq!(after_window(1), 10);
    assert_eq!(after_window(100), 10);
    assert_eq!(after_window(199), 10);
    assert_eq!(after_window(200), 9);
    assert_eq!(after_window(400), 7);
}

#[test]
fn the_window_stays_within_its_bounds() {
    let (mut l, mut f, mut w) = (Ledbat::default(), flight(), window(50, 50));
    // The data in flight bound it: the application sends little.
    f.outstanding = 7;
    l.cong_avoid(&mut w, &f, 1);
    assert_eq!(w.cwnd, 9);
    delayed(&mut l, &mut f, &[0]);
    delayed(&mut l, &mut f, &[3000; 4]);
    l.cong_avoid(&mut w, &f, 20);
    assert_eq!(w.cwnd, 2);
}

#[test]
fn without_timestamps_it_grows_as_reno() {
    let mut d = Driver::new(Ledbat::default(), 20);
    d.w.ssthresh = 40;
    for expected in [40, 41, 42] {
        d.round(ms(100));
        assert_eq!(d.w.cwnd, expected);
    }
    d.lose();
    assert_eq!(d.w.cwnd, 21);
}
