use super::contenders::Contender;
use super::frontier::Frontier;
use std::collections::BTreeSet;
use tidegate_scenario::{
    FetchResult, LinkSpec, Quantiles, QueuePolicy, RateSpec, RunResult, Scenario, Workload,
};
use tidegate_study::{Extent, Figure, Results, Study};

/// Three points, one of them beaten by another in both utilisation and delay.
#[test]
fn a_frontier_leaves_out_who_is_beaten_and_interpolates() {
    let frontier = Frontier::new([(90.0, 40.0), (80.0, 20.0), (85.0, 50.0)]);
    assert_eq!(frontier, Frontier::new([(80.0, 20.0), (90.0, 40.0)]));
    assert!((frontier.delay_at(85.0) - 30.0).abs() < 1e-9);
    // Towards the closed window, and beyond the highest utilisation.
    assert!((frontier.delay_at(40.0) - 10.0).abs() < 1e-9);
    assert!((frontier.delay_at(99.0) - 40.0).abs() < 1e-9);
    assert!((frontier.delay_at(0.0)).abs() < 1e-9);
}

#[test]
fn of_equal_utilisations_the_least_delay_counts() {
    let frontier = Frontier::new([(90.0, 40.0), (90.0, 30.0)]);
    assert!((frontier.delay_at(90.0) - 30.0).abs() < 1e-9);
}

/// Recordings in sub-folders, a file that is none, and one that carries nothing while it counts.
#[test]
fn every_recording_of_a_folder_is_a_link_at_every_rtt() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("b/trace.down", "1\n2\n");
    write("a.csv", "0,1e6\n1,2e6\n");
    write("notes.md", "not a link");
    write("silent.up", "1\n70000\n");
    let extent = Extent {
        traces: Some(folder.path().into()),
        ..Extent::default()
    };
    let names: Vec<String> = super::paths::all(&extent)
        .unwrap()
        .into_iter()
        .map(|path| path.name)
        .filter(|name| name.ends_with(" 400 ms"))
        .collect();
    assert_eq!(
        names,
        [
            "lte-1, 400 ms",
            "lte-2, 400 ms",
            "hspa-1, 400 ms",
            "hspa-2, 400 ms",
            "evdo-1, 400 ms",
            "evdo-2, 400 ms",
            "a.csv, 400 ms",
            "b/trace.down, 400 ms"
        ]
    );
}

/// A rate series is interpolated and delivered in bursts; a delay recording beside it is added to half of the base
/// RTT.
#[test]
fn recordings_are_played_as_the_introduction_says() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("a.csv", "0,1e6\n1,2e6\n"),
        ("b.delay", "12\n9\n"),
        ("b.down", "1\n2\n"),
        ("b.up", "1\n2\n"),
    ] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let extent = Extent {
        traces: Some(folder.path().into()),
        ..Extent::default()
    };
    let paths = super::paths::all(&extent).unwrap();
    let run = || Contender::linux("cubic").run();
    let down = |name: &str| {
        let path = paths.iter().find(|path| path.name == name).unwrap();
        path.scenario(QueuePolicy::DropTail, run()).down
    };
    let RateSpec::Scheduled(series) = down("a.csv, 20 ms").rate else {
        panic!("{:?}", down("a.csv, 20 ms").rate)
    };
    assert_eq!((series.interpolate, series.burst_ms), (true, 4.0));
    let beside = folder.path().join("b.delay").to_string_lossy().into_owned();
    assert_eq!(down("b.down, 20 ms").delay_trace, Some(beside));
    assert_eq!(down("b.down, 20 ms").delay_ms, 10.0);
    assert_eq!(down("b.up, 20 ms").delay_trace, None);
}

fn quick_figures() -> Vec<Figure> {
    super::figures(&Extent {
        quick: true,
        ..Extent::default()
    })
    .unwrap()
}

#[test]
fn the_plane_shares_its_cases_with_the_duels() {
    let figures: Vec<Figure> = quick_figures().into_iter().take(3).collect();
    // 3 cells × 2 RTTs; Linux, tide, rLEDBAT and seven λ with each sender.
    for figure in &figures[..2] {
        assert_eq!(figure.cases.len(), 6 * 10, "{}", figure.id);
    }
    // The plane adds Vegas, LEDBAT, CoDel and FQ-CoDel.
    assert_eq!(Study::new(figures, 1).cases().len(), 6 * (10 + 10 + 4));
}

#[test]
fn every_quantity_is_read_from_cases_that_are_run() {
    let figures = quick_figures();
    let ids: Vec<&str> = figures.iter().map(|figure| figure.id).collect();
    assert_eq!(
        ids,
        [
            "cubic",
            "bbr",
            "plane",
            "fairness",
            "changes",
            "uploads",
            "starlink",
            "stampless",
            "start",
            "short",
            "mixed",
            "mixes",
            "beside",
            "windowless",
            "windowless-uploads"
        ]
    );
    let study = Study::new(figures, 1);
    let mut results = Results::default();
    for job in study.jobs() {
        study.note(job, RunResult::default(), &mut results);
    }
    // A case that nobody ran would panic.
    assert_eq!(study.report(&results, None).figures.len(), ids.len());
}

/// Two workloads fetched that size, one of them three times.
#[test]
fn every_fetch_of_a_size_weighs_the_same() {
    let fetch = |bytes, count, mean| FetchResult {
        bytes,
        count,
        time_ms: Quantiles {
            mean,
            ..Quantiles::default()
        },
        ..FetchResult::default()
    };
    let mut results = Results::default();
    let run = RunResult {
        fetches: vec![fetch(8, 1, 100.0), fetch(9, 1, 1.0), fetch(8, 3, 20.0)],
        ..RunResult::default()
    };
    results.add("case", run);
    let sample = results.all();
    assert!((super::short::time_ms(&sample, "case", 8) - 40.0).abs() < 1e-9);
    assert!(super::short::time_ms(&sample, "case", 10).is_nan());
}

/// The scenario of tide's case of that name in one of the figures.
fn scenario(figure: Figure, name: &str) -> Scenario {
    let mut cases = figure.cases.into_iter();
    let case = cases.find(|case| case.name == format!("{name}, cubic, tide"));
    case.unwrap_or_else(|| panic!("no case {name}")).scenario
}

/// One-way delays of the links that a workload crosses, in milliseconds, together.
fn rtt_ms(scenario: &Scenario, workload: &Workload) -> f64 {
    let crosses = |name: &str| workload.links.iter().flatten().any(|link| link == name);
    let hops = scenario
        .hops
        .iter()
        .map(|hop| (hop.name.as_str(), &hop.link));
    [("down", &scenario.down), ("up", &scenario.up)]
        .into_iter()
        .chain(hops)
        .filter(|(name, _)| crosses(name))
        .map(|(_, link)| link.delay_ms)
        .sum()
}

#[test]
fn unequal_flows_are_spread_evenly_by_ratio_and_counted_together() {
    let figure = super::fairness::figure(&Extent::default()).unwrap();
    let scenario = scenario(figure, "8 flows with unequal RTTs: 20 Mbit/s, 25 ms");
    let rtts: Vec<f64> = scenario
        .workloads
        .iter()
        .map(|workload| rtt_ms(&scenario, workload))
        .collect();
    assert_eq!((rtts.len(), rtts[0]), (8, 25.0));
    assert!((rtts[7] - 100.0).abs() < 1e-9);
    for pair in rtts.windows(2) {
        assert!((pair[1] / pair[0] - libm::pow(4.0, 1.0 / 7.0)).abs() < 1e-9);
    }
    assert!(scenario.workloads[7].start_s < scenario.warmup_s);
}

#[test]
fn equal_flows_cross_nothing_but_the_link_under_study() {
    let figure = super::fairness::figure(&Extent::default()).unwrap();
    let scenario = scenario(figure, "4 flows: hspa-1 of 5 Mbit/s, 50 ms");
    assert!(scenario.hops.is_empty());
    for workload in &scenario.workloads {
        assert!((rtt_ms(&scenario, workload) - 50.0).abs() < 1e-9);
    }
}

/// Neither direction carries anything for a while, and then the path is longer.
#[test]
fn a_handover_keeps_what_waits() {
    let scenario = scenario(
        super::changes::figure().unwrap(),
        "handover: 20 Mbit/s, 50 ms",
    );
    let gap = |link: &LinkSpec| match &link.rate {
        RateSpec::Steps(steps) => steps.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        gap(&scenario.down),
        [[0.0, 20.0], [20.0, 0.0], [20.3, 20.0]]
    );
    assert_eq!(gap(&scenario.up), [[0.0, 5.0], [20.0, 0.0], [20.3, 5.0]]);
    for link in [&scenario.down, &scenario.up] {
        assert_eq!((link.delay_ms, link.delay_steps[0].ms), (25.0, 35.0));
    }
}

/// 26 changes and the 24 paths that result from them; Linux, rLEDBAT, DRWA and tide.
#[test]
fn changes_share_the_paths_that_come_of_them() {
    let figure = super::changes::figure().unwrap();
    assert_eq!(Study::new(vec![figure], 1).cases().len(), (26 + 24) * 4);
}

/// Without recordings there are six links: twice each, and no case comes twice.
#[test]
fn the_laboratorys_sample_is_spread_over_links_round_trips_and_senders() {
    let extent = Extent {
        lab: true,
        ..Extent::default()
    };
    let mut figures = super::figures(&extent).unwrap();
    figures.retain(|figure| figure.id == "laboratory");
    let study = Study::new(figures, 1);
    assert_eq!(study.cases().len(), 12 * 3);
    let words = |nth: usize| -> BTreeSet<&str> {
        let cases = study.cases().iter();
        cases
            .map(|case| case.name.split(", ").nth(nth).unwrap())
            .collect()
    };
    assert_eq!(words(0).len(), 6, "links");
    assert_eq!(words(1).len(), 5, "base RTTs");
    assert_eq!(words(2), BTreeSet::from(["bbr", "cubic"]));
    for case in study.cases() {
        assert_eq!(case.scenario.duration_s, 30.0, "{}", case.name);
    }
    let mut results = Results::default();
    for job in study.jobs() {
        study.note(job, RunResult::default(), &mut results);
    }
    // A case that nobody ran would panic.
    let report = study.report(&results, Some(&results));
    assert!(report.quantities().all(|q| q.kernel.is_some()));
}

/// The law steers the download, and of the others only flows without a window on its own host.
#[test]
fn the_company_of_beside_is_another_hosts_or_has_no_window() {
    let extent = Extent {
        quick: true,
        ..Extent::default()
    };
    let figure = super::beside::figure(&extent).unwrap();
    let study = Study::new(vec![figure], 1);
    // 10 Mbit/s with two buffers, lte, hspa, evdo; ten kinds of company × Linux and tide, and DRWA in one;
    // one, four and one with BBR alone.
    assert_eq!(study.cases().len(), 5 * (10 * 2 + 1 + 3));
    for case in study.cases() {
        for workload in &case.scenario.workloads {
            let ours = workload.name == "download";
            let seen = case.name.starts_with("windowless");
            assert_eq!(workload.steered, ours || seen, "{}", case.name);
            assert_eq!(workload.windowless, seen && !ours, "{}", case.name);
        }
    }
}
