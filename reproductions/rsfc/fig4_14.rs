//! Fig. 4.14: a download beside an upload, against the same alone.

use super::experiments::{median, ratios};
use super::sets::{Flows, Set, cases};
use crate::means::least;
use crate::pictures::scatter;
use std::sync::Arc;
use tidegate_report::plot::{Axis, Scale};
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

/// Why ISP B's downloads suffer here.
pub const SLOW_START: &str = "1 MB is slow start for the most part, and 64 KB add 0.2 to 0.5 s to each of its round trips at \
     1 to 2 Mbit/s. At 8 Mbit/s up the ratio would be 0.88: the thesis's uploads cannot have filled that phone's \
     buffer at ISP B";

/// The figure.
pub fn figure(extent: &Extent) -> Figure {
    let isps: Arc<[Flows; 3]> = Flows::everywhere(extent).into();
    let sets = isps.iter().flat_map(|isp| [&isp.d0, &isp.both]);
    Figure {
        id: "fig-4.14",
        title: "A download beside an upload, against alone",
        claim: "A saturated uplink increases RTTs and reduces the downlink's utilisation: from more than 1000 kbit/s to less \
                than 100. ISP B experiences very little degradation.",
        method: "\"More than 1000 kbit/s\" is of the faster half, \"significantly\" three times as long.",
        cases: cases(sets),
        quantities: quantities(&isps),
        draw: Box::new(move |sample| {
            let pairs = |read: fn(&Set, &Sample) -> Vec<f64>| {
                isps.iter().map(move |isp| {
                    let points = read(&isp.d0, sample)
                        .into_iter()
                        .zip(read(&isp.both, sample));
                    let dots = points.step_by(isp.d0.seeds(sample));
                    (isp.isp.to_owned(), dots.collect())
                })
            };
            let axis = |what: &str| Axis::new(what, Scale::Log);
            vec![
                scatter(
                    "RTT of the download",
                    axis("alone, s"),
                    axis("beside an upload, s"),
                    pairs(|set, sample| set.rtt_s(sample, "download")).collect(),
                ),
                scatter(
                    "Throughput of the download",
                    axis("alone, kbit/s"),
                    axis("beside an upload, kbit/s"),
                    pairs(|set, sample| set.kbps(sample, "download")).collect(),
                ),
            ]
        }),
    }
}

fn quantities(isps: &Arc<[Flows; 3]>) -> Vec<Quantity> {
    let quantity = |name: &str, unit, claim, read: fn(&[Flows; 3], &Sample) -> f64| {
        let isps = isps.clone();
        Quantity::new(name, unit, claim, move |sample| read(&isps, sample))
    };
    vec![
        quantity(
            "ISP A, alone: median download",
            "kbit/s",
            Claim::at_least(1000.0, 100.0),
            |[a, ..], sample| median(a.d0.kbps(sample, "download")),
        ),
        quantity(
            "ISP A, beside an upload: slowest download",
            "kbit/s",
            Claim::at_most(100.0, 1000.0),
            |[a, ..], sample| least(a.both.kbps(sample, "download").into_iter()),
        ),
        quantity(
            "ISP A: RTT beside an upload ÷ alone, median",
            "",
            Claim::at_least(3.0, 1.0),
            |[a, ..], sample| {
                median(ratios(
                    &a.both.rtt_s(sample, "download"),
                    &a.d0.rtt_s(sample, "download"),
                ))
            },
        ),
        quantity(
            "ISP B: throughput beside an upload ÷ alone, median",
            "",
            Claim::at_least(0.9, 0.5),
            |[_, b, _], sample| {
                median(ratios(
                    &b.both.kbps(sample, "download"),
                    &b.d0.kbps(sample, "download"),
                ))
            },
        )
        .because(SLOW_START),
    ]
}
