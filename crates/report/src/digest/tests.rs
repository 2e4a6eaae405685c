use super::{digests, studied};
use crate::fixture::{flow, quantiles, run, set};
use tidegate_scenario::{Direction, FlowDirection, FlowResult, ResultSet};

fn up(name: &str, mbps: f64) -> FlowResult {
    FlowResult {
        direction: FlowDirection::Up,
        ..flow(name, mbps, 300.0)
    }
}

#[test]
fn flows_down_are_summed_and_the_slowest_rtt_counts() {
    let mut set = set();
    set.runs[0].flows = vec![flow("a", 12.0, 500.0), flow("b", 4.0, 800.0), up("c", 3.0)];
    let digest = digests(&set)[0];
    assert_eq!(digest.goodput_bps, Some(16e6));
    assert_eq!(digest.rtt_ms.unwrap().p95, 800.0);
    // All flows', as in rows and results.
    assert_eq!(digest.retransmits, Some(21));
    assert_eq!(digest.other_goodput_bps, Some(3e6));
    // (12 + 4)² ÷ (2 · (144 + 16)); the upload is no party to it.
    assert!((digest.jain.unwrap() - 0.8).abs() < 1e-12);
}

#[test]
fn one_flow_has_no_fairness_and_may_have_an_end() {
    let mut set = set();
    set.runs[0].flows[0].completion_s = Some(12.5);
    let digest = digests(&set)[0];
    assert_eq!((digest.jain, digest.completion_s), (None, Some(12.5)));
}

#[test]
fn uploads_alone_are_what_is_studied() {
    let mut upload = run("linux", 5.0, 0.0);
    upload.flows = vec![up("bulk", 4.5)];
    upload.uplink.queue_delay_ms = quantiles(700.0);
    let set = ResultSet {
        runs: vec![upload],
        ..ResultSet::default()
    };
    assert_eq!(studied(&set), Direction::Up);
    let digest = digests(&set)[0];
    assert_eq!(digest.goodput_bps, Some(4.5e6));
    assert_eq!(digest.queue_delay_p95_ms(), Some(700.0));
}

#[test]
fn nothing_counted_is_not_zero() {
    let mut set = set();
    set.runs[0].flows.clear();
    set.runs[0].link = Default::default();
    let digest = digests(&set)[0];
    assert!(digest.goodput_bps.is_none() && digest.rtt_ms.is_none() && digest.queue_ms.is_none());
}
