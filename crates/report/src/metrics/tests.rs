use super::{METRICS, Measured};
use crate::fixture::flow;
use tidegate_scenario::{FlowDirection, FlowResult, RunResult};

fn cell(run: &RunResult, name: &str) -> String {
    let metric = METRICS.iter().find(|metric| metric.name == name);
    metric.expect("a column").cell(&Measured::new(run))
}

#[test]
fn a_run_of_nothing_has_no_numbers_but_counts() {
    let run = RunResult::default();
    for (name, expected) in [
        ("goodput_bps", ""),
        ("jain", ""),
        ("completion_s", ""),
        ("rtt_p95_ms", ""),
        ("fetch_time_p50_ms", ""),
        ("ping_rtt_p95_ms", ""),
        ("retransmits", "0"),
        ("fetch_count", ""),
        ("stalled_s", ""),
        ("queue_delay_p95_ms", ""),
        ("up_queue_delay_p50_ms", ""),
    ] {
        assert_eq!(cell(&run, name), expected, "{name}");
    }
}

#[test]
fn nothing_has_no_sign() {
    let mut run = RunResult::default();
    run.link.utilisation = -0.0;
    assert_eq!(cell(&run, "utilisation"), "0");
}

#[test]
fn an_upload_alone_is_what_is_studied() {
    let up = |mbps, rtt_ms| FlowResult {
        direction: FlowDirection::Up,
        ..flow("up", mbps, rtt_ms)
    };
    let mut run = RunResult {
        flows: vec![up(1.0, 50.0), up(1.0, 90.0)],
        ..RunResult::default()
    };
    assert_eq!(cell(&run, "goodput_bps"), "");
    assert_eq!(cell(&run, "up_goodput_bps"), "2000000");
    assert_eq!(cell(&run, "jain"), "1");
    let studied = cell(&run, "rtt_p50_ms");
    run.flows.push(flow("down", 4.0, 20.0));
    assert_eq!(cell(&run, "up_goodput_bps"), "2000000");
    assert_ne!(cell(&run, "rtt_p50_ms"), studied, "now the download is");
    run.flows.push(FlowResult {
        direction: FlowDirection::Echo,
        ..flow("ping", 0.0, 70.0)
    });
    assert_eq!(cell(&run, "goodput_bps"), "4000000", "a ping has none");
    assert_ne!(cell(&run, "ping_rtt_p50_ms"), "");
}
