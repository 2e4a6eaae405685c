use super::{Quantity, compare, is_failure};
use crate::validate::reasons::Reasons;
use tidegate_scenario::{FlowDirection, FlowResult, LinkResult, Quantiles, RunResult};

fn flow(direction: FlowDirection, mbps: f64, rtt_ms: f64) -> FlowResult {
    FlowResult {
        direction,
        goodput_bps: mbps * 1e6,
        rtt_ms: Quantiles {
            p50: rtt_ms,
            ..Quantiles::default()
        },
        ..FlowResult::default()
    }
}

fn run(mbps: f64, rtt_ms: f64, queue_ms: f64) -> RunResult {
    RunResult {
        flows: vec![flow(FlowDirection::Down, mbps, rtt_ms)],
        link: LinkResult {
            queue_delay_ms: Quantiles {
                p95: queue_ms,
                ..Quantiles::default()
            },
            ..LinkResult::default()
        },
        ..RunResult::default()
    }
}

fn verdicts(kernel: RunResult, sim: RunResult) -> [bool; 3] {
    let rows = compare("s", &[kernel], &[sim], &Reasons::default());
    [0, 1, 2].map(|i| rows[i].ok)
}

#[test]
fn each_quantity_has_its_own_limit() {
    let kernel = || run(10.0, 100.0, 50.0);
    assert_eq!(verdicts(kernel(), run(10.3, 105.0, 55.0)), [true; 3]);
    assert_eq!(verdicts(kernel(), run(9.7, 95.0, 45.0)), [true; 3]);
    assert_eq!(verdicts(kernel(), run(10.31, 105.1, 55.1)), [false; 3]);
    assert_eq!(verdicts(kernel(), run(9.69, 94.9, 44.9)), [false; 3]);
}

#[test]
fn goodput_is_of_all_flows_and_rtt_their_mean_without_pings() {
    let mut several = run(0.0, 0.0, 0.0);
    several.flows = vec![
        flow(FlowDirection::Down, 6.0, 80.0),
        flow(FlowDirection::Echo, 0.0, 999.0),
        flow(FlowDirection::Down, 4.0, 120.0),
    ];
    assert_eq!(Quantity::Goodput.of(&several), 10e6);
    assert_eq!(Quantity::MedianRtt.of(&several), 100.0);
}

#[test]
fn the_queue_is_that_before_the_link_which_the_data_cross() {
    use FlowDirection::{Down, Echo, Up};
    let delay_of = |directions: &[FlowDirection]| {
        let mut run = run(0.0, 0.0, 50.0);
        run.uplink.queue_delay_ms.p95 = 7.0;
        run.flows = directions.iter().map(|&d| flow(d, 1.0, 1.0)).collect();
        Quantity::QueueP95.of(&run)
    };
    assert_eq!(delay_of(&[Up, Echo, Up]), 7.0);
    for others in [&[Down][..], &[Up, Down], &[Echo], &[]] {
        assert_eq!(delay_of(others), 50.0, "{others:?}");
    }
}

#[test]
fn repetitions_are_compared_by_their_medians() {
    let kernel = [
        run(10.0, 1.0, 1.0),
        run(90.0, 1.0, 1.0),
        run(12.0, 1.0, 1.0),
    ];
    let sim = [run(11.0, 1.0, 1.0), run(13.0, 1.0, 1.0)];
    let rows = compare("s", &kernel, &sim, &Reasons::default());
    assert_eq!((rows[0].kernel, rows[0].sim), (12e6, 12e6));
}

#[test]
fn an_empty_queue_agrees_only_with_an_empty_queue() {
    assert!(verdicts(run(1.0, 1.0, 0.0), run(1.0, 1.0, 0.0))[2]);
    assert!(!verdicts(run(1.0, 1.0, 0.0), run(1.0, 1.0, 0.1))[2]);
    // No measurement is no agreement.
    let rows = compare("s", &[], &[], &Reasons::default());
    assert!(rows.iter().all(|row| !row.ok));
}

#[test]
fn a_reason_explains_a_miss_and_nothing_else() {
    let labels = ["s".to_owned()];
    let reasons = Reasons::parse("[s]\n\"goodput_bps\" = \"Because.\"", &labels).unwrap();
    let rows = |mbps| {
        compare(
            "s",
            &[run(10.0, 1.0, 1.0)],
            &[run(mbps, 2.0, 1.0)],
            &reasons,
        )
    };
    let missed = rows(5.0);
    assert_eq!(missed[0].reason.as_deref(), Some("Because."));
    assert!(!missed[0].ok);
    let failures: Vec<_> = missed.iter().map(is_failure).collect();
    assert_eq!(failures, [false, true, false]);
    assert_eq!(rows(10.0)[0].reason, None);
}

#[test]
fn a_wider_tolerance_passes_with_its_reason_and_ends_somewhere() {
    let labels = ["s".to_owned()];
    let text = "[s]\n\"goodput_bps\" = { within = 0.2, because = \"Because.\" }";
    let reasons = Reasons::parse(text, &labels).unwrap();
    let row = |mbps| {
        let [kernel, sim] = [10.0, mbps].map(|mbps| [run(mbps, 1.0, 1.0)]);
        compare("s", &kernel, &sim, &reasons).swap_remove(0)
    };
    let seen = |mbps| {
        let row = row(mbps);
        (row.ok, row.reason.is_some(), is_failure(&row))
    };
    assert_eq!(row(11.0).allowed, 0.2);
    assert_eq!(seen(10.1), (true, false, false));
    assert_eq!(seen(11.9), (true, true, false));
    assert_eq!(seen(12.1), (false, false, true));
}
