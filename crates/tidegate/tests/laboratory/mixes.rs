//! Flows that share an interface but not all links: the agent must see the same in laboratory and simulator.

use crate::common::{laboratory, number, simulator};

/// A download from 98 ms away beside a stream from 8 ms, through one access link, and a download by another host that
/// no law sees.
const NEAR_AND_FAR: &str = r#"
name = "near-and-far"
duration_s = 14
warmup_s = 5
down = { rate = { constant_mbps = 20 }, delay_ms = 4, queue = { packets = 1000 } }
up = { rate = { constant_mbps = 20 }, delay_ms = 4 }
hop = [
    { name = "distance", link = { rate = { constant_mbps = 1000 }, delay_ms = 90 } },
    { name = "elsewhere", link = { rate = { constant_mbps = 2 }, delay_ms = 4, queue = { packets = 100 } } },
]
workload = [
    { name = "far", links = ["distance", "down", "up"], does = { bulk = {} } },
    { name = "near", links = ["down", "up"], does = { constant_rate = { mbps = 2 } } },
    { name = "stranger", links = ["elsewhere", "up"], steered = false, does = { bulk = {} } },
]
run = [{ name = "linux" }, { name = "tide", law = "tide" }]
"#;

/// Bounds are wide: other processes use the machine, and 14 s are short.
#[test]
fn a_law_sees_in_the_laboratory_what_it_sees_in_the_simulator() {
    let Some(kernel) = laboratory(NEAR_AND_FAR, &[]) else {
        return;
    };
    let simulated = simulator(NEAR_AND_FAR);
    let both = [&kernel, &simulated];
    for run in 0..2 {
        let of = |path: &str| both.map(|results| number(&results["runs"][run], path));
        for flow in 0..3 {
            let [lab, sim] = of(&format!("/flows/{flow}/goodput_bps"));
            assert!((lab / sim - 1.0).abs() < 0.2, "{run}, {flow}: {lab}, {sim}");
        }
        // The other host's queue is not shortened.
        for queue in of("/hops/1/link/queue_delay_ms/mean") {
            assert!(queue > 200.0, "{run}: {queue} ms");
        }
    }
    for results in both {
        let queue = |run: usize| number(&results["runs"][run], "/link/queue_delay_ms/mean");
        assert!(queue(1) < 0.2 * queue(0), "{} of {} ms", queue(1), queue(0));
    }
    // Flows with 8 and 98 ms, each compared with its own links.
    let of = |name| number(&kernel["runs"][1], &format!("/agent_rtt/{name}"));
    let (error, truth) = (of("median_error_ms"), of("median_truth_ms"));
    assert!(of("bins") > 100.0);
    assert!(error < 0.15 * truth, "off by {error} ms of {truth}");
}
