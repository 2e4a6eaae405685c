//! Fig. 4.16: a download's RTT beside an upload, as two one-way delays.

use super::carriers::{self, DELAY_MS};
use super::experiments::{Experiment, Steered, repetitions};
use super::sets::{Set, cases};
use crate::means::most;
use crate::pictures::cumulative;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_scenario::LinkResult;
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

/// The figure.
pub fn figure(extent: &Extent) -> Figure {
    let places = carriers::A.places(repetitions(extent));
    let both = Set::new(&places, |place| {
        Experiment::both(place, "cubic", Steered::Untouched, extent).curves(&[
            "goodput_bps",
            "queue_delay_ms",
            "up_queue_delay_ms",
        ])
    });
    let slowest = both.names().next().expect("a place");
    let sets = both.clone();
    Figure {
        id: "fig-4.16",
        title: "The two one-way delays of a download beside an upload",
        claim: "The uplink's one-way delay is up to two orders of magnitude larger than the downlink's; 64 KB at 50 kbit/s \
                take around 10 seconds.",
        method: "The links' own queueing delays, and the way itself. The picture over time is of the slowest uplink.",
        cases: cases([&both]),
        quantities: vec![
            Quantity::new(
                "median one-way delay, uplink ÷ downlink, largest",
                "",
                Claim::at_least(100.0, 1.0),
                {
                    let both = both.clone();
                    move |sample| most(asymmetries(&both, sample).into_iter())
                },
            ),
            Quantity::new(
                "one-way delay of the slowest uplink, largest",
                "s",
                Claim::Near {
                    paper: 10.0,
                    within: 2.0,
                    neutral: 0.0,
                },
                {
                    let slowest = slowest.clone();
                    move |sample| {
                        sample.mean(&slowest, |run| {
                            (run.uplink.queue_delay_ms.max + DELAY_MS) / 1e3
                        })
                    }
                },
            ),
        ],
        draw: Box::new(move |sample| {
            let delays = |read: fn(&tidegate_scenario::RunResult) -> &LinkResult| {
                sets.all(sample, |run| one_way_s(read(run)))
            };
            vec![
                over_time(sample, &slowest),
                cumulative(
                    "Median one-way delay",
                    Axis::new("s", Scale::Log),
                    vec![
                        ("uplink".into(), delays(|run| &run.uplink)),
                        ("downlink".into(), delays(|run| &run.link)),
                    ],
                ),
            ]
        }),
    }
}

/// The median, in seconds.
fn one_way_s(link: &LinkResult) -> f64 {
    (link.queue_delay_ms.p50 + DELAY_MS) / 1e3
}

/// Uplink ÷ downlink.
fn asymmetries(both: &Set, sample: &Sample) -> Vec<f64> {
    both.all(sample, |run| one_way_s(&run.uplink) / one_way_s(&run.link))
}

fn over_time(sample: &Sample, case: &str) -> plot::Figure {
    let curve = |nth, label, quantity| {
        let queue = sample.curve(case, quantity).into_iter();
        let one_way = queue.map(|(t, ms)| (t, (ms + DELAY_MS) / 1e3));
        Curve::new(label, Pen::nth(nth), Mark::Line, one_way.collect())
    };
    plot::Figure {
        title: "One-way delays over the slowest uplink".into(),
        x: Axis::new("time, s", Scale::FromZero),
        y: Axis::new("s", Scale::Log),
        curves: vec![
            curve(0, "uplink", "up_queue_delay_ms"),
            curve(1, "downlink", "queue_delay_ms"),
        ],
        size: plot::Figure::STRIP,
    }
}
