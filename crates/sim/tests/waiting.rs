//! Waits behind a constant rate against queueing theory.
//!
//! Datagrams of one length that come as a Poisson process at a link of constant rate, with room for all of them, are the
//! queue M/D/1. Its load ρ is their rate over the link's.

mod common;

use common::{mean_and_error, run};
use tidegate_scenario::Quantiles;

/// A packet of 1250 bytes at 10 Mbit/s.
const SERVICE_MS: f64 = 1.0;
const SEEDS: u32 = 40;

/// Waits of the packets with each seed.
fn waits_ms(load: f64) -> Vec<Quantiles> {
    let wait = |seed| {
        let text = format!(
            "duration_s = 105
             warmup_s = 5
             seed = {seed}
             down = {{ rate = {{ constant_mbps = 10 }}, delay_ms = 0, queue = {{ packets = 100000 }} }}
             up = {{ rate = {{ constant_mbps = 10 }}, delay_ms = 0 }}
             workload = [{{ name = 'arrivals', does = {{ datagrams = {{
                 mbps = {}, packet_bytes = 1250, spacing = 'poisson' }} }} }}]
             run = [{{ name = 'one' }}]",
            10.0 * load
        );
        run(&text).link.queue_delay_ms
    };
    (1..=SEEDS).map(wait).collect()
}

/// Pollaczek and Khinchine's mean wait where every service takes as long, in service times (L. Kleinrock, "Queueing
/// Systems", volume 1, 1975, section 5.6).
fn mean_wait(load: f64) -> f64 {
    load / (2.0 * (1.0 - load))
}

/// The share that waits at most `t` service times (A. K. Erlang, "The theory of probabilities and telephone
/// conversations", 1909). The terms alternate and are as large as e^(ρ·t): at 25 service times six digits are left.
fn shorter(load: f64, t: f64) -> f64 {
    let term = |k: u32| {
        let x = load * (t - f64::from(k));
        let factors = (1..=k).map(|n| -x / f64::from(n));
        factors.product::<f64>() * libm::exp(x)
    };
    (1.0 - load) * (0..=t as u32).map(term).sum::<f64>()
}

/// The wait that a share `q` does not exceed, in service times.
fn quantile(load: f64, q: f64) -> f64 {
    let (mut low, mut high) = (0.0, 25.0);
    assert!(shorter(load, high) > q);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if shorter(load, middle) < q {
            low = middle;
        } else {
            high = middle;
        }
    }
    if shorter(load, 0.0) >= q { 0.0 } else { high }
}

/// Within four standard errors of forty independent runs, plus the histogram's rounding: a thousandth, and a
/// microsecond. Chance exceeds that once in four thousand times; all loads use the same draws, so it would do so in
/// all of them. An error of more than 3 % would prove nothing.
fn assert_agrees(what: &str, ours_ms: &[f64], expected: f64) {
    let expected = expected * SERVICE_MS;
    let (mean, error) = mean_and_error(ours_ms);
    assert!(error <= 0.03 * expected, "{what}: {mean} ± {error}");
    let allowed = 4.0 * error + 0.001 * expected + 0.001;
    assert!(
        (mean - expected).abs() <= allowed,
        "{what}: {mean} ± {error}, expected {expected}"
    );
}

#[test]
fn poisson_arrivals_wait_as_pollaczek_and_khinchine_say() {
    for load in [0.3, 0.5, 0.8, 0.9] {
        let waits = waits_ms(load);
        let of = |value: fn(&Quantiles) -> f64| waits.iter().map(value).collect::<Vec<f64>>();
        assert_agrees(&format!("mean at {load}"), &of(|q| q.mean), mean_wait(load));
        let mut quantiles = vec![(0.95, of(|q| q.p95)), (0.99, of(|q| q.p99))];
        // At lower loads half of the arrivals or more find the link idle.
        if load > 0.5 {
            quantiles.push((0.50, of(|q| q.p50)));
        }
        for (share, ours) in quantiles {
            let what = format!("{share} quantile at {load}");
            assert_agrees(&what, &ours, quantile(load, share));
        }
    }
}

/// Packets at equal distances, slower than the link sends them, never wait.
#[test]
fn equal_distances_wait_for_nothing() {
    let text = "duration_s = 10
        down = { rate = { constant_mbps = 10 }, delay_ms = 0 }
        up = { rate = { constant_mbps = 10 }, delay_ms = 0 }
        workload = [{ name = 'arrivals', does = { datagrams = { mbps = 9.9, packet_bytes = 1250 } } }]
        run = [{ name = 'one' }]";
    assert_eq!(run(text).link.queue_delay_ms.max, 0.0);
}

/// Erlang's distribution itself has the known mean, and the known share of packets that do not wait.
#[test]
fn erlangs_distribution_has_the_mean_of_pollaczek_and_khinchine() {
    for load in [0.3, 0.5] {
        const STEP: f64 = 1e-3;
        let steps = 0..(20.0 / STEP) as u32;
        let longer = steps.map(|n| 1.0 - shorter(load, (f64::from(n) + 0.5) * STEP));
        common::assert_near(longer.sum::<f64>() * STEP, mean_wait(load), 1e-5);
        common::assert_near(shorter(load, 0.0), 1.0 - load, 1e-12);
    }
}
