//! Fig. 5.6: RSFC's effect on a download, over the uplink's speed.

use super::carriers;
use super::experiments::{median, ratios};
use super::sets::{Flows, cases};
use crate::pictures::scatter;
use std::sync::Arc;
use tidegate_report::plot::{Axis, Scale};
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

/// Why RSFC also gains on fast uplinks.
const FILLED: &str = "our uploads fill the buffer there, which the thesis's cannot have done (Fig. 4.14), so there is something to gain";

/// The figure.
pub fn figure(extent: &Extent) -> Figure {
    let isps: Arc<[Flows; 3]> = Flows::everywhere(extent).into();
    let sets = isps
        .iter()
        .flat_map(|isp| [&isp.u0, &isp.both, &isp.both_rsfc]);
    Figure {
        id: "fig-5.6",
        title: "What RSFC does for a download, over the uplink's speed",
        claim: "RSFC achieves the greatest improvement when the upload throughput is below 400 kbit/s; for ISP B and C it \
                performs as CUBIC does.",
        method: "Below 400 kbit/s, the thesis's number is that of Fig. 5.5: from below 400 kbit/s always to more half of the time, \
                 hence at least 2. Which uplinks of ISP A are the slowest third is ours.",
        cases: cases(sets),
        quantities: quantities(&isps),
        draw: Box::new(move |sample| {
            let series = isps.iter().map(|isp| {
                let uplinks = isp.uplink_kbps(sample).into_iter();
                let points = uplinks.zip(gains(isp, sample));
                let dots = points.step_by(isp.u0.seeds(sample));
                (isp.isp.to_owned(), dots.collect())
            });
            vec![scatter(
                "Download beside RSFC ÷ beside CUBIC",
                Axis::new("upload alone, kbit/s", Scale::Log),
                Axis::new("", Scale::Log),
                series.collect(),
            )]
        }),
    }
}

/// d_2 ÷ d_1 of each experiment.
fn gains(isp: &Flows, sample: &Sample) -> Vec<f64> {
    ratios(
        &isp.both_rsfc.kbps(sample, "download"),
        &isp.both.kbps(sample, "download"),
    )
}

fn quantities(isps: &Arc<[Flows; 3]>) -> Vec<Quantity> {
    let quantity = |name: &str, claim, read: fn(&[Flows; 3], &Sample) -> f64| {
        let isps = isps.clone();
        Quantity::new(name, "", claim, move |sample| read(&isps, sample))
    };
    let as_cubic = Claim::same(1.0, 0.15);
    vec![
        quantity(
            "ISP A: download beside RSFC ÷ beside CUBIC, median",
            Claim::at_least(2.0, 1.0),
            |[a, ..], sample| median(gains(a, sample)),
        )
        .derived("Fig. 5.5's below 400 kbit/s always, then more than that half of the time"),
        quantity(
            "ISP A, slowest third of the uplinks: the same",
            Claim::at_least(10.0, 1.0),
            |[a, ..], sample| {
                let gains = gains(a, sample);
                // Places are in the order of their uplinks.
                median(gains[..gains.len() / 3].to_vec())
            },
        )
        .derived("Fig. 5.5's \"close to 10 kbit/s\" becomes 100 and more")
        .because(
            "beside CUBIC our downloads are faster than the thesis's \"close to 10 kbit/s\", see Fig. 5.5; and with RSFC \
             1 MB takes a dozen round trips of 1 s",
        ),
        quantity(
            &format!("{}: the same", carriers::B.name),
            as_cubic,
            |[_, b, _], sample| median(gains(b, sample)),
        )
        .because(FILLED),
        quantity(
            &format!("{}: the same", carriers::C.name),
            as_cubic,
            |[_, _, c], sample| median(gains(c, sample)),
        )
        .because(FILLED),
    ]
}
