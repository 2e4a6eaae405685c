//! Fig. 9: from good signal to weak and back.

use super::carriers::ATT;
use super::downloads::{DRWA, Download, Phone, gain};
use super::fig16::SWING;
use crate::pictures::history;
use crate::radio::{GOOD_DB, WEAK_DB};
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// There and back, in seconds.
const WALK_S: f64 = 80.0;

/// When the signal is weakest, and when it is still good, in seconds.
const WEAKEST: (f64, f64) = (36.0, 44.0);
const GOOD: (f64, f64) = (5.0, 15.0);

/// The figure.
pub fn figure() -> Figure {
    let [untouched, drwa] = downloads().map(|download| download.name());
    let names = [untouched, drwa];
    let read = |read: fn(&Sample, [&str; 2]) -> f64| {
        let [untouched, drwa] = names.clone();
        move |sample: &Sample| read(sample, [&untouched, &drwa])
    };
    let pictured = names.clone();
    Figure {
        id: "fig-9",
        title: "A walk from good signal to weak and back",
        claim: "With DRWA the window tracks the channel and the RTT stays low; the untouched phone's RTT \
                blows up where the signal is weakest.",
        method: "",
        cases: downloads().map(Download::case).into(),
        quantities: vec![
            Quantity::new(
                "RTT at the weakest point, untouched ÷ DRWA",
                "",
                Claim::at_least(2.0, 1.0),
                read(|sample, [untouched, drwa]| {
                    mean(sample, untouched, "rtt_ms", WEAKEST)
                        / mean(sample, drwa, "rtt_ms", WEAKEST)
                }),
            ),
            Quantity::new(
                "untouched RTT at the weakest point ÷ in good signal",
                "",
                Claim::at_least(3.0, 1.0),
                read(|sample, [untouched, _]| {
                    mean(sample, untouched, "rtt_ms", WEAKEST)
                        / mean(sample, untouched, "rtt_ms", GOOD)
                }),
            ),
            Quantity::new(
                "DRWA's window at the weakest point ÷ in good signal",
                "",
                Claim::at_most(0.5, 1.0),
                read(|sample, [_, drwa]| {
                    mean(sample, drwa, "window_bytes", WEAKEST)
                        / mean(sample, drwa, "window_bytes", GOOD)
                }),
            ),
            Quantity::new(
                "throughput",
                "%",
                Claim::at_least(-4.0, -20.0),
                read(|sample, [untouched, drwa]| gain(sample, drwa, untouched)),
            )
            .because(SWING),
        ],
        draw: Box::new(move |sample| {
            let [untouched, drwa] = pictured.clone();
            let cases = [("untouched", untouched), ("DRWA", drwa)];
            vec![
                history(sample, "Receive window", "window_bytes", "bytes", &cases),
                history(sample, "RTT at the sender", "rtt_ms", "ms", &cases),
            ]
        }),
    }
}

fn downloads() -> [Download; 2] {
    let points = vec![[0.0, GOOD_DB], [WALK_S / 2.0, WEAK_DB], [WALK_S, GOOD_DB]];
    [Phone::Untouched, DRWA].map(|phone| {
        let download = Download::new(&ATT, phone).signal(points.clone());
        download.lasting(WALK_S).curves(&["rtt_ms", "window_bytes"])
    })
}

/// Mean of a curve between two times, over all seeds.
fn mean(sample: &Sample, case: &str, quantity: &'static str, (from, to): (f64, f64)) -> f64 {
    let curves = sample.curves(case, quantity).flatten();
    let values: Vec<f64> = curves
        .filter(|p| p.0 >= from && p.0 < to)
        .map(|p| p.1)
        .collect();
    values.iter().sum::<f64>() / values.len() as f64
}
