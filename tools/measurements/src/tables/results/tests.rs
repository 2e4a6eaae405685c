use super::*;
use serde_json::json;

fn printed() -> Printed {
    let run = |name: &str, bps: f64| {
        json!({
            "name": name, "law": "none", "congestion_control": "cubic",
            "flows": [{
                "name": "download", "direction": "down", "goodput_bps": bps, "retransmits": 0,
                "rtt_ms": { "mean": 1.0, "p50": 44.06, "p95": 50.0, "p99": 1.0, "max": 60.0 },
                "completion_s": null,
            }],
            "link": {
                "utilisation": 0.987, "delivered_bps": bps, "drops": 7, "losses": 0,
                "queue_delay_ms": { "mean": 3.0, "p50": 2.0, "p95": 9.0, "p99": 1.0, "max": 9.0 },
            },
            "uplink": {
                "utilisation": 0.0, "delivered_bps": 0.0, "drops": 0, "losses": 0,
                "queue_delay_ms": { "mean": 0.0, "p50": 0.0, "p95": 0.0, "p99": 0.0, "max": 0.0 },
            },
            "health": {
                "timing_error_ms": { "mean": 0.0, "p50": 0.0, "p95": 0.0, "p99": 0.2, "max": 1.0 },
                "plumbing_losses": 0, "emulator_cpu": 0.0, "machine_cpu": 0.0, "warnings": [],
            },
        })
    };
    Printed::Json(json!({
        "scenario": "s down.rate.constant_mbps=4.5 down.delay_ms=40", "description": "",
        "runs": [run("linux", 20e6), run("tide", 19e6)],
    }))
}

#[test]
fn runs_stand_beside_the_first() {
    let table = runs(&[printed()]).unwrap();
    let expected = "| tide | 19.00 | 95.0 % | 44.1 / 50.0 | 3.0 / 2.0 / 9.0 | 7 | 98.7 % |";
    assert_eq!(table.lines().nth(3), Some(expected), "{table}");
}

#[test]
fn variants_are_lines() {
    let table = static_limit(&[printed()]).unwrap();
    let expected = "| 4.5 Mbit/s, 50 ms | 20.00 (44.1) | 19.00 (44.1) |";
    assert_eq!(table.lines().nth(2), Some(expected), "{table}");
}

#[test]
fn what_is_no_result_is_refused() {
    assert!(runs(&[Printed::Text("busy".into())]).is_err());
    assert!(runs(&[]).is_err());
    assert!(runs(&[Printed::Json(json!({ "rows": [] }))]).is_err());
}
