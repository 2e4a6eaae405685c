use super::*;
use std::time::Duration;

/// Thresholds of 8 and 24 packets.
fn policy(max_probability: f64, weight: f64) -> RedPolicy {
    RedPolicy {
        min_packets: 8.0,
        max_packets: 24.0,
        max_probability,
        weight,
        packet_time: Duration::from_millis(1),
    }
}

/// Numbers of the arrivals that are dropped, if every arrival finds `queue` packets.
fn drops(red: &mut Red, queue: usize, arrivals: u64) -> Vec<u64> {
    (0..arrivals)
        .filter(|&n| red.refuses(Instant::from_nanos(n), queue))
        .collect()
}

/// Half way between the thresholds p_b is max_p/2 = 1/16, and the distance between drops is uniform from 1 to 15
/// (1993, section VII): one packet in eight is dropped.
#[test]
fn drops_are_spread_evenly_at_twice_the_initial_probability() {
    let mut red = Red::new(policy(0.125, 1.0), 1);
    let drops = drops(&mut red, 16, 800_000);
    assert!((99_000..101_000).contains(&drops.len()), "{}", drops.len());
    let mut distances = [0; 16];
    for pair in drops.windows(2) {
        distances[(pair[1] - pair[0]) as usize] += 1;
    }
    assert_eq!(distances[0], 0);
    let expected = drops.len() / 15;
    for n in &distances[1..] {
        assert!(
            (expected * 95 / 100..expected * 105 / 100).contains(n),
            "{distances:?}"
        );
    }
}

/// The drop rate is 2 p_b at every average below the maximum threshold, and above it, gently, rises to certainty.
#[test]
fn the_rate_of_drops_follows_the_average() {
    for (queue, p_b) in [(8, 0.0), (12, 0.005), (20, 0.015), (23, 0.01875)] {
        let rate = drops(&mut Red::new(policy(0.02, 1.0), 1), queue, 200_000).len() as f64 / 2e5;
        assert!((rate - 2.0 * p_b).abs() <= 0.06 * p_b, "{queue}: {rate}");
    }
    for (queue, p_b) in [(30, 0.02 + 0.98 * 0.25), (36, 0.02 + 0.98 * 0.5)] {
        let rate = drops(&mut Red::new(policy(0.02, 1.0), 1), queue, 200_000).len() as f64 / 2e5;
        // A distance is never less than 1: p_a is 1 once the next packet exceeds 1/p_b.
        assert!((p_b..=1.0).contains(&rate), "{queue}: {rate}");
    }
    assert_eq!(
        drops(&mut Red::new(policy(0.02, 1.0), 1), 48, 100).len(),
        100
    );
    assert_eq!(drops(&mut Red::new(policy(0.02, 1.0), 1), 7, 100), [0; 0]);
}

/// n arrivals that each find q packets make the average q (1 − (1 − w)ⁿ).
#[test]
fn the_average_is_exponentially_weighted() {
    // Dropped for certain from the maximum threshold on, left alone below.
    let sharp = RedPolicy {
        min_packets: 23.999,
        ..policy(1.0, 0.002)
    };
    let first = drops(&mut Red::new(sharp, 1), 100, 1000)[0];
    // The nth arrival is number n − 1.
    let n = libm::log(1.0 - 0.24) / libm::log(0.998);
    assert_eq!(first, n.ceil() as u64 - 1);
}

/// An idle time of m packet times counts as m arrivals that find an empty queue.
#[test]
fn an_idle_queue_forgets() {
    let mut red = Red::new(policy(1.0, 0.01), 1);
    drops(&mut red, 1000, 5);
    let before = red.avg;
    red.emptied(Instant::from_millis(1000));
    red.refuses(Instant::from_millis(1069), 0);
    let expected = before * libm::pow(0.99, 69.0);
    assert!((red.avg - expected).abs() < 1e-9, "{} {expected}", red.avg);
}

#[test]
fn powers_by_squaring() {
    for (base, exponent) in [(0.5, 0), (0.5, 1), (0.998, 1000), (1.5, 33)] {
        let expected = libm::pow(base, f64::from(exponent));
        let power = power(base, exponent as u64);
        assert!((power - expected).abs() <= 1e-12 * expected);
    }
    assert_eq!(power(0.9, u64::MAX), 0.0);
}
