//! Figs 5.9 and 5.10: a path whose delay falls and rises.

use super::carriers::{self, DELAY_MS, HTC_DESIRE, Place, device};
use super::experiments::{Experiment, Steered, upload};
use crate::means::mean;
use crate::spans::{Span, seconds};
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_reproduce::{Claim, Extent, Figure, Quantity, Sample};
use tidegate_scenario::{DelayStep, LinkSpec, RateSpec};

/// How long the upload takes, and when the delay falls and rises, in seconds (section 5.2.5).
const DURATION_S: f64 = 60.0;
const FALLS_S: f64 = 5.0;
const RISES_S: f64 = 20.0;

/// "The first 10 s", less the start; while the delay is small; and "after 25 s".
const BEFORE: Span = Span(2.0, FALLS_S);
const SMALL: Span = Span(8.0, RISES_S);
const AFTER: Span = Span(25.0, DURATION_S);

/// ISP A's fastest uplink, in kbit/s: the slower the uplink, the less of its RTT is delay.
const UPLINK_KBPS: f64 = 400.0;

/// How many times its small value the delay has before and after.
const FACTORS: [f64; 2] = [2.0, 4.0];

/// Where the update of RDmin and RTTmin does not come.
const SWINGS: &str = "the one-way delay rises by 168 ms, less than T, which is 216 ms by then, so the law stays in case (i) of section \
     5.1.3: slow and fast alternate within a round trip of 480 ms. Rho is measured over a round trip, anew in each state, so \
     no cycle has two values to compare, nothing is taken for an increase, and RDmin stays";

/// The figure.
pub fn figure(_extent: &Extent) -> Figure {
    let quantities = FACTORS.into_iter().flat_map(|factor| {
        let name = steered(factor, Steered::Rsfc).name();
        let small = name.clone();
        [
            Quantity::new(
                format!("delay {factor} times as long: throughput after the rise ÷ at the start"),
                "",
                Claim::at_least(0.95, 0.5),
                move |sample| throughput(sample, &name, AFTER) / throughput(sample, &name, BEFORE),
            )
            .because(SWINGS),
            Quantity::new(
                format!("delay {factor} times as long: throughput while it is small ÷ uplink"),
                "",
                Claim::at_least(0.95, 0.5),
                move |sample| throughput(sample, &small, SMALL) / (UPLINK_KBPS / 1e3),
            ),
        ]
    });
    Figure {
        id: "fig-5.10",
        title: "An upload while the network's delay falls and rises",
        claim: "The delay falls at 5 s and rises at 20 s. With the update of RDmin and RTTmin the link is used as before; \
                without (Fig. 5.9) it is under-used after 25 s.",
        method: "The variant without the update is not run: the law has no switch for it. The way there and back takes 2 or 4 times as long before 5 s and after 20 s as between. The thesis does not say \
                 by how much it changed.",
        cases: FACTORS
            .into_iter()
            .flat_map(|factor| {
                [Steered::Untouched, Steered::Rsfc].map(|by| steered(factor, by).case())
            })
            .collect(),
        quantities: quantities.collect(),
        draw: Box::new(move |sample| {
            let pictures = FACTORS.into_iter().flat_map(|factor| {
                let case = steered(factor, Steered::Rsfc).name();
                [
                    throughputs(sample, factor, &case),
                    rtts(sample, factor, &case),
                ]
            });
            pictures.collect()
        }),
    }
}

fn steered(factor: f64, by: Steered) -> Experiment {
    let up = LinkSpec {
        delay_steps: vec![
            DelayStep {
                at_s: FALLS_S,
                ms: DELAY_MS,
            },
            DelayStep {
                at_s: RISES_S,
                ms: DELAY_MS * factor,
            },
        ],
        queue: device(HTC_DESIRE),
        ..LinkSpec::new(RateSpec::ConstantMbps(UPLINK_KBPS / 1e3), DELAY_MS * factor)
    };
    let place = Place {
        name: format!("{}, delay {factor} times as long", carriers::A.name),
        uplink_kbps: UPLINK_KBPS,
        down: LinkSpec {
            rate: RateSpec::ConstantMbps(carriers::A.downlink_kbps[0] / 1e3),
            ..up.clone()
        },
        up,
    };
    Experiment::new(&place, "cubic", by, DURATION_S, vec![upload()])
        .curves(&["up_delivered_bps", "rtt_ms"])
}

/// In Mbit/s.
fn throughput(sample: &Sample, case: &str, span: Span) -> f64 {
    let curves = sample.curves(case, "up_delivered_bps");
    mean(curves.map(|curve| mean(span.values(&curve)) / 1e6))
}

fn throughputs(sample: &Sample, factor: f64, case: &str) -> plot::Figure {
    let curve = seconds(&sample.curve(case, "up_delivered_bps"));
    strip(
        format!("Delay {factor} times as long: throughput"),
        "Mbit/s",
        curve,
    )
}

fn rtts(sample: &Sample, factor: f64, case: &str) -> plot::Figure {
    strip(
        format!("Delay {factor} times as long: RTT"),
        "ms",
        sample.curve(case, "rtt_ms"),
    )
}

fn strip(title: String, unit: &str, points: Vec<(f64, f64)>) -> plot::Figure {
    plot::Figure {
        title,
        x: Axis::new("time, s", Scale::FromZero),
        y: Axis::new(unit, Scale::FromZero),
        curves: vec![Curve::new("RSFC", Pen::nth(1), Mark::Line, points)],
        size: plot::Figure::STRIP,
    }
}
