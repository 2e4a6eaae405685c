//! Fig. 7(b): sensitivity to the length of a slot.

use super::fig07c::sweep;
use super::paths::{Path, cases, gain, share};
use crate::means::least;
use tidegate_study::{Claim, Figure, Quantity};

/// Length of a slot in round trips.
const PERIODS: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 40.0];

/// Peaks of the read rate: scenario 4's, and one that leaves the network the bottleneck.
const PEAKS: [f64; 2] = [6.0, 8.0];

fn path(peak: f64, period: f64) -> Path {
    Path::scenario(4).reads(&[0.0, peak, peak]).period(period)
}

/// The figure.
pub fn figure() -> Figure {
    let mut quantities = Vec::new();
    for peak in PEAKS {
        quantities.extend([
            Quantity::new(
                format!("peak {peak} Mbit/s: gain with slots of 1 RTT"),
                "%",
                Claim::at_least(100.0, 0.0),
                move |sample| gain(sample, &path(peak, PERIODS[0])),
            ),
            Quantity::new(
                format!("peak {peak} Mbit/s: gain with slots of 40 RTT"),
                "%",
                Claim::Near {
                    paper: 20.0,
                    within: 15.0,
                    neutral: 0.0,
                },
                move |sample| gain(sample, &path(peak, PERIODS[6])),
            )
            .because(LONG),
            Quantity::new(
                format!("peak {peak} Mbit/s: gain, least over all slots"),
                "%",
                Claim::at_least(0.0, -20.0),
                move |sample| least(PERIODS.map(|t| gain(sample, &path(peak, t))).into_iter()),
            ),
            Quantity::new(
                format!("peak {peak} Mbit/s: AFC with slots of 2 RTT ÷ of 1 RTT"),
                "",
                Claim::at_most(0.97, 1.1),
                move |sample| {
                    let [two, one] = [1, 0].map(|n| share(sample, &path(peak, PERIODS[n])));
                    two / one
                },
            )
            .because(DIP),
        ]);
    }
    let all = || {
        PEAKS
            .into_iter()
            .flat_map(|peak| PERIODS.map(|t| path(peak, t)))
    };
    Figure {
        id: "fig-7b",
        title: "Slots of 1 to 40 round trips",
        claim: "A gain of 100 % where rates fluctuate much and of 20 % where they are steady; AFC is always better, and dips at once when \
                the slots grow from 1 RTT to 2.",
        method: "Scenario 4, and the same with a peak read rate of 8 Mbit/s.",
        cases: cases(&all().collect::<Vec<_>>()),
        quantities,
        draw: Box::new(|sample| {
            let picture = |peak: f64| {
                let paths = PERIODS.map(|t| path(peak, t));
                let title = format!("Throughput with a peak of {peak} Mbit/s");
                sweep(&title, ("slot, RTT", &PERIODS), &paths, sample)
            };
            PEAKS.map(picture).into()
        }),
    }
}

const LONG: &str = "a buffer of 256 KB caps classic flow control at 4 Mbit/s also in the 80 round trips in which reader and network go at 6: two slots \
     in three, 2.6 Mbit/s. A gain of 20 % would be more than that";

const DIP: &str = "with slots of 1 RTT more is refused than with those of 2 (60500 segments against 46900), and there is as little to spare as in \
     Fig. 6(a); where the network is the bottleneck nothing is refused at 1 RTT, and it dips";
