//! Fig. 4.15: the effect of an upload on a download, over the uplink's speed.

use super::carriers;
use super::experiments::{median, ratios};
use super::fig4_14::SLOW_START;
use super::sets::{Flows, Set, cases};
use crate::pictures::scatter;
use std::sync::Arc;
use tidegate_report::plot::{Axis, Scale};
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

/// The figure.
pub fn figure(extent: &Extent) -> Figure {
    let isps: Arc<[Flows; 3]> = Flows::everywhere(extent).into();
    let sets = isps.iter().flat_map(|isp| [&isp.u0, &isp.d0, &isp.both]);
    Figure {
        id: "fig-4.15",
        title: "What an upload does to a download, over the uplink's speed",
        claim: "The download's performance is particularly poor when the upload speeds are low.",
        method: "\"Low\" is ISP A, \"high\" are B and C. The thesis has no number here; those asked for follow from \
                 \"1000 kbit/s to less than 100\" and \"significantly\" where it is slow, and from \"a small amount\" where it is fast.",
        cases: cases(sets),
        quantities: quantities(&isps),
        draw: Box::new(move |sample| {
            let against_uplink = |read: Read| {
                isps.iter().map(move |isp| {
                    let uplinks = isp.uplink_kbps(sample).into_iter();
                    let points = uplinks.zip(degradation(isp, sample, read));
                    let dots = points.step_by(isp.u0.seeds(sample));
                    (isp.isp.to_owned(), dots.collect())
                })
            };
            let picture = |title, read| {
                scatter(
                    title,
                    Axis::new("upload alone, kbit/s", Scale::Log),
                    Axis::new("beside an upload ÷ alone", Scale::Log),
                    against_uplink(read).collect(),
                )
            };
            vec![
                picture("RTT of the download", rtt),
                picture("Throughput of the download", throughput),
            ]
        }),
    }
}

type Read = fn(&Set, &Sample) -> Vec<f64>;

fn rtt(set: &Set, sample: &Sample) -> Vec<f64> {
    set.rtt_s(sample, "download")
}

fn throughput(set: &Set, sample: &Sample) -> Vec<f64> {
    set.kbps(sample, "download")
}

/// Beside an upload ÷ alone, of each experiment.
fn degradation(isp: &Flows, sample: &Sample, read: Read) -> Vec<f64> {
    ratios(&read(&isp.both, sample), &read(&isp.d0, sample))
}

fn quantities(isps: &Arc<[Flows; 3]>) -> Vec<Quantity> {
    let quantity = |name: &str, claim, slow: bool, read: Read| {
        let isps = isps.clone();
        Quantity::new(name, "", claim, move |sample| {
            let chosen = isps
                .iter()
                .filter(|isp| (isp.isp == carriers::A.name) == slow);
            median(
                chosen
                    .flat_map(|isp| degradation(isp, sample, read))
                    .collect(),
            )
        })
    };
    vec![
        quantity(
            "low upload speeds: throughput beside an upload ÷ alone, median",
            Claim::at_most(0.1, 1.0),
            true,
            throughput,
        )
        .because(
            "the fastest of ISP A's uplinks, of 300 kbit/s and more, have a buffer of 1.5 s; where it is slower than \
             the median it holds",
        ),
        quantity(
            "low upload speeds: RTT beside an upload ÷ alone, median",
            Claim::at_least(3.0, 1.0),
            true,
            rtt,
        ),
        quantity(
            "high upload speeds: throughput beside an upload ÷ alone, median",
            Claim::at_least(0.9, 0.1),
            false,
            throughput,
        )
        .because(SLOW_START),
    ]
}
