use super::overlay::{Overlay, Terms};
use std::path::Path;
use tidegate_scenario::{MpathSpec, WorkloadKind};
use tidegate_study::Extent;

#[test]
fn every_scenario_makes_sense() {
    let quick = Extent {
        quick: true,
        ..Extent::default()
    };
    for case in super::figures(&quick)
        .into_iter()
        .flat_map(|figure| figure.cases)
    {
        if let Err(error) = case.scenario.link_inputs(Path::new(".")) {
            panic!("{}: {error}", case.name);
        }
        if let Err(error) = tidegate_sim::check(&case.scenario) {
            panic!("{}: {error}", case.name);
        }
    }
}

/// The overlay matches its assumptions, and is always the same.
#[test]
fn the_overlay_is_what_it_says() {
    let (overlay, again) = (Overlay::new(500), Overlay::new(500));
    let round_trips: Vec<f64> = (0..500).map(|pair| overlay.round_trip_ms(pair)).collect();
    let repeated: Vec<f64> = (0..500).map(|pair| again.round_trip_ms(pair)).collect();
    assert_eq!(round_trips, repeated);
    assert!(round_trips.iter().all(|ms| (4.0..310.0).contains(ms)));
    let case = overlay.mpath(7, 10.0, Terms::THESIS);
    let WorkloadKind::Mpath(MpathSpec { proxies, .. }) = &case.scenario.workloads[0].does else {
        panic!("no transfer")
    };
    assert_eq!(proxies.len(), 450);
    // "Approximately 400 proxies out of the 450 registered."
    let dead = proxies
        .iter()
        .filter(|proxy| proxy.links.is_empty())
        .count();
    assert_eq!(dead, 50);
    // About half of the pairs meet their bottleneck in the core.
    let in_core = |pair: usize| overlay.is_core_bound(pair);
    let share = (0..500).filter(|&pair| in_core(pair)).count() as f64 / 500.0;
    assert!((0.35..0.65).contains(&share), "{share}");
}
