use super::frontier::Frontier;
use tidegate_reproduce::Extent;

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

#[test]
fn every_quantity_of_the_plane_is_read_from_cases_that_are_run() {
    let mut figures = super::figures(&Extent {
        quick: true,
        traces: None,
    })
    .unwrap();
    figures.truncate(3);
    // 3 cells × 2 RTTs; Linux, tide, rLEDBAT and seven λ with each sender.
    for figure in &figures[..2] {
        assert_eq!(figure.cases.len(), 6 * 10, "{}", figure.id);
    }
    let study = tidegate_reproduce::Study::new(figures, 1);
    // The plane adds Vegas, LEDBAT, CoDel and FQ-CoDel.
    assert_eq!(study.cases().len(), 6 * (10 + 10 + 4));
    let mut results = tidegate_reproduce::Results::default();
    for job in study.jobs() {
        let run = tidegate_scenario::RunResult::default();
        study.note(job, run, &mut results);
    }
    // A case that nobody ran would panic.
    assert_eq!(study.report(&results).figures.len(), 3);
}

/// The figures that bring workloads of their own.
#[test]
fn every_quantity_of_mixed_and_beside_is_read_from_cases_that_are_run() {
    let extent = Extent {
        quick: true,
        traces: None,
    };
    for (figure, cases) in [
        // 10 Mbit/s, lte, hspa × Linux, DRWA, tide, FQ-CoDel: evdo is too slow for a page.
        (super::mixed::figure(&extent).unwrap(), 3 * 4),
        // The same and evdo × Linux, DRWA, tide × four kinds of company and none.
        (super::beside::figure(&extent).unwrap(), 4 * 3 * 5),
    ] {
        assert_eq!(figure.cases.len(), cases, "{}", figure.id);
        let study = tidegate_reproduce::Study::new(vec![figure], 1);
        assert_eq!(study.cases().len(), cases);
        let mut results = tidegate_reproduce::Results::default();
        for job in study.jobs() {
            let run = tidegate_scenario::RunResult::default();
            study.note(job, run, &mut results);
        }
        // A case that nobody ran would panic.
        assert_eq!(study.report(&results).figures.len(), 1);
    }
}

/// The law has the download and nothing else.
#[test]
fn the_company_of_beside_is_not_steered() {
    let extent = Extent {
        quick: true,
        traces: None,
    };
    for case in super::beside::figure(&extent).unwrap().cases {
        for workload in &case.scenario.workloads {
            assert_eq!(
                workload.steered,
                workload.name == "download",
                "{}",
                case.name
            );
        }
    }
}
