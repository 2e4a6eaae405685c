use super::*;

#[test]
fn seconds_are_rounded_to_the_nearest_nanosecond() {
    assert_eq!(Instant::from_secs_f64(0.1).as_nanos(), 100_000_000);
    assert_eq!(Instant::from_secs_f64(0.000_000_001_6).as_nanos(), 2);
    assert_eq!(Instant::from_secs_f64(-1.0), Instant::ZERO);
    assert_eq!(Instant::from_secs_f64(f64::NAN), Instant::ZERO);
    assert_eq!(Instant::from_secs_f64(f64::INFINITY), Instant::MAX);
    assert_eq!(Instant::from_millis(1500).as_secs_f64(), 1.5);
}

#[test]
fn arithmetic_saturates() {
    let (early, late) = (Instant::from_nanos(3), Instant::from_nanos(10));
    assert_eq!(late - early, Duration::from_nanos(7));
    assert_eq!(early - late, Duration::ZERO);
    assert_eq!(early - Duration::from_nanos(4), Instant::ZERO);
    assert_eq!(late + Duration::MAX, Instant::MAX);
    assert_eq!(Instant::from_millis(u64::MAX), Instant::MAX);
}

#[test]
fn displays_as_seconds() {
    assert_eq!(
        Instant::from_nanos(12_000_000_034).to_string(),
        "12.000000034 s"
    );
}
