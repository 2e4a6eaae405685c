use super::*;
use tidegate_scenario::FlowResult;
use tidegate_study::Results;

/// Results for each share and scheme, of one connection that reads the given share of what it could.
fn results(read: impl Fn(usize, usize) -> f64) -> (Runs, Results) {
    let name = |share, scheme: usize| format!("{share} {scheme}");
    let runs = Runs {
        connections: 1,
        cases: (0..SHARES_KIB.len())
            .map(|share| [0, 1, 2].map(|scheme| name(share, scheme)))
            .collect(),
    };
    let mut results = Results::default();
    for (share, schemes) in runs.cases.iter().enumerate() {
        for (scheme, case) in schemes.iter().enumerate() {
            let flow = FlowResult {
                goodput_bps: read(share, scheme) * MEAN_MBPS * 1e6,
                ..FlowResult::default()
            };
            let run = RunResult {
                flows: vec![flow],
                ..RunResult::default()
            };
            results.add(case, run);
        }
    }
    (runs, results)
}

/// The first scheme reaches four fifths halfway between 16 and 32 KiB, the second at 8, the third never.
#[test]
fn enough_is_found_between_the_shares_that_were_tried() {
    let reads = [
        [0.2, 0.5, 0.7, 0.9, 1.0],
        [0.6, 0.8, 1.0, 1.0, 1.0],
        [0.1; 5],
    ];
    let (runs, results) = results(|share, scheme| reads[scheme][share]);
    let enough = [0, 1, 2].map(|scheme| runs.enough_kib(&results.all(), scheme));
    assert!((enough[0] - 24.0).abs() < 1e-6, "{enough:?}");
    assert!((enough[1] - 8.0).abs() < 1e-6, "{enough:?}");
    assert_eq!(enough[2], f64::INFINITY);
}

/// All begin within the warm-up, and never many at once.
#[test]
fn uploads_are_out_of_step() {
    let uploads: Vec<Workload> = (0..1000).map(upload).collect();
    let mut starts: Vec<f64> = uploads.iter().map(|upload| upload.start_s).collect();
    starts.sort_by(f64::total_cmp);
    assert!(starts[999] < START_S, "{}", starts[999]);
    let gaps = starts[..900].windows(2).map(|pair| pair[1] - pair[0]);
    assert!(gaps.fold(0.0, f64::max) < 0.1);
}
