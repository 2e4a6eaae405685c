//! The link's further stages under kernel TCP: they find what they need in a frame.

use crate::common::{flow, laboratory, run};
use tidegate_lab::Options;
use tidegate_scenario::RunResult;

/// A scenario of 5 s whose downlink at 20 Mbit/s and 40 ms round trip has `stages`.
fn over(stages: &str, workload: &str) -> RunResult {
    let text = format!(
        "duration_s = 5
         warmup_s = 2
         down = {{ rate = {{ constant_mbps = 20 }}, delay_ms = 20, {stages} }}
         up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 20 }}
         workload = [{workload}]
         run = [{{ name = 'linux' }}]"
    );
    run(&text, &Options::default()).runs.remove(0)
}

/// Flows are told apart by their 5-tuple: an echo does not wait behind a download, whose queue CoDel keeps to a few
/// milliseconds.
#[test]
fn fq_codel_keeps_an_echo_out_of_a_downloads_queue() {
    let Some(_turn) = laboratory() else { return };
    let workload = "{ name = 'bulk', does = { bulk = {} } },
                    { name = 'ping', does = { ping = { interval_ms = 10 } } }";
    let ping = |policy: &str| {
        let result = over(&format!("queue = {{ policy = '{policy}' }}"), workload);
        assert!(flow(&result, "bulk").goodput_bps > 15e6, "{result:#?}");
        flow(&result, "ping").rtt_ms.p50
    };
    let isolated = ping("fq-codel");
    assert!((40.0..46.0).contains(&isolated), "{isolated} ms");
    let common = ping("drop-tail");
    assert!(common > 60.0, "{common} ms");
}

/// A transfer through all stages at once; every byte is checked on arrival.
#[test]
fn a_file_arrives_whole_through_every_stage() {
    let Some(_turn) = laboratory() else { return };
    let result = over(
        "queue = { policy = 'pie' },
         shaper = { mbps = 18 },
         cell = { users = 2, load_mbps = 2 },
         arq = { error = 0.05 },
         disorder = { reorder = 0.01, duplicate = 0.01 },
         middlebox = { patience_ms = 300 }",
        "{ name = 'file', does = { bulk = { bytes = 2_000_000 } } }",
    );
    let file = flow(&result, "file");
    let completion = file.completion_s.expect("it ended");
    assert!((0.9..4.5).contains(&completion), "{completion} s");
    assert_eq!(result.link.losses, 0);
}

/// After the middlebox the receiver sees no hole and sends no duplicate ACK, so that packets that are only reordered
/// are not retransmitted. The queue is large enough not to overflow.
#[test]
fn a_middlebox_puts_reordered_packets_right() {
    let Some(_turn) = laboratory() else { return };
    let retransmits = |more: &str| {
        let stages = format!(
            "queue = {{ packets = 10_000 }}, disorder = {{ reorder = 0.02, late_ms = 15 }} {more}"
        );
        let result = over(&stages, "{ name = 'bulk', does = { bulk = {} } }");
        flow(&result, "bulk").retransmits
    };
    let exposed = retransmits("");
    let hidden = retransmits(", middlebox = { patience_ms = 100 }");
    assert!(exposed > 0, "{exposed}");
    assert_eq!(hidden, 0);
}
