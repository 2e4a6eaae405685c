use super::{LaneRecord, Passage, Record};
use std::time::Duration;
use tidegate_link::Instant;

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
        late: Duration::ZERO,
        counts: due >= 300,
    }
}

#[test]
fn bins_hold_means_and_maxima() {
    let mut lane = LaneRecord::new();
    lane.count(passage(310, 10, 30));
    lane.count(passage(399, 30, 50));
    lane.count(passage(400, 1, 21));
    let bin = lane.bin(Instant::from_millis(350)).unwrap();
    assert_eq!((bin.packets, bin.bytes), (2, 200));
    assert_eq!(bin.queued_mean(), Some(ms(20)));
    assert_eq!(bin.queued_max, ms(30));
    assert_eq!(bin.forward_mean(), Some(ms(40)));
    let empty = lane.bin(Instant::from_millis(250)).unwrap();
    assert_eq!(empty.forward_mean(), None);
    assert!(lane.bin(Instant::from_millis(500)).is_none());
}

#[test]
fn the_warmup_is_in_the_bins_but_not_in_the_quantiles() {
    let mut lane = LaneRecord::new();
    lane.count(passage(299, 290, 295));
    lane.count(passage(300, 4, 24));
    assert!((lane.queue_delay.quantiles_ms().max - 4.0).abs() < 0.01);
    assert_eq!(lane.bin(Instant::from_millis(299)).unwrap().packets, 1);
}

#[test]
fn a_round_trip_takes_the_uplink_of_the_time_when_it_was_used() {
    let mut record = Record {
        down: LaneRecord::new(),
        up: LaneRecord::new(),
        cpu_share: 0.0,
        counted: ms(1000),
    };
    record.down.count(passage(950, 280, 300));
    record.up.count(passage(650, 5, 25));
    record.up.count(passage(950, 400, 420));
    assert_eq!(record.round_trip(Instant::from_millis(950)), Some(ms(325)));
    // Nothing came down there.
    assert_eq!(record.round_trip(Instant::from_millis(650)), None);
}
