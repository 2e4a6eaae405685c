//! A path whose delay falls and rises (section 5.2.5).

use super::carriers::{self, DELAY_MS, HTC_DESIRE, Place, device};
use super::experiments::{Experiment, Steered, upload};
use crate::means::mean;
use crate::spans::{Span, seconds};
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_scenario::{DelayStep, LinkSpec, RateSpec};
use tidegate_study::Sample;

/// Length of the upload, and when the delay falls and rises, in seconds.
const DURATION_S: f64 = 60.0;
const FALLS_S: f64 = 5.0;
const RISES_S: f64 = 20.0;

/// "The first 10 s", without the start; while the delay is small; and "after 25 s".
pub const BEFORE: Span = Span(2.0, FALLS_S);
pub const SMALL: Span = Span(8.0, RISES_S);
pub const AFTER: Span = Span(25.0, DURATION_S);

/// ISP A's fastest uplink, in kbit/s: on slower uplinks a smaller part of the RTT is delay.
pub const UPLINK_KBPS: f64 = 400.0;

/// Ratio of the delay before and after to the small delay.
pub const FACTORS: [f64; 2] = [2.0, 4.0];

/// The runs, in words.
pub const METHOD: &str = "The way there and back takes 2 or 4 times as long before 5 s and after 20 s as between. The thesis does not say \
     by how much it changed.";

/// An upload over that path.
pub fn steered(factor: f64, by: Steered) -> Experiment {
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
pub fn throughput(sample: &Sample, case: &str, span: Span) -> f64 {
    let curves = sample.curves(case, "up_delivered_bps");
    mean(curves.map(|curve| mean(span.values(&curve)) / 1e6))
}

/// Throughput and RTT over time, with each delay.
pub fn pictures(sample: &Sample, by: Steered) -> Vec<plot::Figure> {
    let of = |factor: f64| {
        let case = steered(factor, by).name();
        let throughput = seconds(&sample.curve(&case, "up_delivered_bps"));
        let rtt = sample.curve(&case, "rtt_ms");
        [
            strip(factor, "throughput", "Mbit/s", by, throughput),
            strip(factor, "RTT", "ms", by, rtt),
        ]
    };
    FACTORS.into_iter().flat_map(of).collect()
}

fn strip(
    factor: f64,
    what: &str,
    unit: &str,
    by: Steered,
    points: Vec<(f64, f64)>,
) -> plot::Figure {
    plot::Figure {
        title: format!("Delay {factor} times as long: {what}"),
        x: Axis::new("time, s", Scale::FromZero),
        y: Axis::new(unit, Scale::FromZero),
        curves: vec![Curve::new(by.name(), Pen::nth(1), Mark::Line, points)],
        size: plot::Figure::STRIP,
    }
}
