//! A short test of the main job: the laboratory with the live agent on the real kernel.

use crate::common::{laboratory, number};
use serde_json::Value;

const SCENARIO: &str = r#"
name = "short"
duration_s = 10
warmup_s = 4
hosts = { congestion_control = "cubic" }
down = { rate = { constant_mbps = 20 }, delay_ms = 20, queue = { packets = 2000 } }
up = { rate = { constant_mbps = 5 }, delay_ms = 20 }
workload = [{ name = "download", does = { bulk = {} } }]
run = [
    { name = "linux" },
    { name = "drwa", law = "drwa" },
    { name = "tide", law = "tide" },
]
"#;

/// A bulk upload in front of two seconds of buffer; `{more}` is for the hosts.
const UPLOAD: &str = r#"
name = "upload"
duration_s = 14
warmup_s = 6
hosts = { congestion_control = "cubic"{more} }
down = { rate = { constant_mbps = 20 }, delay_ms = 30 }
up = { rate = { constant_mbps = 1 }, delay_ms = 30, queue = { bytes = 262144 } }
workload = [{ name = "upload", does = { bulk = { direction = "up" } } }]
run = [
    { name = "linux" },
    { name = "tide", law = "tide" },
    { name = "downloads", law = "tide", uploads = false },
    { name = "server", server_law = "rsfc" },
]
"#;

fn goodput(run: &Value) -> f64 {
    number(run, "/flows/0/goodput_bps")
}

fn queue(run: &Value) -> f64 {
    number(run, "/link/queue_delay_ms/mean")
}

/// Bounds are wide: other processes use the machine, and 10 s are short.
fn assert_steered(results: &Value) {
    let [linux, drwa, tide] = [0, 1, 2].map(|run| &results["runs"][run]);
    assert!(queue(linux) > 200.0, "no bufferbloat to cure: {linux}");
    assert!(queue(drwa) < 0.6 * queue(linux), "{drwa}");
    assert!(queue(tide) < 0.2 * queue(linux), "{tide}");
    assert!(goodput(drwa) > 0.85 * goodput(linux), "{drwa}");
    assert!(goodput(tide) > 0.90 * goodput(linux), "{tide}");
    for steered in [drwa, tide] {
        // Fig. 8 of the DRWA report: the receiver's RTT is the sender's.
        let error = number(steered, "/agent_rtt/median_error_ms");
        let truth = number(steered, "/agent_rtt/median_truth_ms");
        assert!(
            error < (0.05 * truth).max(2.0),
            "off by {error} ms of {truth}"
        );
    }
}

#[test]
fn the_agent_shortens_the_queue_and_keeps_the_goodput() {
    if let Some(results) = laboratory(SCENARIO, &[]) {
        let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
        assert_eq!(results["provenance"]["kernel"], kernel.trim());
        assert_eq!(results["provenance"]["seed"], 1);
        assert_steered(&results);
    }
}

#[test]
fn so_it_does_over_ipv6() {
    if let Some(results) = laboratory(SCENARIO, &["--ipv6"]) {
        assert_steered(&results);
    }
}

/// Only tide: DRWA's round trips are those of a kernel window that is not filled.
#[test]
fn without_timestamps_it_shortens_the_queue_too() {
    let bare = SCENARIO.replace("\"cubic\" }", "\"cubic\", timestamps = false }");
    assert_ne!(bare, SCENARIO);
    let bare = bare.replace("law = \"tide\" }", "law = \"tide\", stampless = true }");
    let two = ["--run", "linux", "--run", "tide"];
    if let Some(results) = laboratory(&bare, &two) {
        let [linux, tide] = [0, 1].map(|run| &results["runs"][run]);
        assert!(queue(linux) > 200.0, "no bufferbloat to cure: {linux}");
        assert!(queue(tide) < 0.2 * queue(linux), "{tide}");
        assert!(goodput(tide) > 0.9 * goodput(linux), "{tide}");
    }
}

fn rtt(run: &Value) -> f64 {
    number(run, "/flows/0/rtt_ms/p50")
}

/// The same for an upload, steered at its sender and at its receiver.
fn assert_upload_steered(results: &Value) {
    let [linux, tide, downloads, server] = [0, 1, 2, 3].map(|run| &results["runs"][run]);
    assert!(rtt(linux) > 800.0, "no bufferbloat to cure: {linux}");
    assert!(rtt(tide) < 0.25 * rtt(linux), "{tide}");
    assert!(rtt(server) < 0.5 * rtt(linux), "{server}");
    assert!(rtt(downloads) > 0.7 * rtt(linux), "{downloads}");
    for steered in [tide, server] {
        assert!(goodput(steered) > 0.9 * goodput(linux), "{steered}");
        assert!(
            number(steered, "/agent_rtt/bins") > 10.0,
            "no RTT of the upload's: {steered}"
        );
    }
}

#[test]
fn the_agent_shortens_the_uplinks_queue_from_either_end() {
    let upload = UPLOAD.replace("{more}", "");
    if let Some(results) = laboratory(&upload, &[]) {
        assert_upload_steered(&results);
    }
}

#[test]
fn over_ipv6_it_shortens_the_uplinks_queue() {
    let upload = UPLOAD.replace("{more}", "");
    let two = ["--ipv6", "--run", "linux", "--run", "tide"];
    if let Some(results) = laboratory(&upload, &two) {
        let [linux, tide] = [0, 1].map(|run| &results["runs"][run]);
        assert!(rtt(tide) < 0.25 * rtt(linux), "{tide}");
        assert!(goodput(tide) > 0.9 * goodput(linux), "{tide}");
    }
}

#[test]
fn an_upload_without_timestamps_is_left_alone() {
    let upload = UPLOAD.replace("{more}", ", timestamps = false");
    let two = ["--run", "linux", "--run", "tide"];
    if let Some(results) = laboratory(&upload, &two) {
        let [linux, tide] = [0, 1].map(|run| &results["runs"][run]);
        assert!(rtt(tide) > 0.7 * rtt(linux), "{tide}");
        assert!(tide.get("agent_rtt").is_none(), "{tide}");
    }
}
