//! §3.1.3 and §3.1.4: fairness and equilibrium of many flows; §4.1: a bottleneck that is no ABC router.

use super::links::{self, DELAY_MS};
use crate::means::{least, mean};
use crate::workloads::{bulk, download};
use std::sync::Arc;
use tidegate_report::jain;
use tidegate_scenario::{
    Direction, Law, LinkSpec, QueuePolicy, QueueSpec, RateSpec, Run, RunResult, Workload,
};
use tidegate_study::{Case, Claim, Extent, Figure, Listing, Quantity, Sample};

/// The paper's link.
const MBPS: f64 = 24.0;
const PACKET_BITS: f64 = 12_000.0;

/// Length of a run in seconds, and when counting begins.
const SECONDS: [f64; 2] = [80.0, 20.0];

/// η, δ and d_t in seconds.
const ETA: f64 = 0.98;
const DELTA_S: f64 = 0.133;
const THRESHOLD_S: f64 = 0.05;

fn counts(extent: &Extent) -> Arc<[u64]> {
    match extent.quick {
        true => [2, 32].into(),
        false => [2, 4, 8, 16, 32].into(),
    }
}

fn link(policy: QueuePolicy) -> LinkSpec {
    LinkSpec {
        queue: QueueSpec {
            packets: Some(1000),
            policy,
            ..QueueSpec::default()
        },
        ..LinkSpec::new(RateSpec::ConstantMbps(MBPS), DELAY_MS)
    }
}

fn run(congestion_control: &str) -> Run {
    Run {
        congestion_control: Some(congestion_control.into()),
        ..Run::new(congestion_control, Law::None)
    }
}

fn case_name(flows: u64) -> String {
    format!("{flows} flows of ABC")
}

fn case(&flows: &u64) -> Case {
    let workloads = (1..=flows).map(|nth| bulk(&format!("flow {nth}"), Direction::Down, None, 1));
    let down = link(QueuePolicy::Abc);
    links::case(
        case_name(flows),
        SECONDS,
        down,
        run("abc"),
        workloads.collect(),
    )
}

fn fair(run: &RunResult) -> f64 {
    let goodputs: Vec<f64> = run.flows.iter().map(|flow| flow.goodput_bps).collect();
    jain(&goodputs).unwrap_or(0.0)
}

/// Jain's index of 2 to 32 flows.
pub fn fairness(extent: &Extent) -> Figure {
    let flows = counts(extent);
    let (all, listed) = (flows.clone(), flows.clone());
    let row = |s: &Sample, flows: u64| {
        let case = case_name(flows);
        vec![
            case.as_str().into(),
            s.mean(&case, fair).into(),
            s.mean(&case, |run| 100.0 * run.link.utilisation).into(),
            s.mean(&case, |run| run.link.queue_delay_ms.p50).into(),
        ]
    };
    Figure {
        id: "fairness",
        title: "Flows that share a link",
        claim: "Jain's index is within 5 % of 1 for 2 to 32 flows over 24 Mbit/s.",
        method: "All begin at once and are looked at for a minute, after 20 s.",
        cases: flows.iter().map(case).collect(),
        quantities: vec![
            Quantity::new(
                "least of Jain's indices",
                "",
                Claim::at_least(0.95, 0.5),
                move |s| least(all.iter().map(|&flows| s.mean(&case_name(flows), fair))),
            )
            .listing(move |s| Listing {
                title: "By the number of flows".into(),
                heads: ["", "Jain's index", "use of the link, %", "median delay, ms"]
                    .map(str::to_owned)
                    .into(),
                rows: listed.iter().map(|&flows| row(s, flows)).collect(),
            }),
        ],
        draw: Box::new(|_| Vec::new()),
    }
}

/// The equilibrium of N flows: the rate of arrivals, η·µ − µ/δ·(x − d_t)⁺ + N/RTT, equals µ or, without a queue, stays
/// below it. Returns the queueing delay in ms and the use in percent.
fn settled(flows: u64) -> [f64; 2] {
    let mu = MBPS * 1e6 / PACKET_BITS;
    let additive = |wait_s: f64| flows as f64 / (mu * (2.0 * DELAY_MS / 1e3 + wait_s));
    if ETA + additive(0.0) < 1.0 {
        return [0.0, 100.0 * (ETA + additive(0.0))];
    }
    // The additive increase is a packet a round trip, and the round trip includes the wait: solve for the fixed point.
    let mut wait_s = THRESHOLD_S;
    for _ in 0..100 {
        wait_s = THRESHOLD_S + (DELTA_S * (ETA - 1.0 + additive(wait_s))).max(0.0);
    }
    [1e3 * wait_s, 100.0]
}

/// Equations 1 to 3 in a steady state.
pub fn equilibrium(extent: &Extent) -> Figure {
    let flows = counts(extent);
    let quantities = flows.iter().flat_map(|&flows| {
        let [wait_ms, used] = settled(flows);
        let near = |paper: f64| Claim::Near {
            paper,
            within: 0.2 * paper,
            neutral: 0.0,
        };
        let name = case_name(flows);
        let queue = (wait_ms > 0.0).then(|| {
            let case = name.clone();
            Quantity::new(
                format!("{name}: median delay"),
                "ms",
                near(wait_ms),
                move |s| s.mean(&case, |run| run.link.queue_delay_ms.p50),
            )
        });
        let case = name.clone();
        let use_of_link = Quantity::new(
            format!("{name}: use of the link"),
            "%",
            near(used),
            move |s| s.mean(&case, |run| 100.0 * run.link.utilisation),
        );
        queue.into_iter().chain([use_of_link])
    });
    Figure {
        id: "equilibrium",
        title: "Where the queue settles (§3.1.4)",
        claim: "δ is more than 2/3 of the round trip, so ABC is stable (Theorem 3.1): many flows' additive increase holds a queue at which \
                the target rate leaves room for it, few flows hold none.",
        method: "Over 24 Mbit/s with 100 ms. The column \"paper\" is what its equations 1 to 3 give: x = d_t + δ·(η − 1 + N/(µ·RTT)), or no \
                 queue where that is less than d_t.",
        cases: flows.iter().map(case).collect(),
        quantities: quantities.collect(),
        draw: Box::new(|_| Vec::new()),
    }
}

const ELSEWHERE: &str = "ABC beside CUBIC, drop-tail";

/// §4.1: the other window.
pub fn elsewhere() -> Figure {
    let flow = |name: &str| Workload {
        name: name.into(),
        congestion_control: Some(name.into()),
        ..download()
    };
    let tail = LinkSpec {
        queue: QueueSpec {
            packets: Some(250),
            ..QueueSpec::default()
        },
        ..link(QueuePolicy::DropTail)
    };
    let workloads = ["abc", "cubic"].map(flow).into();
    let case = links::case(ELSEWHERE.into(), SECONDS, tail, run("cubic"), workloads);
    let goodput = |run: &RunResult, name: &str| {
        mean(
            run.flows
                .iter()
                .filter(|flow| flow.name == name)
                .map(|flow| flow.goodput_bps),
        )
    };
    Figure {
        id: "elsewhere",
        title: "A bottleneck that is no ABC router (§4.1)",
        claim: "Where nobody brakes, the second window counts, and ABC is CUBIC.",
        method: "A flow of ABC and one of CUBIC over 24 Mbit/s with 100 ms, drop-tail.",
        cases: vec![case],
        quantities: vec![Quantity::new(
            "ABC's goodput ÷ CUBIC's",
            "",
            Claim::same(1.0, 0.2),
            move |s| s.mean(ELSEWHERE, |run| goodput(run, "abc") / goodput(run, "cubic")),
        )],
        draw: Box::new(|_| Vec::new()),
    }
}
