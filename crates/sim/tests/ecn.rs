//! Explicit congestion notification through the whole simulator: the effect of marks, and that nothing changes without
//! them.

mod common;

use common::{flow, run, try_run};
use tidegate_scenario::RunResult;

/// That many Mbit/s down and 20 ms there and back, with that queue, a run and workloads with these keys.
fn scenario(mbps: u32, queue: &str, run: &str, workloads: &str) -> String {
    format!(
        "duration_s = 20\nwarmup_s = 5
         down = {{ rate = {{ constant_mbps = {mbps} }}, delay_ms = 10, queue = {{ {queue} }} }}
         up = {{ rate = {{ constant_mbps = 10 }}, delay_ms = 10 }}
         run = [{{ name = 'r'{run} }}]
         workload = [{workloads}]\n"
    )
}

const BULK: &str = "{ name = 'd', does = { bulk = {} } }";

/// The policies that mark, with their parameters.
const MARKING: [&str; 4] = [
    "policy = 'codel'",
    "policy = 'fq-codel'",
    "policy = 'pie'",
    "policy = 'red', packets = 300, red_min_packets = 10",
];

fn bulk(queue: &str, with: &str) -> RunResult {
    run(&scenario(20, queue, with, BULK))
}

fn text(run: &RunResult) -> String {
    serde_json::to_string(run).expect("results can be written")
}

/// Golden: a queue that marks for senders without ECN behaves as without marks.
#[test]
fn a_queue_that_may_mark_changes_nothing_for_who_is_not_ecn_capable() {
    for queue in MARKING {
        let plain = bulk(queue, "");
        assert!(plain.link.drops > 0, "{queue}");
        let marking = bulk(&format!("{queue}, ecn = true"), "");
        assert_eq!(text(&marking), text(&plain), "{queue}");
    }
    let step = bulk("policy = 'codel', ce_threshold_ms = 1", "");
    assert_eq!(text(&step), text(&bulk("policy = 'codel'", "")));
}

/// Golden: ECN without marks and losses is the same TCP as without ECN.
#[test]
fn ecn_without_marks_changes_nothing() {
    let deep = "packets = 100000";
    let plain = bulk(deep, "");
    for ecn in ["classic", "accurate"] {
        let with = bulk(deep, &format!(", ecn = '{ecn}'"));
        assert_eq!(text(&with), text(&plain), "{ecn}");
    }
}

/// RFC 3168: the same delays and goodput, and nothing is sent twice.
#[test]
fn marks_take_the_place_of_losses() {
    for queue in MARKING {
        let drops = bulk(queue, "");
        for ecn in ["classic", "accurate"] {
            let marks = bulk(&format!("{queue}, ecn = true"), &format!(", ecn = '{ecn}'"));
            let whose = format!("{queue}, {ecn}");
            assert_eq!(drops.link.marks, 0);
            assert!(marks.link.marks > 0, "{whose}");
            let [with, without] = [&marks, &drops].map(|run| flow(run, "d"));
            assert!(without.retransmits > 0, "{whose}");
            // At the end of slow start losses can come before marks are answered.
            assert!(
                with.retransmits * 4 <= without.retransmits,
                "{whose}: {with:?} {without:?}"
            );
            assert!(
                with.goodput_bps > 0.95 * without.goodput_bps,
                "{whose}: {with:?} {without:?}"
            );
            let [p95, before] = [&marks, &drops].map(|run| run.link.queue_delay_ms.p95);
            assert!(p95 < 2.0 * before + 5.0, "{whose}: {p95} {before}");
        }
    }
}

/// RFC 9332: sub-millisecond delays at nearly full use.
#[test]
fn prague_over_dualpi2_waits_for_less_than_a_millisecond() {
    // At 100 Mbit/s slow start ends long before the link is full.
    for mbps in [40, 100] {
        let alone = run(&scenario(
            mbps,
            "policy = 'dualpi2'",
            ", congestion_control = 'prague'",
            BULK,
        ));
        let delay = &alone.link.queue_delay_ms;
        assert!(delay.p50 < 1.0 && delay.p99 < 2.5, "{delay:?}");
        let used = alone.link.utilisation;
        assert!(used > 0.95, "{mbps} Mbit/s: {used}");
        assert_eq!(alone.link.drops, 0);
        assert_eq!(flow(&alone, "d").retransmits, 0);
    }
}

/// With a queue where each packet waits longer than the step, a flow is slowed down to the least rate and not below
/// it, and hardly retransmits.
#[test]
fn prague_bears_a_link_that_marks_everything() {
    let slow = "policy = 'dualpi2'";
    let slow = scenario(1, slow, ", congestion_control = 'prague'", BULK);
    let slow = run(&slow);
    let flow = flow(&slow, "d");
    assert!(flow.goodput_bps > 0.08e6, "{flow:?}");
    assert!(flow.retransmits < 20, "{flow:?}");
}

/// RFC 9332 §2.1: with k = 2, flows of either kind have about the same rate. CUBIC's round trip includes the C queue's
/// wait. Prague reduces its window at the end of a round trip but not before 25 ms have passed, which here is each 40
/// ms.
#[test]
fn prague_and_cubic_share_a_link_with_two_queues() {
    let both = "{ name = 'prague', congestion_control = 'prague', does = { bulk = {} } },
                { name = 'cubic', does = { bulk = {} } }";
    let both = run(&scenario(40, "policy = 'dualpi2'", "", both));
    let [prague, cubic] = ["prague", "cubic"].map(|name| flow(&both, name).goodput_bps);
    let ratio = prague / cubic;
    assert!((0.5..3.0).contains(&ratio), "{prague} and {cubic}");
    assert!(both.link.utilisation > 0.95, "{}", both.link.utilisation);
}

/// RFC 8257: the queue stays at the step.
#[test]
fn dctcp_keeps_the_queue_at_a_step() {
    let step = "policy = 'red', red_min_packets = 20, red_max_packets = 20.001, red_max_probability = 1, red_weight = 1, ecn = true";
    let step = bulk(step, ", congestion_control = 'dctcp'");
    // A packet takes 0.6 ms.
    let delay = &step.link.queue_delay_ms;
    assert!((6.0..18.0).contains(&delay.p50), "{delay:?}");
    assert!(delay.p99 < 25.0, "{delay:?}");
    assert!(step.link.utilisation > 0.97, "{}", step.link.utilisation);
}

/// Combinations that do not exist are refused, with the key and what was expected.
#[test]
fn a_word_that_is_none_is_refused() {
    let error = try_run(&scenario(20, "", ", ecn = 'nonce'", BULK), false).unwrap_err();
    let error = format!("{error:#}");
    assert!(
        error.contains("nonce") && error.contains("accurate"),
        "{error}"
    );
}
