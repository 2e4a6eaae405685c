//! Downloads without TCP timestamps under `tide`, compared with the same downloads with timestamps.

mod common;

use common::try_run;
use tidegate_scenario::RunResult;

/// Downloads, each `(start_s, timestamps)`, over that link at that base RTT.
fn downloads(rate: &str, rtt_ms: f64, flows: &[(u32, bool)]) -> RunResult {
    let one_way_ms = rtt_ms / 2.0;
    let workloads: Vec<String> = flows
        .iter()
        .map(|(start_s, timestamps)| {
            format!("{{ name = 'f{start_s}', start_s = {start_s}, timestamps = {timestamps}, does = {{ bulk = {{}} }} }}")
        })
        .collect();
    let text = format!(
        "duration_s = 40
         warmup_s = 5
         down = {{ rate = {{ {rate} }}, delay_ms = {one_way_ms}, queue = {{ packets = 2000 }} }}
         up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = {one_way_ms}, queue = {{ packets = 1000 }} }}
         workload = [{}]
         run = [{{ name = 'tide', law = 'tide', stampless = true }}]",
        workloads.join(", ")
    );
    try_run(&text, false).expect("it runs").runs.remove(0)
}

fn goodput(run: &RunResult) -> f64 {
    run.flows.iter().map(|flow| flow.goodput_bps).sum()
}

/// Goodput within a tenth, mean queue at most twice that with timestamps.
#[track_caller]
fn assert_as_good(rate: &str, rtt_ms: f64, with: &[(u32, bool)], without: &[(u32, bool)]) {
    let [with, without] = [with, without].map(|flows| downloads(rate, rtt_ms, flows));
    let kept = goodput(&without) / goodput(&with);
    let [queue, longer] = [&with, &without].map(|run| run.link.queue_delay_ms.mean);
    let told = format!("{rate}, {rtt_ms} ms: {kept:.2} kept, {longer:.1} ms against {queue:.1}");
    assert!(kept > 0.9 && longer < 2.0 * queue, "{told}");
}

const LINKS: [&str; 6] = [
    "generate = { kind = 'lte', seed = 1 }",
    "generate = { kind = 'hspa', seed = 1 }",
    "generate = { kind = 'evdo', seed = 1 }",
    "constant_mbps = 2",
    "constant_mbps = 10",
    "constant_mbps = 50",
];

#[test]
fn one_alone_is_steered_as_well_as_with_timestamps() {
    for rate in LINKS {
        for rtt_ms in [20.0, 100.0] {
            assert_as_good(rate, rtt_ms, &[(0, true)], &[(0, false)]);
        }
    }
}

/// On cells: on links of constant rate it can take long to find that two flows share a queue. On one cell it can take
/// long by chance, so the queues are means over eight.
#[test]
fn one_that_joins_is_found() {
    for kind in ["lte", "hspa"] {
        let mut queues_ms = [0.0; 2];
        for seed in 1..=8 {
            let rate = format!("generate = {{ kind = '{kind}', seed = {seed} }}");
            let [with, without] =
                [true, false].map(|ts| downloads(&rate, 50.0, &[(0, true), (5, ts)]));
            let kept = goodput(&without) / goodput(&with);
            assert!(kept > 0.9, "{rate}: {kept:.2} kept");
            queues_ms[0] += with.link.queue_delay_ms.mean;
            queues_ms[1] += without.link.queue_delay_ms.mean;
        }
        let [queue, longer] = queues_ms;
        println!("{kind}: {:.2} times the queue", longer / queue);
        assert!(
            longer < 2.0 * queue,
            "{kind}: {longer:.1} ms against {queue:.1}"
        );
    }
}

/// Slow start is not mistaken for a queue, although its window is never filled.
#[test]
fn a_start_is_not_slower() {
    let run = |timestamps| {
        let text = format!(
            "duration_s = 20
             down = {{ rate = {{ constant_mbps = 50 }}, delay_ms = 50, queue = {{ packets = 2000 }} }}
             up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 50 }}
             workload = [{{ name = 'f', timestamps = {timestamps}, does = {{ bulk = {{ bytes = 2000000 }} }} }}]
             run = [{{ name = 'tide', law = 'tide', stampless = true }}]"
        );
        let result = try_run(&text, false).expect("it runs");
        result.runs[0].flows[0].completion_s.expect("it ends")
    };
    let (with, without) = (run(true), run(false));
    assert!(without < 1.05 * with, "{without} s against {with}");
}
