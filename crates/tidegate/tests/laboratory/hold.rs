//! QUIC over the laboratory's link: downloads whose acknowledgements are held at the client.

use crate::common::{laboratory, number, simulator};
use serde_json::Value;

const QUIC: &str = r#"
name = "quic"
duration_s = 24
warmup_s = 12
down = { rate = { constant_mbps = 20 }, delay_ms = 25, queue = { packets = 1000 } }
up = { rate = { constant_mbps = 5 }, delay_ms = 25 }
workload = [{ name = "download", windowless = true, does = { bulk = {} } }]
run = [{ name = "linux" }, { name = "hold", law = "tide", udp = "hold" }]
"#;

fn queue(run: &Value) -> f64 {
    number(run, "/link/queue_delay_ms/mean")
}

fn goodput(run: &Value) -> f64 {
    number(run, "/flows/0/goodput_bps")
}

fn round_trip(run: &Value) -> f64 {
    number(run, "/flows/0/rtt_ms/p50")
}

/// Bounds are wide: other processes use the machine, and the start takes some seconds.
#[test]
fn a_quic_download_is_held() {
    let Some(results) = laboratory(QUIC, &[]) else {
        return;
    };
    let [linux, hold] = [0, 1].map(|run| &results["runs"][run]);
    assert!(queue(linux) > 200.0, "no bufferbloat to cure: {linux}");
    assert!(queue(hold) < 0.4 * queue(linux), "{hold}");
    assert!(goodput(hold) > 0.8 * goodput(linux), "{hold}");
    // Acknowledgements wait here for less time than packets waited in the queue.
    assert!(round_trip(hold) < 0.8 * round_trip(linux), "{hold}");
}

/// The shipped scenario, shorter.
fn upload() -> String {
    let scenario = include_str!("../../../../scenarios/quic-upload.toml");
    let traces = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/traces/");
    scenario
        .replace("traces/", traces)
        .replace("duration_s = 60", "duration_s = 45")
}

fn uplink_queue(run: &Value) -> f64 {
    number(run, "/uplink/queue_delay_ms/mean")
}

/// An upload over an uplink that varies like LTE, unsteered and held, on the kernel and in the simulator.
#[test]
fn a_quic_upload_is_held_and_the_simulator_says_so() {
    let Some(results) = laboratory(&upload(), &[]) else {
        return;
    };
    let told = simulator(&upload());
    let [linux, hold] = [0, 1].map(|run| &results["runs"][run]);
    let simulated = &told["runs"][1];
    println!(
        "goodput {} {} {}, queue {} {} {}",
        goodput(linux),
        goodput(hold),
        goodput(simulated),
        uplink_queue(linux),
        uplink_queue(hold),
        uplink_queue(simulated)
    );
    assert!(
        uplink_queue(linux) > 500.0,
        "no bufferbloat to cure: {linux}"
    );
    assert!(uplink_queue(hold) < 0.1 * uplink_queue(linux), "{hold}");
    assert!(goodput(hold) > 0.85 * goodput(linux), "{hold}");
    let kept = goodput(hold) / goodput(simulated);
    assert!(
        (0.9..1.1).contains(&kept),
        "{kept} of the simulator's goodput"
    );
    let queues = uplink_queue(hold) / uplink_queue(simulated);
    assert!(
        (0.5..2.0).contains(&queues),
        "{queues} of the simulator's queue"
    );
    let [signalled, left] =
        ["signalled", "left"].map(|what| number(hold, &format!("/held/0/{what}")));
    assert!(
        signalled > 0.0 && signalled * 500.0 < left,
        "{signalled} of {left}"
    );
}
