//! Fig. 4.4: error of a rate measured over n bursts.

use super::bursts::{CURVES, links};
use tidegate_report::colour::Pen;
use tidegate_report::plot::{Axis, Curve, Figure as Picture, Mark, Scale};
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// The figure.
pub fn figure() -> Figure {
    let link = links().swap_remove(1);
    let name = link.name();
    let at = |n: f64, name: &str| {
        let name = name.to_owned();
        move |sample: &Sample| {
            let curve = sample.curve(&name, "error");
            curve.iter().find(|p| p.0 == n).map_or(f64::NAN, |p| p.1)
        }
    };
    Figure {
        id: "fig-4.4",
        title: "Rate from n bursts",
        claim: "The more bursts, the nearer to the mean; 50 trade accuracy for data best.",
        method: "A steady link of 7.2 Mbit/s, which is what the thesis looked for. Its own had other users and a radio, so its errors are \
                 larger; \"best\" is read as within 10 %.",
        cases: vec![link.case(&CURVES)],
        quantities: vec![
            Quantity::new(
                "error from 50 bursts",
                "%",
                Claim::at_most(10.0, 30.0),
                at(50.0, &name),
            ),
            Quantity::new(
                "error from 2 bursts",
                "%",
                Claim::at_least(1.0, 0.0),
                at(2.0, &name),
            ),
        ],
        draw: Box::new(move |sample| {
            let curve = |nth, label: &str, quantity| {
                Curve::new(
                    label,
                    Pen::nth(nth),
                    Mark::Line,
                    sample.curve(&name, quantity),
                )
            };
            vec![Picture {
                title: "Difference from the mean".into(),
                x: Axis::new("bursts", Scale::Log),
                y: Axis::new("%", Scale::FromZero),
                curves: vec![
                    curve(0, "mean error", "error"),
                    curve(1, "standard deviation", "deviation"),
                ],
                size: Picture::HALF,
            }]
        }),
    }
}
