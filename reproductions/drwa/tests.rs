use super::carriers::{ALL, ATT, EVDO, LTE, SPRINT, korea_ms};
use super::downloads::{DRWA, Download, Phone};
use crate::radio::GOOD_DB;
use std::path::Path;
use tidegate_link::{Capacity, Instant};
use tidegate_study::Extent;

/// The derivation, by hand from the report's tables.
#[test]
fn carriers_are_what_the_tables_say() {
    let near = |value: f64, expected: f64| {
        assert!(
            (value / expected - 1.0).abs() < 0.005,
            "{value}, not {expected}"
        );
    };
    // (window in bytes · 8 ÷ latency) · (1 + gain), in Mbit/s.
    near(ATT.capacity_mbps(), 196_608.0 * 8.0 / 570e3 * 1.2578);
    near(LTE.capacity_mbps(), 363_636.0 * 8.0 / 219e3 * 1.3867);
    near(EVDO.capacity_mbps(), 147_456.0 * 8.0 / 653e3 * 1.2865);
    near(SPRINT.capacity_mbps(), 82_656.0 * 8.0 / 536e3 * 1.3739);
    // 453 ms · 51.03 % ÷ 3, and so on.
    for (carrier, ms) in [(&ATT, 77.1), (&LTE, 34.0), (&EVDO, 87.0), (&SPRINT, 98.7)] {
        near(carrier.near_ms(), ms);
    }
    near(korea_ms(), 166.7);
    let largest = [&ATT, &LTE, &EVDO, &SPRINT].map(|c| c.largest_window());
    assert_eq!(largest, [524_280, 524_280, 262_140, 131_070]);
}

/// Fading moves the mean of a stepped rate only slightly.
#[test]
fn links_carry_the_capacity() {
    let hour = Instant::from_secs_f64(3600.0);
    for carrier in ALL {
        let case = Download::new(carrier, DRWA).case();
        let inputs = case.scenario.link_inputs(Path::new(".")).unwrap();
        let bytes = Capacity::new(&inputs.down.rate).bytes(Instant::ZERO, hour);
        let payload_mbps = bytes as f64 * 8.0 / 3600e6 * 1448.0 / 1500.0;
        let ratio = payload_mbps / carrier.capacity_mbps();
        assert!(
            (0.95..1.03).contains(&ratio),
            "{}: {ratio} at {GOOD_DB} dB",
            carrier.name
        );
    }
}

#[test]
fn an_untouched_phone_offers_three_quarters_of_its_limit() {
    let case = Download::new(&ATT, Phone::Untouched).case();
    assert_eq!(case.scenario.runs[0].limit, Some(196_608));
}

/// A walk keeps its signal's length; everything else is short, and Table 3 is a selection.
#[test]
fn in_the_laboratory_downloads_are_short() {
    let extent = Extent {
        lab: true,
        ..Extent::default()
    };
    let figures = super::figures(&extent);
    let lasting = |id| {
        let figure = figures.iter().find(|figure| figure.id == id).unwrap();
        let lasting = figure.cases.iter().map(|case| case.scenario.duration_s);
        lasting.collect::<Vec<_>>()
    };
    assert_eq!(lasting("fig-9"), [80.0; 2]);
    assert_eq!(lasting("fig-12"), [40.0; 4]);
    assert_eq!(lasting("table-3"), [40.0; 8]);
}
