//! What has no window, over the laboratory's link: downloads by QUIC whose acknowledgements wait at the client.

use crate::common::{laboratory, number};
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

/// Bounds are wide: other processes share the machine, and the start takes some seconds.
#[test]
fn a_quic_download_is_held() {
    let Some(results) = laboratory(QUIC, &[]) else {
        return;
    };
    let [linux, hold] = [0, 1].map(|run| &results["runs"][run]);
    assert!(queue(linux) > 200.0, "no bufferbloat to cure: {linux}");
    assert!(queue(hold) < 0.4 * queue(linux), "{hold}");
    assert!(goodput(hold) > 0.8 * goodput(linux), "{hold}");
    // What waits here instead is less than what waited there.
    assert!(round_trip(hold) < 0.8 * round_trip(linux), "{hold}");
}
