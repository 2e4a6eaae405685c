//! Fig. 4.16: one-way delays beside an upload that fills its buffer, with unsynchronised clocks.

use super::links::{AHEAD_S, Carries, DRIFT_PPM, Kind, Known, Truth};
use super::read::number;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{Axis, Curve, Figure as Picture, Mark, Scale};
use tidegate_study::{Claim, Figure, Quantity};

/// The figure.
pub fn figure() -> Figure {
    // 64 KB at 50 kbit/s would take 10 s.
    let phone = Known {
        test: "both ways",
        truth: Truth {
            name: "64 KB",
            size: 64e3,
            kind: Kind::BytesTail,
        },
        carries: Carries::Smoothly,
        mbps: 0.1,
        rtt_ms: 60.0,
    };
    let name = phone.name();
    let near = |what: &str, unit, quantity: &'static str, paper: f64, within: f64| {
        let name = name.clone();
        let claim = Claim::Near {
            paper,
            within,
            neutral: 0.0,
        };
        Quantity::new(what, unit, claim, move |sample| {
            number(sample, &name, quantity)
        })
    };
    let (ratio, error, shown) = (name.clone(), name.clone(), name.clone());
    Figure {
        id: "fig-4.16",
        title: "One-way delays beside an upload",
        claim: "The uplink's one-way delay is up to two orders of magnitude above the downlink's.",
        method: "An uplink of 100 kbit/s with 64 KB behind it; the downlink carries 1 of its 20 Mbit/s. Propagation takes the same both \
                 ways, which is what the prober assumes; what a question takes at the uplink's rate it knows.",
        cases: vec![phone.case(&["error_ms", "skew_ppm", "ahead_s", "ratio", "up_s", "down_s"])],
        quantities: vec![
            Quantity::new(
                "largest delay, uplink ÷ downlink",
                "",
                Claim::at_least(100.0, 1.0),
                move |sample| number(sample, &ratio, "ratio"),
            ),
            Quantity::new(
                "one-way delay, furthest from the truth",
                "ms",
                Claim::at_most(2.0, 20.0),
                move |sample| number(sample, &error, "error_ms"),
            ),
            near("clock's drift", "ppm", "skew_ppm", DRIFT_PPM, 5.0),
            near(
                "clock ahead, in the middle",
                "s",
                "ahead_s",
                AHEAD_S as f64,
                0.01,
            ),
        ],
        draw: Box::new(move |sample| {
            let curve = |nth, label: &str, quantity| {
                Curve::new(
                    label,
                    Pen::nth(nth),
                    Mark::Line,
                    sample.curve(&shown, quantity),
                )
            };
            vec![Picture {
                title: "One-way delays".into(),
                x: Axis::new("time, s", Scale::FromZero),
                y: Axis::new("s", Scale::Log),
                curves: vec![curve(0, "uplink", "up_s"), curve(1, "downlink", "down_s")],
                size: Picture::STRIP,
            }]
        }),
    }
}
