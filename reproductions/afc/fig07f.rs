//! Fig. 7(f): sensitivity to the pattern of stops.

use super::paths::{BOTH, Path, cases, gain, label};
use crate::means::{least, most};
use crate::pictures::bars;
use tidegate_scenario::FlowControl;
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// Numbers of slots without reading, and with reading.
const IDLE: [usize; 2] = [1, 2];
const READING: [usize; 4] = [1, 2, 3, 4];

fn path(idle: usize, reading: usize) -> Path {
    let slots = [vec![0.0; idle], vec![6.0; reading]].concat();
    Path::scenario(2).reads(&slots).perceived_buffer()
}

fn patterns() -> Vec<(usize, usize)> {
    let of = |idle| READING.map(|reading| (idle, reading));
    IDLE.into_iter().flat_map(of).collect()
}

/// The figure.
pub fn figure() -> Figure {
    let gains = |sample: &Sample| -> Vec<f64> {
        let longer = patterns().into_iter().filter(|pattern| pattern.1 > 1);
        longer.map(|(i, r)| gain(sample, &path(i, r))).collect()
    };
    let mut quantities: Vec<Quantity> = IDLE
        .map(|idle| {
            let claim = Claim::same(0.0, 10.0);
            Quantity::new(
                format!("{idle} idle, 1 reading: gain"),
                "%",
                claim,
                move |sample| gain(sample, &path(idle, 1)),
            )
            .because(ONE)
        })
        .into();
    quantities.extend([
        Quantity::new(
            "2 and more reading: gain, least",
            "%",
            Claim::at_least(63.0, 0.0),
            move |sample| least(gains(sample).into_iter()),
        ),
        Quantity::new(
            "2 and more reading: gain, most",
            "%",
            Claim::at_least(150.0, 0.0),
            move |sample| most(gains(sample).into_iter()),
        ),
        Quantity::new(
            "1 idle: gain with 4 reading ÷ with 2",
            "",
            Claim::at_most(0.97, 1.1),
            |sample| gain(sample, &path(1, 4)) / gain(sample, &path(1, 2)),
        ),
    ]);
    let paths: Vec<Path> = patterns().iter().map(|&(i, r)| path(i, r)).collect();
    Figure {
        id: "fig-7f",
        title: "One or two idle slots, one to four reading ones",
        claim: "At least 63 % in all patterns and up to 150 %, less the more slots are read in; nothing where one reading slot is followed by \
                idling, which is limited by the buffer.",
        method: "6 Mbit/s over a network of 15, a buffer of AAR × RTT.",
        cases: cases(&paths),
        quantities,
        draw: Box::new(move |sample| {
            let groups: Vec<String> = patterns()
                .iter()
                .map(|(i, r)| format!("{i} idle, {r} reading"))
                .collect();
            let series = [FlowControl::Classic, FlowControl::Adaptive].map(label);
            let value = |n: usize, s: usize| paths[n].clone().with(BOTH[s]).goodput(sample);
            vec![bars("Throughput", "Mbit/s", &groups, &series, value)]
        }),
    }
}

const ONE: &str = "the paper's sender hears of the returning reader when its only slot is half over, and what it sends comes too late. Ours sends again \
     what was refused a round trip ago, before it hears of anything, and that comes in time";
