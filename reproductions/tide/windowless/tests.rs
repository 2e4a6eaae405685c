use super::figure;
use tidegate_scenario::{Law, RunResult, Udp};
use tidegate_study::{Case, Extent, Figure, Results, Study};

fn on_the_kernel(quick: bool) -> Figure {
    let extent = Extent {
        lab: true,
        quick,
        ..Extent::default()
    };
    figure(&extent).unwrap()
}

/// Whether the download is held.
fn is_held(case: &Case) -> bool {
    case.scenario.runs[0].udp == Udp::Hold
}

/// A case that nobody ran would panic.
#[test]
fn the_kernels_sample_is_read_from_cases_that_are_run() {
    for quick in [false, true] {
        let study = Study::new(vec![on_the_kernel(quick)], 1);
        let mut results = Results::default();
        for job in study.jobs() {
            study.note(job, RunResult::default(), &mut results);
        }
        let report = study.report(&results, Some(&results));
        assert!(report.figures[0].quantities.len() > 20);
        assert!(!(study.figures()[0].draw)(&results.all()).is_empty());
    }
}

#[test]
fn untouched_and_held_take_turns() {
    let Figure { cases, .. } = on_the_kernel(false);
    let alone = cases.iter().filter(|c| c.scenario.workloads.len() == 1);
    let alone: Vec<&Case> = alone.collect();
    // Four links at three base RTTs, and BBR at one.
    assert_eq!(alone.len(), 2 * (4 * 3 + 4));
    for pair in alone.chunks(2) {
        let laws = [pair[0], pair[1]].map(|case| case.scenario.runs[0].law);
        assert_eq!(laws, [Law::None, Law::Tide]);
        assert_eq!([is_held(pair[0]), is_held(pair[1])], [false, true]);
    }
}

/// With `--quick` one case alone with each sender, one beside another, and one of those who talk.
#[test]
fn the_kernel_takes_minutes() {
    let of = |quick| on_the_kernel(quick).cases;
    let minutes = |quick| of(quick).iter().map(|c| c.scenario.duration_s).sum::<f64>() / 60.0;
    assert!(minutes(false) < 75.0, "{}", minutes(false));
    assert_eq!(of(true).len(), 2 + 2 + 3 + 2);
    assert!(minutes(true) < 7.0, "{}", minutes(true));
    for case in of(true) {
        assert!(case.scenario.workloads.iter().any(|w| w.windowless));
    }
}
