//! §3: the queue that Copa keeps when it is alone.

use super::paths::{Path, downloads};
use crate::means::mean;
use crate::pictures::history;
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// 1/δ of a flow.
const INVERSE_DELTA: f64 = 2.0;

/// The equilibrium's queue in 1/δ̂: its mean and its maximum.
const MEAN: f64 = 1.25;
const MOST: f64 = 2.5;

/// Round trips of a cycle.
const CYCLE_ROUNDS: f64 = 5.0;

/// Tolerance of ours, as a share of the paper's number.
const WITHIN: f64 = 0.2;

/// Length of a run, and of its warm-up, in seconds.
const SECONDS: [f64; 2] = [60.0, 20.0];

/// A path, and the number of flows on it, which begin 2 s apart.
type Population = (Path, usize);

fn populations() -> [Population; 8] {
    [
        (Path::new(6.0, 50.0), 1),
        (Path::new(12.0, 20.0), 1),
        (Path::new(20.0, 50.0), 1),
        (Path::new(50.0, 40.0), 1),
        (Path::new(100.0, 20.0), 1),
        (Path::new(100.0, 100.0), 1),
        (Path::new(50.0, 40.0), 2),
        (Path::new(100.0, 100.0), 4),
    ]
}

fn name((path, flows): &Population) -> String {
    format!("{}, flows: {flows}", path.name())
}

fn case((path, flows): &Population) -> tidegate_study::Case {
    path.case(
        &format!("flows: {flows}"),
        "copa",
        downloads(*flows, 2.0),
        SECONDS,
    )
}

/// Packets in the queue: what `read` returns from the delays, in packet times.
fn packets(
    sample: &Sample,
    population: &Population,
    read: fn(&tidegate_scenario::Quantiles) -> f64,
) -> f64 {
    let ms = sample.mean(&case(population).name, |run| read(&run.link.queue_delay_ms));
    ms / population.0.packet_ms()
}

fn near(paper: f64) -> Claim {
    Claim::Near {
        paper,
        within: WITHIN * paper,
        neutral: 0.0,
    }
}

/// The number of packets in the queue.
pub fn equilibrium() -> Figure {
    let quantities = populations().into_iter().flat_map(|population| {
        let name = name(&population);
        let inverse = INVERSE_DELTA * population.1 as f64;
        let [mean, most, used] = [population.clone(), population.clone(), population];
        [
            Quantity::new(
                format!("{name}: packets that wait, mean"),
                "packets",
                near(MEAN * inverse),
                move |s| packets(s, &mean, |q| q.mean),
            )
            .because(BETWEEN),
            Quantity::new(
                format!("{name}: packets that wait, 95th percentile"),
                "packets",
                near(MOST * inverse),
                move |s| packets(s, &most, |q| q.p95),
            )
            .because(BETWEEN),
            Quantity::new(
                format!("{name}: use of the link"),
                "%",
                Claim::at_least(95.0, 50.0),
                move |s| s.mean(&case(&used).name, |run| 100.0 * run.link.utilisation),
            ),
        ]
    });
    Figure {
        id: "equilibrium",
        title: "The queue of Copa alone (§3)",
        claim: "The queue oscillates between 0 and 2.5/δ̂ packets, with 1.25/δ̂ on average, δ̂ being the inverse of the sum of all 1/δ.",
        method: "Constant links with a buffer that is never full, flows that begin 2 s apart, a minute of which the first 20 s are not \
                 counted.",
        cases: populations().iter().map(case).collect(),
        quantities: quantities.collect(),
        draw: Box::new(|_| Vec::new()),
    }
}

const BETWEEN: &str = "up to 20 Mbit/s two packets leave together; beyond that our TCP, as Linux does, lets a millisecond's worth of them leave \
                       without a gap, four at 50 Mbit/s and eight at 100, which wait for one another. Over 100 Mbit/s and 100 ms, \
                       800 packets, velocity leads past the target by hundreds of packets in the round trip and a half until that is \
                       seen, and back again: the analysis has v = 1";

/// The period of the queue's cycle.
pub fn cycle() -> Figure {
    let path = Path::new(12.0, 400.0);
    let case = || {
        let mut case = path.case("one cycle", "copa", downloads(1, 0.0), [120.0, 60.0]);
        case.curves = vec!["queue_delay_ms"];
        case
    };
    let (name, drawn) = (case().name, case().name);
    let round_s = path.rtt_ms / 1e3;
    Figure {
        id: "cycle",
        title: "How often the queue is empty (§3)",
        claim: "The queue goes from empty to full and back every five round trips.",
        method: "A round trip of 400 ms, of which the curve's steps of 100 ms are a quarter. A cycle begins where the queue rises above \
                 its mean.",
        cases: vec![case()],
        quantities: vec![
            Quantity::new(
                "round trips of a cycle",
                "RTT",
                near(CYCLE_ROUNDS),
                move |s| {
                    let curves = s.curves(&name, "queue_delay_ms");
                    mean(curves.map(|curve| cycle_s(&curve))) / round_s
                },
            )
            .because(BETWEEN),
        ],
        draw: Box::new(move |sample| {
            let cases = [("Copa", drawn.clone())];
            vec![history(
                sample,
                "The queue of one flow",
                "queue_delay_ms",
                "ms",
                &cases,
            )]
        }),
    }
}

/// Mean time between rises above the mean, after the first minute.
fn cycle_s(curve: &[(f64, f64)]) -> f64 {
    let settled: Vec<_> = curve.iter().filter(|p| p.0 > 60.0).collect();
    let middle = mean(settled.iter().map(|p| p.1));
    let rises = settled
        .windows(2)
        .filter(|w| w[0].1 <= middle && w[1].1 > middle);
    let times: Vec<f64> = rises.map(|w| w[1].0).collect();
    match times[..] {
        [first, .., last] => (last - first) / (times.len() - 1) as f64,
        _ => f64::NAN,
    }
}
