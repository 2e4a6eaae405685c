use super::Schedule;
use std::time::Duration;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

#[test]
fn chunks_are_owed_from_the_start_of_their_period() {
    let chunks = Schedule::Chunks {
        bytes: 1000,
        period: ms(500),
    };
    assert_eq!(chunks.owed_bytes(ms(0)), 1000);
    assert_eq!(chunks.owed_bytes(ms(499)), 1000);
    assert_eq!(chunks.owed_bytes(ms(500)), 2000);
    assert_eq!(chunks.next_due(0), ms(0));
    assert_eq!(chunks.next_due(999), ms(0));
    assert_eq!(chunks.next_due(1000), ms(500));
    assert_eq!(chunks.next_due(3000), ms(1500));
}

#[test]
fn a_rate_is_kept_however_often_the_source_is_asked() {
    for mbps in [0.01, 1.0, 8.0, 900.0] {
        let rate = Schedule::Rate {
            bytes_per_second: mbps * 1e6 / 8.0,
        };
        let (mut now, mut sent) = (Duration::ZERO, 0);
        let mut writes = 0;
        while now < ms(10_000) {
            // The time named is the time at which there is something, but for rounding.
            let owed = rate.owed_bytes(now + Duration::from_micros(1));
            assert!(owed > sent || now.is_zero(), "{mbps} Mbit/s at {now:?}");
            sent = owed;
            now = rate.next_due(sent);
            writes += 1;
        }
        let expected = mbps * 1e6 / 8.0 * 10.0;
        let error = expected - sent as f64;
        let most = 1448.0 + expected / 10_000.0 * 1.1;
        assert!(
            (0.0..=most).contains(&error),
            "{mbps} Mbit/s: {error} bytes short"
        );
        assert!(writes <= 10_200, "{mbps} Mbit/s: {writes} writes");
    }
}

#[test]
fn bulk_is_owed_at_once_and_ends() {
    let bulk = Schedule::AtOnce(Some(5));
    assert_eq!(bulk.owed_bytes(ms(0)), 5);
    assert_eq!(bulk.total_bytes(), Some(5));
    assert_eq!(Schedule::AtOnce(None).total_bytes(), None);
}
