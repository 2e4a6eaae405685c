//! The two queues of DualPI2: their delays, and how flows of either kind share the link.

use super::network::{Network, flow, of_flow};
use crate::means::{geometric_mean, mean};
use crate::pictures::bars;
use tidegate_scenario::{QueuePolicy, QueueSpec, RunResult};
use tidegate_study::{Case, Claim, Extent, Figure, Quantity, Sample};

/// Mbit/s and round trips of the paper's grid at which a packet takes less than the step of 1 ms; with `--quick` the
/// middle one.
const MBPS: [f64; 3] = [40.0, 120.0, 200.0];
const RTTS_MS: [f64; 3] = [10.0, 20.0, 50.0];

const DURATION_S: f64 = 60.0;

/// DualPI2's target.
const TARGET_MS: f64 = 15.0;

fn grid(extent: &Extent) -> Vec<(f64, f64)> {
    let middle = (MBPS[1], RTTS_MS[1]);
    match extent.quick {
        true => vec![middle],
        false => MBPS
            .iter()
            .flat_map(|&mbps| RTTS_MS.map(|rtt| (mbps, rtt)))
            .collect(),
    }
}

fn network(mbps: f64, rtt_ms: f64) -> Network {
    Network {
        mbps,
        rtt_ms,
        queue: QueueSpec {
            packets: Some(10_000),
            policy: QueuePolicy::DualPi2,
            ..QueueSpec::default()
        },
        hops: Vec::new(),
    }
}

fn place(mbps: f64, rtt_ms: f64) -> String {
    format!("{mbps} Mbit/s, {rtt_ms} ms")
}

/// Prague has the link for itself: all packets are in the L queue.
pub fn delays(extent: &Extent) -> Figure {
    let name = |&(mbps, rtt)| format!("Prague alone, {}", place(mbps, rtt));
    let grid = grid(extent);
    let names: Vec<String> = grid.iter().map(name).collect();
    let case = |(&(mbps, rtt), name): (&(f64, f64), &String)| {
        let flows = vec![flow("prague", "prague")];
        network(mbps, rtt).case(name.clone(), DURATION_S, flows)
    };
    let over = |read: fn(&RunResult) -> f64| {
        let names = names.clone();
        move |s: &Sample| mean(names.iter().map(|case| s.mean(case, read)))
    };
    let drawn = names.clone();
    let places: Vec<String> = grid.iter().map(|&(mbps, rtt)| place(mbps, rtt)).collect();
    Figure {
        id: "dualq-delay",
        title: "Delay in the L queue",
        claim: "\"Queue delay remained both low (median 100–300 µs) and consistent (99th percentile below 2 ms even under highly dynamic \
                workloads), without compromising other metrics (zero congestion loss and close to full utilization)\" (abstract).",
        method: "A Prague flow alone over DualPI2 with Linux's defaults, at each rate and round trip; means over them.",
        cases: grid.iter().zip(&names).map(case).collect(),
        quantities: vec![
            Quantity::new(
                "median",
                "ms",
                Claim::at_most(0.3, 1.0),
                over(|run| run.link.queue_delay_ms.p50),
            )
            .because(
                "alone, nothing signals but the step at 1 ms, up to which the flow fills the queue; the paper's medians are of loads beside \
                 which the coupling signals, as in the next figure",
            ),
            Quantity::new(
                "99th percentile",
                "ms",
                Claim::at_most(2.0, 15.0),
                over(|run| run.link.queue_delay_ms.p99),
            ),
            Quantity::new(
                "use of the link",
                "%",
                Claim::at_least(95.0, 50.0),
                over(|run| 100.0 * run.link.utilisation),
            ),
            Quantity::new(
                "packets dropped",
                "packets",
                Claim::at_most(0.0, 100.0),
                over(|run| run.link.drops as f64),
            ),
        ],
        draw: Box::new(move |sample| {
            vec![bars(
                "Delay in the L queue",
                "ms",
                &places,
                &["median", "99th percentile"],
                |nth, which| {
                    sample.mean(&drawn[nth], |run| match which {
                        0 => run.link.queue_delay_ms.p50,
                        _ => run.link.queue_delay_ms.p99,
                    })
                },
            )]
        }),
    }
}

/// Prague and CUBIC beside each other.
pub fn rates(extent: &Extent) -> Figure {
    let grid = grid(extent);
    let name = |&(mbps, rtt): &(f64, f64)| format!("Prague and CUBIC, {}", place(mbps, rtt));
    let cases: Vec<Case> = grid
        .iter()
        .map(|at| {
            let flows = vec![flow("prague", "prague"), flow("cubic", "cubic")];
            network(at.0, at.1).case(name(at), DURATION_S, flows)
        })
        .collect();
    let paths: Vec<(String, f64)> = grid.iter().map(|at| (name(at), at.1)).collect();
    let [one, two, three, four] = [paths.clone(), paths.clone(), paths.clone(), paths];
    let places: Vec<String> = grid.iter().map(|&(mbps, rtt)| place(mbps, rtt)).collect();
    Figure {
        id: "dualq-rates",
        title: "A Prague flow beside a CUBIC flow",
        claim: "With a coupling of 2 \"Scalable flows [have] the same rate as Classic\" of the same round trip (RFC 9332 §2.1), and the \
                Classic queue is kept to its target, 15 ms (§A.1).",
        method: "Both start at once. The coupling takes the flows' round trips for equal; CUBIC's includes the C queue's 15 ms. Delays are \
                 what the senders' mean smoothed round trips have above the base; more than half of all packets are Prague's, so \
                 that the median is one of the L queue's. Geometric mean of the ratios.",
        cases,
        quantities: vec![
            Quantity::new(
                "Prague's goodput ÷ CUBIC's",
                "",
                Claim::same(1.0, 0.2),
                move |s| geometric_mean(one.iter().map(|(case, _)| ratio(s, case))),
            )
            .because(
                "CUBIC's round trip has the C queue's 15 ms in it; and Prague, which as in Linux may reduce its window only where a round \
                 trip ends and 25 ms have passed, does so each 31 ms at 10 ms and each 40 ms at 20 ms, where the ratio is 2.2",
            ),
            Quantity::new(
                "CUBIC's queue",
                "ms",
                Claim::Near {
                    paper: TARGET_MS,
                    within: 0.2 * TARGET_MS,
                    neutral: 0.0,
                },
                move |s| mean(two.iter().map(|(case, rtt)| wait(s, case, "cubic", *rtt))),
            ),
            Quantity::new(
                "Prague's queue",
                "ms",
                Claim::at_most(1.0, TARGET_MS),
                move |s| mean(three.iter().map(|(case, rtt)| wait(s, case, "prague", *rtt))),
            ),
            Quantity::new(
                "median of what all packets wait",
                "ms",
                Claim::at_most(0.3, 1.0),
                move |s| {
                    let median = |case: &str| s.mean(case, |run| run.link.queue_delay_ms.p50);
                    mean(four.iter().map(|(case, _)| median(case)))
                },
            ),
        ],
        draw: Box::new(move |sample| {
            let flows = ["prague", "cubic"];
            vec![bars("Goodput", "Mbit/s", &places, &flows, |nth, which| {
                of_flow(sample, &name(&grid[nth]), flows[which])[0]
            })]
        }),
    }
}

fn ratio(sample: &Sample, case: &str) -> f64 {
    let [prague, cubic] = ["prague", "cubic"].map(|name| of_flow(sample, case, name)[0]);
    prague / cubic
}

/// Mean queueing delay of that flow's packets in ms, from its round trip.
fn wait(sample: &Sample, case: &str, flow: &str, rtt_ms: f64) -> f64 {
    of_flow(sample, case, flow)[1] - rtt_ms
}
