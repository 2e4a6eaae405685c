//! Fig. 7(a): sensitivity to the round trip.

use super::fig07c::sweep;
use super::paths::{Path, cases, gain, share};
use crate::means::{least, most};
use tidegate_report::plot::{self, Axis, Scale};
use tidegate_study::{Claim, Figure, Quantity};

/// Round trips, in seconds.
const RTTS_S: [f64; 7] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0];

/// The figure.
pub fn figure() -> Figure {
    let paths: Vec<Path> = RTTS_S
        .map(|rtt| Path::scenario(2).rtt(rtt).perceived_buffer())
        .into();
    let all = || paths.clone();
    let [low, high, gains] = [all(), all(), all()];
    let quantities = vec![
        Quantity::new(
            "AFC in percent of the ideal, least over the RTTs",
            "%",
            Claim::at_least(83.0, 50.0),
            move |sample| least(low.iter().map(|path| share(sample, path))),
        ),
        Quantity::new(
            "the same, most",
            "%",
            Claim::at_least(96.0, 50.0),
            move |sample| most(high.iter().map(|path| share(sample, path))),
        ),
        Quantity::new(
            "gain, least over the RTTs",
            "%",
            Claim::at_least(100.0, 0.0),
            move |sample| least(gains.iter().map(|path| gain(sample, path))),
        ),
    ];
    Figure {
        id: "fig-7a",
        title: "Round trips from 10 ms to 1 s",
        claim: "More than 100 % over default TCP for all values, 83 to 96 % of the ideal.",
        method: "Scenario 2, a buffer of min(NW, AR) × RTT: 3.5 segments at 10 ms.",
        cases: cases(&paths),
        quantities,
        draw: Box::new(move |sample| {
            let x = Axis::new("RTT, s", Scale::Log);
            let picture = sweep("Throughput", ("", &RTTS_S), &paths, sample);
            vec![plot::Figure { x, ..picture }]
        }),
    }
}
