//! §5.1 and §5.3: fairness of flows that join one after the other, and of flows with different round trips.

use super::paths::{Path, downloads};
use crate::means::mean;
use crate::workloads::download;
use tidegate_report::jain;
use tidegate_scenario::{Direction, Hop, LinkSpec, RateSpec, RunResult, Side, Workload};
use tidegate_study::{Case, Claim, Figure, Quantity, Sample};

/// The senders compared.
const CONTROLS: [&str; 3] = ["copa", "cubic", "bbr"];

/// Flows, each of which begins a second after the one before (§5.1).
const FLOWS: usize = 10;

/// Round trips of flows that share a link, in ms.
const RTTS_MS: [f64; 5] = [20.0, 50.0, 100.0, 150.0, 200.0];

fn fairness(run: &RunResult) -> f64 {
    let goodputs: Vec<f64> = run.flows.iter().map(|f| f.goodput_bps).collect();
    jain(&goodputs).unwrap_or(0.0)
}

fn fair(sample: &Sample, case: &str) -> f64 {
    sample.mean(case, fairness)
}

fn listed(cases: &[(String, String)], title: &str) -> Quantity {
    let (copa, rest) = (cases[0].1.clone(), cases.to_vec());
    let title = title.to_owned();
    Quantity::new(
        "Copa: Jain's index",
        "",
        Claim::at_least(0.9, 0.5),
        move |s| fair(s, &copa),
    )
    .because(SYNCHRONY)
    .listing(move |s| tidegate_study::Listing {
        title: title.clone(),
        heads: [
            "",
            "Jain's index",
            "use of the link, %",
            "queueing delay, mean, ms",
        ]
        .map(str::to_owned)
        .into(),
        rows: rest
            .iter()
            .map(|(control, case)| {
                vec![
                    control.as_str().into(),
                    fair(s, case).into(),
                    s.mean(case, |run| 100.0 * run.link.utilisation).into(),
                    s.mean(case, |run| run.link.queue_delay_ms.mean).into(),
                ]
            })
            .collect(),
    })
}

/// Copa's index minus another sender's, and the ratio of their queues.
fn against(cases: &[(String, String)], other: usize) -> [Quantity; 2] {
    let control = &cases[other].0;
    let pair = || [cases[0].1.clone(), cases[other].1.clone()];
    let [index, queue] = [pair(), pair()];
    let delay = |s: &Sample, case: &str| s.mean(case, |run| run.link.queue_delay_ms.mean);
    [
        Quantity::new(
            format!("Copa's index ÷ {control}'s"),
            "",
            Claim::at_least(1.0, 0.8),
            move |s| fair(s, &index[0]) / fair(s, &index[1]),
        )
        .because(QUEUE),
        Quantity::new(
            format!("Copa's mean queue ÷ {control}'s"),
            "",
            Claim::at_most(0.5, 1.0),
            move |s| delay(s, &queue[0]) / delay(s, &queue[1]),
        ),
    ]
}

/// Flows that come one after the other.
pub fn joining() -> Figure {
    let path = Path::new(100.0, 20.0).buffer(1.0);
    let case = |control: &str| {
        let warmup = FLOWS as f64;
        path.case("ten join", control, downloads(FLOWS, 1.0), [30.0, warmup])
    };
    let cases = CONTROLS.map(case);
    let names = CONTROLS.map(|control| (control.to_owned(), case(control).name));
    let mut quantities = vec![listed(
        &names,
        "Ten flows, the 20 s after the last has come",
    )];
    quantities.extend([1, 2].into_iter().flat_map(|other| against(&names, other)));
    Figure {
        id: "joining",
        title: "Ten flows, one a second (§5.1)",
        claim: "Copa converges to fair shares quickly: it is as fair as CUBIC and fairer than BBR, with a short queue.",
        method: "100 Mbit/s, 20 ms, a buffer of one bandwidth-delay product.",
        cases: cases.into(),
        quantities,
        draw: Box::new(|_| Vec::new()),
    }
}

/// Flows of different round trips.
pub fn round_trips() -> Figure {
    let cases = CONTROLS.map(diverse);
    let names = CONTROLS.map(|control| (control.to_owned(), diverse(control).name));
    let mut quantities = vec![listed(&names, "Five flows of 20 to 200 ms")];
    quantities.extend([1, 2].into_iter().flat_map(|other| against(&names, other)));
    let worst = names[0].1.clone();
    quantities.push(Quantity::new(
        "Copa: least share of a flow, of an equal one",
        "%",
        Claim::at_least(50.0, 0.0),
        move |s| {
            s.mean(&worst, |run| {
                let of = || run.flows.iter().map(|f| f.goodput_bps);
                100.0 * crate::means::least(of()) / mean(of())
            })
        },
    ));
    Figure {
        id: "round-trips",
        title: "Flows of different round trips (§5.3)",
        claim: "Copa is fairer to flows of different round trips than CUBIC and BBR.",
        method: "Five flows of 20, 50, 100, 150 and 200 ms over 100 Mbit/s with a buffer of one bandwidth-delay product of 100 ms, two \
                 minutes of which the first is not counted.",
        cases: cases.into(),
        quantities,
        draw: Box::new(|_| Vec::new()),
    }
}

/// Five flows over a link without propagation delay, each behind a link of its own that adds it.
fn diverse(control: &str) -> Case {
    let path = Path::new(100.0, 100.0).buffer(1.0);
    let mut case = path.case("five round trips", control, Vec::new(), [120.0, 60.0]);
    let scenario = &mut case.scenario;
    scenario.down.delay_ms = 0.0;
    scenario.up.delay_ms = 0.0;
    for rtt_ms in RTTS_MS {
        let [there, back] = ["there", "back"].map(|way| format!("{way} {rtt_ms}"));
        let far = |name: &str, direction| Hop {
            name: name.to_owned(),
            direction,
            side: Side::Server,
            link: LinkSpec::new(RateSpec::ConstantMbps(1000.0), rtt_ms / 2.0),
        };
        scenario.hops.push(far(&there, Direction::Down));
        scenario.hops.push(far(&back, Direction::Up));
        scenario.workloads.push(Workload {
            name: format!("{rtt_ms} ms"),
            links: Some(vec!["down".into(), "up".into(), there, back]),
            ..download()
        });
    }
    case
}

const QUEUE: &str =
    "CUBIC's flows share a queue of 83 ms, which makes their round trips alike; Copa's do not";

const SYNCHRONY: &str = "flows of very different round trips do not see the queue empty at the same time, as the paper says of its analysis \
                         (§3): the longest has half of an equal share";
