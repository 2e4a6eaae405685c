use super::frontier::Frontier;
use std::collections::BTreeSet;
use tidegate_reproduce::{Extent, Results, Study};
use tidegate_scenario::RunResult;

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

#[test]
fn every_quantity_of_the_plane_is_read_from_cases_that_are_run() {
    let figures = super::figures(&Extent {
        quick: true,
        ..Extent::default()
    })
    .unwrap();
    // 3 cells × 2 RTTs; Linux, tide, rLEDBAT and seven λ with each sender.
    for figure in &figures[..2] {
        assert_eq!(figure.cases.len(), 6 * 10, "{}", figure.id);
    }
    let study = Study::new(figures, 1);
    // The plane adds Vegas, LEDBAT, CoDel and FQ-CoDel.
    assert_eq!(study.cases().len(), 6 * (10 + 10 + 4));
    let mut results = Results::default();
    for job in study.jobs() {
        let run = RunResult::default();
        study.note(job, run, &mut results);
    }
    // A case that nobody ran would panic.
    assert_eq!(study.report(&results, None).figures.len(), 3);
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
    assert_eq!(words(3), BTreeSet::from(["bbr", "cubic"]));
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
