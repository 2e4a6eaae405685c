//! The figure of every link, and its averages.

use super::links::{FORECASTS, Link, name};
use crate::means::mean;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_scenario::{Direction, SproutForecast};
use tidegate_study::{Claim, Figure, Listing, Quantity, Sample};

/// Tolerance of ours, as a share of the paper's number.
const WITHIN: f64 = 0.2;

/// Averages over the paper's eight directions, for Sprout and Sprout-EWMA: mean use of a link in percent, and mean
/// self-inflicted delay in ms.
const AVERAGES: [[f64; 2]; 2] = [[42.1, 317.0], [79.7, 525.0]];

fn near(paper: f64) -> Claim {
    Claim::Near {
        paper,
        within: WITHIN * paper,
        neutral: 0.0,
    }
}

/// All directions of the links.
fn ways(links: &[Link]) -> impl Iterator<Item = (&Link, Direction)> {
    links
        .iter()
        .flat_map(|link| Direction::ALL.map(|direction| (link, direction)))
}

/// Mean use in percent and mean delay in ms.
fn average(sample: &Sample, links: &[Link], forecast: SproutForecast) -> [f64; 2] {
    let of = |nth: usize| {
        mean(ways(links).map(|(link, direction)| {
            let [kbps, ms] = link.read(sample, forecast, direction, 0.0);
            [100.0 * kbps / link.capacity_kbps(direction), ms][nth]
        }))
    };
    [of(0), of(1)]
}

/// Means over all directions of all links.
pub fn averages(links: &Arc<[Link]>) -> Figure {
    let quantities = FORECASTS
        .into_iter()
        .zip(AVERAGES)
        .flat_map(|(forecast, [used, ms])| {
            let [one, other] = [links.clone(), links.clone()];
            [
                Quantity::new(
                    format!("{}: mean use of a link", name(forecast)),
                    "%",
                    near(used),
                    move |s| average(s, &one, forecast)[0],
                )
                .because(OTHERS),
                Quantity::new(
                    format!("{}: mean self-inflicted delay", name(forecast)),
                    "ms",
                    near(ms),
                    move |s| average(s, &other, forecast)[1],
                )
                .because(OTHERS),
            ]
        });
    let mut quantities: Vec<_> = quantities.collect();
    let listed = links.clone();
    quantities[0] = std::mem::replace(
        &mut quantities[0],
        Quantity::new("", "", Claim::at_least(0.0, 0.0), |_| 0.0),
    )
    .listing(move |s| listing(s, &listed));
    let both = links.clone();
    quantities.push(
        Quantity::new(
            "Sprout-EWMA's throughput ÷ Sprout's, mean over the directions",
            "",
            near(AVERAGES[1][0] / AVERAGES[0][0]),
            move |s| {
                average(s, &both, SproutForecast::Ewma)[0]
                    / average(s, &both, SproutForecast::Cautious)[0]
            },
        )
        .because(OTHERS),
    );
    let drawn = links.clone();
    Figure {
        id: "averages",
        title: "Use of the links and self-inflicted delay, on average",
        claim: "Sprout uses 42 % of a link at a self-inflicted delay of 317 ms, Sprout-EWMA 80 % at 525 ms.",
        method: "The paper's means are over eight directions of four links, two of which (Verizon's LTE) Mahimahi has only in part.",
        cases: cases(links),
        quantities,
        draw: Box::new(move |sample| vec![plane(sample, &drawn)]),
    }
}

fn cases(links: &[Link]) -> Vec<tidegate_study::Case> {
    let both = links
        .iter()
        .flat_map(|link| FORECASTS.map(|forecast| link.case(forecast, 0.0)));
    both.collect()
}

fn listing(sample: &Sample, links: &[Link]) -> Listing {
    let rows = ways(links).flat_map(|(link, direction)| {
        FORECASTS.map(|forecast| {
            let [kbps, ms] = link.read(sample, forecast, direction, 0.0);
            vec![
                link.way(direction).into(),
                name(forecast).into(),
                link.capacity_kbps(direction).into(),
                kbps.into(),
                ms.into(),
            ]
        })
    });
    Listing {
        title: "Every direction".into(),
        heads: [
            "",
            "",
            "carries, kbit/s",
            "throughput, kbit/s",
            "self-inflicted delay, ms",
        ]
        .map(str::to_owned)
        .into(),
        rows: rows.collect(),
    }
}

/// Those of the paper's links that are available, each beside the paper's numbers.
pub fn links(links: &Arc<[Link]>) -> Option<Figure> {
    let mut quantities = Vec::new();
    for (link, printed) in links.iter().filter_map(|link| Some((link, link.printed?))) {
        for (direction, printed) in Direction::ALL.into_iter().zip(printed) {
            for (forecast, [kbps, ms]) in FORECASTS.into_iter().zip(printed) {
                let whose = format!("{}, {}", link.way(direction), name(forecast));
                let [one, other] = [link.clone(), link.clone()];
                quantities.push(
                    Quantity::new(
                        format!("{whose}: throughput"),
                        "kbit/s",
                        near(kbps),
                        move |s| one.read(s, forecast, direction, 0.0)[0],
                    )
                    .because(RECORDING),
                );
                quantities.push(
                    Quantity::new(
                        format!("{whose}: self-inflicted delay"),
                        "ms",
                        near(ms),
                        move |s| other.read(s, forecast, direction, 0.0)[1],
                    )
                    .because(RECORDING),
                );
            }
        }
    }
    (!quantities.is_empty()).then(|| Figure {
        id: "links",
        title: "Throughput and self-inflicted delay over the paper's links",
        claim: "What the paper's figure shows of each link and direction.",
        method: "The numbers are those of the figure's own source. The recordings are Mahimahi's of the same drives, run from their start \
                 to the end of the shorter direction.",
        cases: cases(links),
        quantities,
        draw: Box::new(|_| Vec::new()),
    })
}

const OTHERS: &str = "other links: two of the paper's eight directions are missing, or, without recordings, all of them";

const RECORDING: &str = "the recordings that Mahimahi has are not cut as the paper's runs were, and the authors' program, whose forecasts \
                         travel in the packets of the other direction, counts a packet as 1400 bytes where it arrives and as 1440 where \
                         it is sent";

/// Every direction: throughput over delay.
fn plane(sample: &Sample, links: &[Link]) -> plot::Figure {
    let dots = FORECASTS.into_iter().enumerate().map(|(nth, forecast)| {
        let points = ways(links).map(|(link, direction)| {
            let [kbps, ms] = link.read(sample, forecast, direction, 0.0);
            (ms.max(1.0), 100.0 * kbps / link.capacity_kbps(direction))
        });
        Curve::new(name(forecast), Pen::nth(nth), Mark::Dots, points.collect())
    });
    plot::Figure {
        title: "Use of the link over self-inflicted delay: left and high is good".into(),
        x: Axis::new("self-inflicted delay, ms", Scale::Log),
        y: Axis::new("use of the link, %", Scale::FromZero),
        curves: dots.collect(),
        size: plot::Figure::HALF,
    }
}
