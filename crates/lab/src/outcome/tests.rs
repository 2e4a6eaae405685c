use super::complaints;
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
