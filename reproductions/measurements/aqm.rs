//! The delay bound of an AQM on links whose rate changes.

use super::buffers::{CURVES, FEW_LOSSES};
use super::links::{Kind, Known, managed};
use super::read::numbers;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{Axis, Curve, Figure as Picture, Mark, Scale};
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

/// The figure.
pub fn figure(extent: &Extent) -> Figure {
    let links: Arc<[Known]> = managed(if extent.quick { 10 } else { 40 }).into();
    let (drawn, kinds) = (links.clone(), links.clone());
    let within = |name: &str, percent: f64, least: f64| {
        let links = links.clone();
        Quantity::new(name, "%", Claim::at_least(least, 50.0), move |sample| {
            let found: Vec<f64> = links.iter().flat_map(|l| off(sample, l)).collect();
            let near = found.iter().filter(|off| off.abs() <= percent);
            100.0 * near.count() as f64 / found.len() as f64
        })
        .because(FEW_LOSSES)
    };
    let mut quantities = vec![
        within("bound within 10 %", 10.0, 100.0),
        within("bound within 20 %", 20.0, 100.0),
    ];
    quantities.push(Quantity::new(
        "told as an AQM",
        "%",
        Claim::at_least(100.0, 50.0),
        move |sample| {
            let of = |link: &Known| numbers(sample, &link.name(), "kind");
            let found: Vec<f64> = kinds.iter().flat_map(of).collect();
            let is = |code: &&f64| Kind::ALL.get(**code as usize) == Some(&Kind::TimeAqm);
            let right = found.iter().filter(|code| !code.is_nan()).filter(is);
            100.0 * right.count() as f64 / found.len() as f64
        },
    ));
    Figure {
        id: "aqm",
        title: "The bound of an AQM on links whose rate changes",
        claim: "800 ms within 10 %.",
        method: "Table 4.1's AQM on generated LTE and HSPA cells of 0.5 to 50 Mbit/s and 20 to 200 ms, drawn at random; \
                 nothing was fitted to them.",
        cases: links.iter().map(|link| link.case(&CURVES)).collect(),
        quantities,
        draw: Box::new(move |sample| vec![picture(sample, &drawn)]),
    }
}

/// Error of the bounds found, in % of the truth; a bound that was not found has the largest possible error.
fn off(sample: &Sample, link: &Known) -> Vec<f64> {
    let sizes = numbers(sample, &link.name(), "size").into_iter();
    let off = sizes.map(|size| 100.0 * (size / link.truth.size - 1.0));
    off.map(|off| if off.is_nan() { f64::INFINITY } else { off })
        .collect()
}

fn picture(sample: &Sample, links: &[Known]) -> Picture {
    let points = links.iter().flat_map(|link| {
        let found = off(sample, link).into_iter();
        found.map(|off| (link.mbps, off)).collect::<Vec<_>>()
    });
    Picture {
        title: "Difference of the bound".into(),
        x: Axis::new("Mbit/s", Scale::Log),
        y: Axis::new("%", Scale::Linear),
        curves: vec![Curve::new("", Pen::nth(0), Mark::Dots, points.collect())],
        size: Picture::HALF,
    }
}
