use super::carriers::{self, DELAY_MS, Isp};
use super::experiments::{MEGABYTE, ratios, share};
use super::pages::pages;
use std::path::Path;
use tidegate_link::{Capacity, Instant};
use tidegate_scenario::{LinkSpec, WorkloadKind};
use tidegate_study::Extent;

const ISPS: [&Isp; 3] = [&carriers::A, &carriers::B, &carriers::C];

/// The derivation, by hand from the text.
#[test]
fn the_carriers_are_what_the_text_says() {
    let places = carriers::A.places(1000);
    let uplinks: Vec<f64> = places.iter().map(|place| place.uplink_kbps).collect();
    assert!(uplinks.is_sorted());
    assert_eq!((uplinks[0], uplinks[999]), (50.0, 399.0));
    // 64 KB in 6 s is 87.4 kbit/s, of which 1448 in 1500 bytes are payload.
    assert_eq!(uplinks[500], 84.0);
    // "Around 10 seconds to send 64 KB when the uplink speed is 50 Kbps."
    let bytes = places[0].up.queue.bytes.unwrap();
    assert_eq!(bytes, 65_536);
    assert!((bytes as f64 * 8e-3 / 50.0 - 10.0).abs() < 0.5);
    // (250 ms − 1500 · 8 bit ÷ 87.4 kbit/s) ÷ 2.
    assert!((DELAY_MS - 56.3).abs() < 0.1, "{DELAY_MS}");
    for isp in ISPS {
        for place in isp.places(50) {
            assert_eq!(place.up.delay_ms, place.down.delay_ms);
            assert_eq!(place.down.queue.packets, Some(isp.buffer));
        }
    }
}

/// Fading moves the mean of a stepped rate only slightly.
#[test]
fn links_carry_the_rates_that_they_are_named_after() {
    let carried_kbps = |link: &LinkSpec| {
        let config = link.resolve(Path::new(""), 1).unwrap();
        let hour = Instant::from_secs_f64(3600.0);
        let bytes = Capacity::new(&config.rate).bytes(Instant::ZERO, hour);
        bytes as f64 * 8e-3 / 3600.0 * 1448.0 / 1500.0
    };
    for isp in ISPS {
        for place in isp.places(5) {
            let ratio = carried_kbps(&place.up) / place.uplink_kbps;
            assert!((0.93..1.03).contains(&ratio), "{}: {ratio}", place.name);
        }
    }
}

/// Uplink and downlink rates are independent.
#[test]
fn uplinks_and_downlinks_are_drawn_independently() {
    let places = carriers::C.places(100);
    let downlinks: Vec<f64> = places
        .iter()
        .map(|place| place.name.rsplit_once(", ").unwrap().1)
        .map(|down| down.strip_suffix(" down").unwrap().parse().unwrap())
        .collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (slow, fast) = downlinks.split_at(50);
    assert!((mean(slow) / mean(fast) - 1.0).abs() < 0.05);
}

/// The sources' means; and the same pages every time.
#[test]
fn a_hundred_pages_are_those_of_their_time() {
    let sizes = |page: WorkloadKind| match page {
        WorkloadKind::Page { object_bytes, .. } => object_bytes,
        other => panic!("{other:?}"),
    };
    let all: Vec<Vec<u64>> = pages(100).into_iter().map(sizes).collect();
    let again: Vec<Vec<u64>> = pages(100).into_iter().map(sizes).collect();
    assert_eq!(all, again);
    let requests = all.iter().map(Vec::len).sum::<usize>() as f64 / 100.0;
    let bytes = all.iter().flatten().sum::<u64>() as f64 / 100.0;
    assert!((requests - 90.0).abs() < 1.0, "{requests}");
    assert!((bytes / 1612e3 - 1.0).abs() < 0.01, "{bytes}");
    assert!(all.iter().flatten().all(|&object| object > 0));
    // Objects of a page differ: the median is well below the mean.
    let mut objects = all.concat();
    objects.sort_unstable();
    let median = objects[objects.len() / 2] as f64;
    assert!(median < bytes / requests * 0.6, "{median}");
}

#[test]
fn shares_and_ratios() {
    assert_eq!(share(&[1.0, 2.0, 3.0, f64::INFINITY], |v| v > 2.0), 50.0);
    assert_eq!(ratios(&[2.0, 9.0], &[4.0, 3.0]), [0.5, 3.0]);
}

/// No upload is cut off early.
#[test]
fn a_megabyte_fits_into_the_time_for_it() {
    let figures = super::figures(&Extent::default());
    let figure = figures
        .iter()
        .find(|figure| figure.id == "fig-5.4")
        .unwrap();
    for case in &figure.cases {
        let config = case.scenario.up.resolve(Path::new(""), 1).unwrap();
        let end = Instant::from_secs_f64(case.scenario.duration_s);
        let carried = Capacity::new(&config.rate).bytes(Instant::ZERO, end);
        assert!(carried as f64 > 1.2 * MEGABYTE as f64, "{}", case.name);
    }
}

/// In the laboratory everything is shorter, and the selection takes at most three quarters of an hour.
#[test]
fn in_the_laboratory_there_is_little() {
    let extent = Extent {
        lab: true,
        ..Extent::default()
    };
    let figures = super::figures(&extent);
    let mut seconds = 0.0;
    let mut counted = Vec::new();
    for id in super::paper().lab.figures {
        let figure = figures.iter().find(|figure| figure.id == *id).unwrap();
        for case in &figure.cases {
            assert!(case.scenario.hops.is_empty(), "{}", case.name);
            if !counted.contains(&case.name) {
                counted.push(case.name.clone());
                seconds += case.scenario.duration_s;
            }
        }
    }
    // Two run at a time.
    assert!(seconds / 2.0 < 2700.0, "{seconds} s");
}
