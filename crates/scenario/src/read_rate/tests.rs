use crate::ReadRate;
use std::time::Duration;

/// Mbit/s between two times in seconds.
fn rate(reads: &ReadRate, from: f64, to: f64) -> f64 {
    let [a, b] = [from, to].map(|s| reads.bytes_before(Duration::from_secs_f64(s)));
    (b - a) as f64 * 8e-6 / (to - from)
}

#[test]
fn on_and_off_alternate() {
    let reads = ReadRate::OnOff {
        mbps: 8.0,
        on_s: 2.0,
        off_s: 3.0,
    };
    assert!((rate(&reads, 0.0, 2.0) - 8.0).abs() < 1e-3);
    assert_eq!(rate(&reads, 2.0, 5.0), 0.0);
    assert!((rate(&reads, 6.0, 8.0) - 4.0).abs() < 1e-3);
    assert!((rate(&reads, 0.0, 50.0) - 3.2).abs() < 1e-3);
}

#[test]
fn a_sinusoid_swings_about_its_mean() {
    let reads = ReadRate::Sinusoid {
        mean_mbps: 10.0,
        swing_mbps: 6.0,
        period_s: 4.0,
    };
    assert!((rate(&reads, 0.0, 12.0) - 10.0).abs() < 1e-3);
    // Around the crest and the trough, where a sine hardly differs from one.
    assert!((rate(&reads, 0.99, 1.01) - 16.0).abs() < 2e-2);
    assert!((rate(&reads, 6.99, 7.01) - 4.0).abs() < 2e-2);
    // The mean of half a sine is 2/π.
    let half = 10.0 + 6.0 * 2.0 / std::f64::consts::PI;
    assert!((rate(&reads, 4.0, 6.0) - half).abs() < 1e-3);
}

#[test]
fn slots_follow_each_other_and_begin_again() {
    let reads = ReadRate::Slots {
        mbps: vec![0.0, 6.0, 2.0],
        slot_s: 0.53,
    };
    assert_eq!(rate(&reads, 0.0, 0.53), 0.0);
    assert!((rate(&reads, 0.53, 1.06) - 6.0).abs() < 1e-3);
    assert!((rate(&reads, 1.325, 1.855) - 1.0).abs() < 1e-3);
    assert!((rate(&reads, 0.0, 159.0) - 8.0 / 3.0).abs() < 1e-3);
}
