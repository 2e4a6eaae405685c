use super::{Durations, median, quantile, quantiles};
use std::time::Duration;
use tidegate_scenario::Quantiles;

#[test]
fn a_hundred_values() {
    let q = quantiles((1..=100).rev().map(f64::from).collect());
    assert_eq!(
        (q.mean, q.p50, q.p95, q.p99, q.max),
        (50.5, 50.0, 95.0, 99.0, 100.0)
    );
}

#[test]
fn one_value_is_all_of_them() {
    let q = quantiles(vec![7.0]);
    assert_eq!(
        (q.mean, q.p50, q.p95, q.p99, q.max),
        (7.0, 7.0, 7.0, 7.0, 7.0)
    );
}

#[test]
fn nothing_is_zero() {
    for q in [quantiles(vec![]), Durations::new().quantiles_ms()] {
        let Quantiles {
            mean,
            p50,
            p95,
            p99,
            max,
        } = q;
        assert_eq!((mean, p50, p95, p99, max), (0.0, 0.0, 0.0, 0.0, 0.0));
    }
}

#[test]
fn the_histogram_agrees_with_the_exact_quantiles() {
    let values_us: Vec<u64> = (0..10_000).map(|i| i * i % 1_000_003).collect();
    let mut histogram = Durations::new();
    for &us in &values_us {
        histogram.record(Duration::from_micros(us));
    }
    let exact = quantiles(values_us.iter().map(|&us| us as f64 / 1e3).collect());
    let binned = histogram.quantiles_ms();
    for (e, b) in [
        (exact.mean, binned.mean),
        (exact.p50, binned.p50),
        (exact.p99, binned.p99),
        (exact.max, binned.max),
    ] {
        assert!((e - b).abs() <= e * 2e-3 + 1e-3, "{e} ms against {b} ms");
    }
}

#[test]
fn more_than_an_hour_is_an_hour() {
    let mut histogram = Durations::new();
    histogram.record(Duration::from_secs(7200));
    assert!((histogram.quantiles_ms().max / 3_600_000.0 - 1.0).abs() < 1e-3);
}

#[test]
fn quantiles_lie_between_values() {
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    assert_eq!(quantile(&[1.0, 2.0], 0.95), Some(1.95));
    assert_eq!(quantile(&[7.0], 0.95), Some(7.0));
}
