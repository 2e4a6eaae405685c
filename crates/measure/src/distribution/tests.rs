use super::Distribution;
use crate::quantiles;
use std::time::Duration;

#[test]
fn it_agrees_with_the_exact_quantiles_to_one_part_in_a_thousand() {
    // Quadratic, so that values from microseconds to minutes occur.
    let us: Vec<u64> = (1..=5000).map(|n| n * n * 3).collect();
    let mut binned = Distribution::default();
    us.iter()
        .for_each(|&us| binned.record(Duration::from_micros(us)));
    let binned = binned.quantiles_ms();
    let exact = quantiles(us.iter().map(|&us| us as f64 / 1e3).collect());
    for (b, e) in [
        (binned.p50, exact.p50),
        (binned.p95, exact.p95),
        (binned.p99, exact.p99),
    ] {
        assert!((b / e - 1.0).abs() < 1e-3, "{b} ms against {e} ms");
    }
    assert!((binned.mean / exact.mean - 1.0).abs() < 1e-12);
    assert_eq!(binned.max, exact.max);
}

#[test]
fn small_values_are_exact() {
    let mut some = Distribution::default();
    for us in [7, 2047, 2047, 1999] {
        some.record(Duration::from_micros(us));
    }
    let q = some.quantiles_ms();
    assert_eq!((q.p50, q.p99), (1.999, 2.047));
    assert_eq!(some.count(), 4);
}

#[test]
fn nothing_is_zero() {
    let q = Distribution::default().quantiles_ms();
    assert_eq!((q.mean, q.p50, q.max), (0.0, 0.0, 0.0));
}

#[test]
fn no_quantile_is_beyond_the_largest() {
    let mut one = Distribution::default();
    // The first of a bucket of 1024 µs, whose middle is 512 µs further.
    one.record(Duration::from_micros(1 << 21));
    let q = one.quantiles_ms();
    assert_eq!((q.p50, q.p99, q.max), (2097.152, 2097.152, 2097.152));
}
