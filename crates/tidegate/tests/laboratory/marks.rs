//! ECN on the real kernel over an emulated queue that marks packets.

use crate::common::{laboratory, number};

const SCENARIO: &str = r#"
name = "marks"
duration_s = 8
warmup_s = 3
hosts = { congestion_control = "cubic" }
down = { rate = { constant_mbps = 10 }, delay_ms = 10, queue = { packets = 300, policy = "codel", ecn = true } }
up = { rate = { constant_mbps = 10 }, delay_ms = 10 }
workload = [{ name = "download", does = { bulk = {} } }]
run = [{ name = "without" }, { name = "classic", ecn = "classic" }]
"#;

/// The emulator marks the ECN-capable packets of the kernel's TCP, and TCP reacts to the marks: no packet is lost, and
/// the queue is as short as with drops.
#[test]
fn what_the_emulator_marks_the_kernel_heeds() {
    let Some(results) = laboratory(SCENARIO, &[]) else {
        return;
    };
    let [without, classic] = [0, 1].map(|run| &results["runs"][run]);
    assert!(number(without, "/link/drops") > 0.0, "{without}");
    assert!(without["link"].get("marks").is_none(), "{without}");
    assert!(number(classic, "/link/marks") > 0.0, "{classic}");
    assert_eq!(number(classic, "/link/drops"), 0.0, "{classic}");
    let [before, after] = [without, classic].map(|run| number(run, "/link/queue_delay_ms/mean"));
    assert!(after < 2.0 * before + 5.0, "{before} ms, {after} ms");
}
