use super::frontier::Frontier;
use super::spans::Span;
use std::collections::BTreeMap;
use tidegate_reproduce::{Extent, Figure, Results, Study};
use tidegate_scenario::{FetchResult, Quantiles, RunResult, Series};

/// Three points in reach, one of them beaten by another in both.
#[test]
fn a_frontier_leaves_out_who_is_beaten_and_interpolates() {
    let frontier = Frontier::new([(90.0, 40.0), (80.0, 20.0), (85.0, 50.0)]);
    assert_eq!(frontier, Frontier::new([(80.0, 20.0), (90.0, 40.0)]));
    assert!((frontier.delay_at(85.0) - 30.0).abs() < 1e-9);
    // Towards the closed window, and beyond what it reaches.
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
        quick: false,
        traces: Some(folder.path().into()),
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

fn quick_figures() -> Vec<Figure> {
    super::figures(&Extent {
        quick: true,
        traces: None,
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
    assert_eq!(ids, ["cubic", "bbr", "plane", "uploads", "start", "short"]);
    let study = Study::new(figures, 1);
    let mut results = Results::default();
    for job in study.jobs() {
        study.note(job, RunResult::default(), &mut results);
    }
    // A case that nobody ran would panic.
    assert_eq!(study.report(&results).figures.len(), ids.len());
}

/// Cases are shared between figures by name.
#[test]
fn cases_of_one_name_are_one_case() {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    for case in quick_figures().into_iter().flat_map(|f| f.cases) {
        let text = serde_json::to_string(&case.scenario).unwrap();
        let before = known
            .entry(case.name.clone())
            .or_insert_with(|| text.clone());
        assert_eq!(*before, text, "{}", case.name);
    }
}

/// Bins of a tenth of a second, each with its number as value: times are sums of fractions.
#[test]
fn a_span_holds_the_bins_that_begin_in_it() {
    let bins = 0..100;
    let curve = |quantity: &str, factor: f64| Series {
        quantity: quantity.into(),
        flow: String::new(),
        t_s: bins.clone().map(|n| f64::from(n) * 0.1).collect(),
        value: bins.clone().map(|n| f64::from(n) * factor).collect(),
    };
    let mut results = Results::default();
    let run = RunResult {
        series: vec![curve("delivered_bps", 1.0), curve("capacity_bps", 4.0)],
        ..RunResult::default()
    };
    results.add("case", run);
    let sample = results.all();
    let span = Span(0.3, 2.3);
    // Bins 3 to 22: the 19th of twenty is the 95th percentile.
    assert!((span.peak(&sample, "case", "delivered_bps") - 22.0).abs() < 1e-9);
    assert!((span.p95(&sample, "case", "delivered_bps") - 21.0).abs() < 1e-9);
    assert!((span.utilisation(&sample, "case") - 25.0).abs() < 1e-9);
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
