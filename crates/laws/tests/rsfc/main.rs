//! RSFC (thesis chapter 5) with the loop closed: the bounds of section 5.1.2, the changes of section
//! 5.1.3, and senders' clocks as they are.

mod arrivals;
mod upload;

use tidegate_laws::sys::{TG_RSFC_FAST, TG_RSFC_MONITOR, TG_RSFC_SLOW};
use upload::{Clock, MSS, Point, SCALE, Upload};

const SECOND_US: u64 = 1_000_000;

fn segment_us(rate: u64) -> u64 {
    12_000 * SECOND_US / rate
}

/// The points from second `from` to second `to`.
fn between(points: &[Point], from: u64, to: u64) -> &[Point] {
    let index = |s: u64| points.partition_point(|p| p.now_us < s * SECOND_US);
    &points[index(from)..index(to)]
}

/// Share of the rate that was used.
fn used(points: &[Point], from: u64, to: u64, rate: u64) -> f64 {
    let segments = between(points, from, to).len() as u64;
    (segments * segment_us(rate)) as f64 / ((to - from) * SECOND_US) as f64
}

fn longest_us(points: &[Point]) -> u64 {
    points.iter().map(|p| p.buffered_us).max().unwrap_or(0)
}

fn is_in(points: &[Point], state: u32) -> bool {
    points.iter().any(|p| p.state == state)
}

/// How long each fast state lasted, of those that ended in the slow one.
fn fast_states_us(points: &[Point]) -> Vec<u64> {
    let changes: Vec<_> = points
        .windows(2)
        .filter(|w| w[0].state != w[1].state)
        .collect();
    let fast = changes
        .windows(2)
        .filter(|c| [c[0][1].state, c[1][1].state] == [TG_RSFC_FAST, TG_RSFC_SLOW]);
    fast.map(|c| c[1][1].now_us - c[0][1].now_us).collect()
}

/// "The next packet queued will have t_buff = 2 T + RTTmin", and "at most 2 T + 2 RTTmin in the fast state", with the
/// largest RTTmin that the law had. Allowed are the segments that a queue is made of (the one that a delayed ACK would
/// hold, one being sent, one of rounding), the clocks' ticks, and what the sender may send meanwhile because a window
/// in units of 2^SCALE is rounded up, lest it retract.
fn assert_bounds(points: &[Point], rate: u64, tick_us: u64) {
    let rtt_us = points.iter().map(|p| p.rtt_min_us).max().unwrap();
    let rounding_us = 3 * rtt_us * (1 << SCALE) / u64::from(MSS);
    let slack_us = 3 * segment_us(rate) + 4 * tick_us + rounding_us;
    let what = |p: &str, us: u64| format!("{p} {us} us, RTTmin {rtt_us} us, {rate} bit/s");
    let longest_us = longest_us(points);
    assert!(
        longest_us <= 3 * rtt_us + slack_us,
        "{}",
        what("waited", longest_us)
    );
    let fast_us = fast_states_us(points);
    assert!(
        fast_us.len() > 3,
        "{}",
        what("cycles", fast_us.len() as u64)
    );
    let fast_us = fast_us.into_iter().max().unwrap();
    assert!(
        fast_us <= 4 * rtt_us + slack_us,
        "{}",
        what("fast for", fast_us)
    );
    assert!(!is_in(points, TG_RSFC_MONITOR), "{}", what("monitored", 0));
}

/// RTTmin is the path's, except for a segment's time and a tick of the clocks.
fn assert_learned(points: &[Point], rtt_us: u64, rate: u64, tick_us: u64) {
    let slack_us = segment_us(rate) + 2 * tick_us;
    let off = |p: &&Point| p.rtt_min_us.abs_diff(rtt_us) > slack_us;
    let first = points.iter().find(off);
    assert!(first.is_none(), "{first:?}, not {rtt_us}");
}

#[test]
fn no_segment_waits_longer_than_the_bound_and_the_link_is_busy() {
    for rate in [100_000, 400_000, 1_000_000, 10_000_000] {
        for way_us in [10_000, 50_000, 150_000] {
            let mut upload = Upload::new(120);
            upload.rate = vec![(0, rate)];
            (upload.up_us, upload.down_us) = (vec![(0, way_us)], way_us);
            let points = upload.run();
            let settled = between(&points, 20, 120);
            let rtt_us = 2 * way_us + segment_us(rate);
            assert_bounds(settled, rate, 1_000);
            assert_learned(settled, rtt_us, rate, 1_000);
            let used = used(&points, 20, 120, rate);
            assert!(used > 0.97, "{rate} bit/s, {way_us} us: {used}");
        }
    }
}

/// "There will not be any impact on the algorithm because rho is only used to estimate the BDP."
#[test]
fn a_rate_that_changes_changes_the_window_and_nothing_else() {
    let mut upload = Upload::new(120);
    upload.rate = vec![
        (0, 1_000_000),
        (40 * SECOND_US, 250_000),
        (80 * SECOND_US, 2_000_000),
    ];
    let points = upload.run();
    for (from, to, rate) in [(10, 40, 1_000_000), (50, 80, 250_000), (90, 120, 2_000_000)] {
        assert_bounds(between(&points, from, to), rate, 1_000);
        let used = used(&points, from, to, rate);
        assert!(used > 0.97, "{rate} bit/s: {used}");
    }
}

/// "Even if we do not update RTTmin accordingly, the older (and larger) value will simply result in an over-estimation
/// of the BDP": the buffer is never seen empty. "There will be an upper bound on the delay": the delay that the path
/// has lost stands in the buffer.
#[test]
fn shorter_delays_leave_the_link_busy_and_the_round_trip_bounded() {
    let mut upload = Upload::new(80);
    upload.up_us = vec![(0, 250_000), (40 * SECOND_US, 30_000)];
    let points = upload.run();
    assert_bounds(between(&points, 10, 40), 1_000_000, 1_000);
    let after = between(&points, 43, 80);
    assert!(used(&points, 43, 80, 1_000_000) > 0.97);
    let rtt_us = after.last().unwrap().rtt_min_us;
    assert!(rtt_us <= 312_000);
    assert!(longest_us(after) <= 3 * rtt_us + 220_000 + 3 * segment_us(1_000_000));
}

/// Case (i): the rise is within T, the cycle shows a higher rho, and the minima follow.
#[test]
fn a_path_that_is_longer_by_less_than_t_is_learned_in_the_slow_state() {
    let mut upload = Upload::new(80);
    upload.up_us = vec![(0, 50_000), (40 * SECOND_US, 120_000)];
    let points = upload.run();
    assert!(!is_in(&points, TG_RSFC_MONITOR));
    assert_bounds(between(&points, 45, 80), 1_000_000, 1_000);
    assert!(used(&points, 45, 80, 1_000_000) > 0.97);
    let last = points.last().unwrap();
    assert!(last.rtt_min_us.abs_diff(182_000) < 15_000, "{last:?}");
}

/// Case (ii): the rise is more than T; stuck in the fast state, the monitor state finds it.
#[test]
fn a_path_that_is_longer_by_more_than_t_is_learned_in_the_monitor_state() {
    for longer_us in [200_000, 400_000, 1_000_000] {
        let mut upload = Upload::new(100);
        upload.up_us = vec![(0, 50_000), (40 * SECOND_US, longer_us)];
        let points = upload.run();
        assert!(
            is_in(between(&points, 40, 60), TG_RSFC_MONITOR),
            "{longer_us}"
        );
        let rtt_us = 62_000 + longer_us;
        let last = points.last().unwrap();
        assert!(last.rtt_min_us.abs_diff(rtt_us) < rtt_us / 4, "{last:?}");
        let used = used(&points, 60, 100, 1_000_000);
        assert!(used > 0.95, "{longer_us}: {used}");
        assert!(
            longest_us(between(&points, 60, 100)) <= 4 * rtt_us,
            "{longer_us}"
        );
    }
}

#[test]
fn every_unit_of_the_senders_clock_will_do() {
    for tick_us in [1, 1_000, 4_000, 10_000] {
        let mut upload = Upload::new(120);
        upload.clock = Clock::ticking(tick_us);
        let points = upload.run();
        assert_bounds(between(&points, 10, 120), 1_000_000, tick_us);
        let used = used(&points, 10, 120, 1_000_000);
        assert!(used > 0.97, "{tick_us}: {used}");
    }
}

#[test]
fn clocks_may_drift_apart_for_hours() {
    for tick_us in [1_000, 10_000] {
        for ppm in [-100, -50, 50, 100] {
            let mut upload = Upload::new(6 * 3_600);
            upload.rate = vec![(0, 100_000)];
            upload.clock = Clock {
                ppm,
                ..Clock::ticking(tick_us)
            };
            let points = upload.run();
            assert_bounds(between(&points, 60, 6 * 3_600), 100_000, tick_us);
            let used = used(&points, 60, 6 * 3_600, 100_000);
            assert!(used > 0.97, "{tick_us} us, {ppm} ppm: {used}");
        }
    }
}

/// A clock set forward makes RD smaller, one set back larger; either is over in seconds. One that
/// jumps by hours is not understood until the next comparison, and the window is the kernel's.
#[test]
fn a_clock_that_jumps_is_understood_again() {
    for (jump_s, patience_s) in [(5, 10), (-5, 10), (7_200, 140), (-7_200, 140)] {
        let mut upload = Upload::new(250);
        upload.clock.jump_us = (40 * SECOND_US, jump_s * SECOND_US as i64);
        let points = upload.run();
        let settled = between(&points, 40 + patience_s, 250);
        let longest_us = longest_us(settled);
        assert!(longest_us < 4 * 112_000, "{jump_s} s: {longest_us}");
        let used = used(&points, 40 + patience_s, 250, 1_000_000);
        assert!(used > 0.95, "{jump_s} s: {used}");
        assert!(settled.iter().all(|p| p.window.is_some()), "{jump_s} s");
    }
}

/// A clock that is set back looks like a queue that never drains, and case (b) would halve both minima. But data cannot
/// have waited for longer than the round trip.
#[test]
fn a_clock_that_is_set_back_is_no_queue() {
    let mut upload = Upload::new(80);
    upload.clock.jump_us = (40 * SECOND_US, -5 * SECOND_US as i64);
    let points = upload.run();
    let smallest = between(&points, 40, 80).iter().map(|p| p.rtt_min_us).min();
    assert_eq!(smallest, Some(112_000));
    assert_bounds(between(&points, 42, 80), 1_000_000, 1_000);
    assert_learned(between(&points, 42, 80), 112_000, 1_000_000, 1_000);
}

/// Where nothing queues there is nothing to lower.
#[test]
fn a_fast_link_is_left_alone() {
    let mut upload = Upload::new(20);
    upload.rate = vec![(0, 1_000_000_000)];
    let points = upload.run();
    assert!(points.iter().all(|p| p.window.is_none()));
    assert!(points.len() as u64 * u64::from(MSS) > 100 << 20);
}
