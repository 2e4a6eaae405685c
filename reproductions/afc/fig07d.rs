//! Fig. 7(d) and (e): sensitivity to the network's rate.

use super::fig07c::sweep;
use super::paths::{BOTH, Path, cases};
use crate::means::{least, most};
use tidegate_scenario::FlowControl;
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// Peaks with a minimum of 3 Mbit/s, and minima with a peak of 6: the average is never below what the application
/// reads.
const PEAKS: [f64; 6] = [4.5, 5.0, 5.5, 6.0, 6.5, 7.0];
const MINIMA: [f64; 6] = [0.5, 1.0, 2.0, 3.0, 4.0, 5.0];

/// The figure of the peak.
pub fn slow() -> Figure {
    let network = |peak| [3.0, peak, peak];
    figure(
        "fig-7d",
        "Peak network rates",
        "peak network rate, Mbit/s",
        &PEAKS,
        PEAKS.map(|peak| Path::scenario(4).network(&network(peak))),
    )
}

/// The figure of the minimum.
pub fn fast() -> Figure {
    let network = |minimum| [minimum, 6.0, 6.0];
    figure(
        "fig-7e",
        "Minimum network rates",
        "minimum network rate, Mbit/s",
        &MINIMA,
        MINIMA.map(|minimum| Path::scenario(4).network(&network(minimum))),
    )
}

fn figure(
    id: &'static str,
    title: &'static str,
    x: &'static str,
    at: &'static [f64],
    paths: [Path; 6],
) -> Figure {
    let fall = |by: FlowControl| {
        let paths = paths.clone().map(|path| path.with(by));
        move |sample: &Sample| {
            let goodputs = || paths.iter().map(|path| path.goodput(sample));
            100.0 * (1.0 - least(goodputs()) / most(goodputs()))
        }
    };
    let [classic, adaptive] = BOTH.map(fall);
    let gains = paths.clone();
    let quantities = vec![
        Quantity::new(
            "classic falls by, over the sweep",
            "%",
            Claim::Near {
                paper: 50.0,
                within: 15.0,
                neutral: 0.0,
            },
            classic,
        )
        .because(LESS),
        Quantity::new(
            "AFC falls by, over the sweep",
            "%",
            Claim::at_most(25.0, 50.0),
            adaptive,
        )
        .because(super::fig06a::FOUR),
        Quantity::new(
            "gain, least over the sweep",
            "%",
            Claim::at_least(0.0, -20.0),
            move |sample| least(gains.iter().map(|path| super::paths::gain(sample, path))),
        ),
    ];
    Figure {
        id,
        title,
        claim: "Classic flow control falls by up to 50 % over 2.5 Mbit/s, AFC by 25 % at most over 4.",
        method: "Scenario 4; the ideal is 4 Mbit/s throughout. The paper does not print which rates were tried.",
        cases: cases(&paths),
        quantities,
        draw: Box::new(move |sample| vec![sweep("Throughput", (x, at), &paths, sample)]),
    }
}

const LESS: &str = "one buffer in three round trips is the least that a reader can get that stops in one of them, and classic flow control is near \
     that at all of these rates: there is nothing to fall from";
