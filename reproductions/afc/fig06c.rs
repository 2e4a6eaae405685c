//! Fig. 6(c): connections with AFC among themselves.

use super::shared::Dumbbell;
use crate::means::{least, mean};
use tidegate_report::plot::{Axis, Scale};
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// Largest number of connections.
const MOST: usize = 10;

/// The figure.
pub fn figure() -> Figure {
    let all = |flows| Dumbbell {
        flows,
        adaptive: flows,
    };
    let quantities = vec![
        Quantity::new(
            "Jain's index, least over 2 to 10 connections",
            "",
            Claim::at_least(0.98, 0.5),
            move |sample| least((2..=MOST).map(|n| jain(&all(n).with_afc(sample)))),
        ),
        Quantity::new(
            "all together, least over 1 to 10 connections, of 3.33 Mbit/s",
            "%",
            Claim::at_least(85.0, 50.0),
            move |sample| {
                least((1..=MOST).map(|n| 30.0 * all(n).with_afc(sample).iter().sum::<f64>()))
            },
        )
        .because(super::fig06b::TWICE),
    ];
    Figure {
        id: "fig-6c",
        title: "Fairness among connections with AFC",
        claim: "Individual throughputs are heavily clustered around the average.",
        method: "213 KB of buffer for all connections together.",
        cases: (1..=MOST).map(|n| all(n).case()).collect(),
        quantities,
        draw: Box::new(move |sample| {
            let points = |read: fn(&Sample, Dumbbell) -> Vec<f64>| {
                let of = |n| read(sample, all(n)).into_iter().map(move |y| (n as f64, y));
                (1..=MOST).flat_map(of).collect()
            };
            vec![crate::pictures::scatter(
                "Throughput",
                Axis::new("connections", Scale::FromZero),
                Axis::new("Mbit/s", Scale::FromZero),
                vec![
                    ("each".into(), points(|sample, bell| bell.with_afc(sample))),
                    (
                        "mean".into(),
                        points(|sample, bell| vec![mean(bell.with_afc(sample).into_iter())]),
                    ),
                ],
            )]
        }),
    }
}

/// Jain's index.
fn jain(values: &[f64]) -> f64 {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    sum * sum / (values.len() as f64 * squares)
}
