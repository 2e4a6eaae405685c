use super::{complaints, link_result};
use crate::emulator::LaneRecord;
use std::time::Duration;
use tidegate_link::Stats;
use tidegate_scenario::{Health, Quantiles};

#[test]
fn a_healthy_run_has_no_complaints() {
    let health = Health {
        emulator_cpu: 0.9,
        machine_cpu: 0.9,
        ..Health::default()
    };
    assert_eq!(complaints(&health), [""; 0]);
}

#[test]
fn every_reason_to_distrust_a_run_is_named() {
    let health = Health {
        timing_error_ms: Quantiles {
            p99: 1.61,
            ..Quantiles::default()
        },
        plumbing_losses: 3,
        emulator_cpu: 0.97,
        machine_cpu: 0.99,
        warnings: Vec::new(),
    };
    let all = complaints(&health).join("\n");
    for part in [
        "lost 3 packets",
        "1.61 ms, at most 1 ms",
        "used 97 %",
        "busy at 99 %",
    ] {
        assert!(all.contains(part), "{all}");
    }
}

#[test]
fn the_link_is_measured_from_the_end_of_the_warmup() {
    let mut lane = LaneRecord::new();
    lane.at_warmup = Stats {
        delivered_bytes: 1000,
        dropped: 4,
        ..Stats::default()
    };
    lane.at_end = Stats {
        delivered_bytes: 26_000,
        dropped: 7,
        lost: 2,
        ..Stats::default()
    };
    let link = link_result(&lane, Duration::from_secs(2));
    assert_eq!(link.delivered_bps, 100_000.0);
    assert_eq!((link.drops, link.losses), (7, 2));
}

#[test]
fn nothing_in_no_time_is_no_rate() {
    let link = link_result(&LaneRecord::new(), Duration::ZERO);
    assert_eq!(link.delivered_bps, 0.0);
}
