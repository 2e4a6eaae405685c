use super::{Bins, round_trip};
use crate::Passage;
use std::time::Duration;
use tidegate_basics::time::Instant;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A packet of 100 bytes that waited for `queued` ms and took `forward` ms in all.
fn passage(due: u64, queued: u64, forward: u64) -> Passage {
    Passage {
        bytes: 100,
        arrived: Instant::from_millis(due - forward),
        due: Instant::from_millis(due),
        queued: ms(queued),
    }
}

#[test]
fn bins_hold_means_and_maxima() {
    let mut bins = Bins::default();
    bins.count(&passage(310, 10, 30));
    bins.count(&passage(399, 30, 50));
    bins.count(&passage(400, 1, 21));
    let bin = bins.at(Instant::from_millis(350)).unwrap();
    assert_eq!((bin.packets, bin.bytes), (2, 200));
    assert_eq!(bin.queued_mean(), Some(ms(20)));
    assert_eq!(bin.queued_max, ms(30));
    assert_eq!(bin.forward_mean(), Some(ms(40)));
    let empty = bins.at(Instant::from_millis(250)).unwrap();
    assert_eq!(empty.forward_mean(), None);
    assert!(bins.at(Instant::from_millis(500)).is_none());
}

#[test]
fn a_round_trip_takes_the_uplink_of_the_time_when_it_was_used() {
    let (mut down, mut up) = (Bins::default(), Bins::default());
    down.count(&passage(950, 280, 300));
    up.count(&passage(650, 5, 25));
    up.count(&passage(950, 400, 420));
    let at = |ms| round_trip([&up, &down], Instant::from_millis(ms));
    assert_eq!(at(950), Some(ms(325)));
    // Nothing was delivered there.
    assert_eq!(at(650), None);
}
