//! Two things that the paper leaves open: the phase between the profiles of reader and network, and the queue in front
//! of the link.

use super::fig06a::FOUR;
use super::paths::{BOTH, Path, cases, label};
use crate::means::{least, most};
use crate::pictures::lines;
use tidegate_scenario::FlowControl;
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// Starts of the network's profile, in slots after the connection's.
const POSITIONS: [f64; 12] = [
    0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.25, 2.5, 2.75,
];

/// Scenarios whose network varies.
const VARYING: [usize; 3] = [3, 4, 5];

fn all(scenario: usize, by: FlowControl) -> [Path; 12] {
    POSITIONS.map(|at| Path::scenario(scenario).position(at).with(by))
}

fn shares(sample: &Sample, scenario: usize, by: FlowControl) -> impl Iterator<Item = f64> {
    let share = |path: Path| 100.0 * path.goodput(sample) / path.ideal();
    all(scenario, by).map(share).into_iter()
}

/// The figure.
pub fn figure() -> Figure {
    let mut quantities = Vec::new();
    for scenario in VARYING {
        quantities.extend([
            Quantity::new(
                format!(
                    "scenario {scenario}: classic at its best position, in percent of the ideal"
                ),
                "%",
                Claim::at_most(60.0, 100.0),
                move |sample| most(shares(sample, scenario, FlowControl::Classic)),
            )
            .because(BEST),
            Quantity::new(
                format!("scenario {scenario}: AFC at its best position"),
                "%",
                Claim::at_least(85.0, 50.0),
                move |sample| most(shares(sample, scenario, FlowControl::Adaptive)),
            ),
            Quantity::new(
                format!("scenario {scenario}: AFC at its worst position"),
                "%",
                Claim::at_least(85.0, 20.0),
                move |sample| least(shares(sample, scenario, FlowControl::Adaptive)),
            )
            .because(if scenario == 4 { FOUR } else { WORST }),
            Quantity::new(
                format!("scenario {scenario}: gain at the position where it is least"),
                "%",
                Claim::at_least(if scenario == 5 { 50.0 } else { 100.0 }, 0.0),
                move |sample| {
                    let classic = shares(sample, scenario, FlowControl::Classic);
                    let pairs = classic.zip(shares(sample, scenario, FlowControl::Adaptive));
                    100.0 * (least(pairs.map(|(classic, adaptive)| adaptive / classic)) - 1.0)
                },
            )
            .because(BEST),
        ]);
    }
    let paths = VARYING.map(|scenario| all(scenario, FlowControl::Classic));
    Figure {
        id: "positions",
        title: "How the profiles lie to each other",
        claim: "The paper does not say. Its numbers are those of the figures above.",
        method: "The network's profile begins 0 to 2.75 slots after the connection.",
        cases: cases(paths.iter().flatten()),
        quantities,
        draw: Box::new(|sample| {
            let series = BOTH.map(label);
            let picture = |scenario: usize| {
                let value = |n: usize, s: usize| all(scenario, BOTH[s])[n].goodput(sample);
                let title = format!("Scenario {scenario}");
                let x = ("network's profile begins, slots", POSITIONS.as_slice());
                lines(&title, x, "Mbit/s", &series, value)
            };
            VARYING.map(picture).into()
        }),
    }
}

const BEST: &str = "where the network is slow while the reader idles, the buffer does not fill, and classic flow control has little to lose";

const WORST: &str = "where the network is fast while the reader idles and slow when it reads, what the fast slots carry finds no room";
