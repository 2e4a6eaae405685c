use super::{LinkRecord, Passage, Window};
use crate::Demand;
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_link::{Config, Stats};

fn record(bins: bool) -> LinkRecord {
    let window = Window {
        warmup: Instant::from_millis(300),
        end: Instant::from_millis(2300),
    };
    LinkRecord::new(window, Demand::default(), bins)
}

#[test]
fn the_warmup_is_in_the_bins_but_not_in_the_quantiles() {
    let mut record = record(true);
    for (due, queued) in [(299, 290), (300, 4)] {
        record.count(&Passage {
            bytes: 100,
            arrived: Instant::ZERO,
            due: Instant::from_millis(due),
            queued: Duration::from_millis(queued),
        });
    }
    assert!((record.queue_delay.quantiles_ms().max - 4.0).abs() < 0.01);
    let bins = record.bins.unwrap();
    assert_eq!(bins.at(Instant::from_millis(299)).unwrap().packets, 1);
}

#[test]
fn the_link_is_measured_from_the_end_of_the_warmup() {
    let mut record = record(false);
    record.at_warmup = Stats {
        delivered_bytes: 1000,
        dropped: 4,
        ..Stats::default()
    };
    record.at_end = Stats {
        delivered_bytes: 26_000,
        dropped: 7,
        lost: 2,
        ..Stats::default()
    };
    let link = record.result(&Config::default(), Duration::from_secs(2));
    assert_eq!(link.delivered_bps, 100_000.0);
    assert_eq!((link.drops, link.losses), (7, 2));
}

#[test]
fn nothing_in_no_time_is_no_rate() {
    let link = record(false).result(&Config::default(), Duration::ZERO);
    assert_eq!(link.delivered_bps, 0.0);
    assert!(link.utilisation.is_nan());
}
