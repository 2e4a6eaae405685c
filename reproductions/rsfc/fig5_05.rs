//! Fig. 5.5: downloads and uploads at once.

use super::carriers;
use super::experiments::{median, ratios, share};
use super::sets::{Flows, cases};
use crate::means::most;
use crate::pictures::cumulative;
use tidegate_report::plot::{Axis, Scale};
use tidegate_reproduce::{Claim, Extent, Figure, Quantity, Sample};

/// The figure.
pub fn figure(extent: &Extent) -> Figure {
    let flows = Flows::at(&carriers::A, extent);
    let Flows {
        u0,
        d0,
        both,
        both_rsfc,
        ..
    } = &flows;
    Figure {
        id: "fig-5.5",
        title: "Throughput of a download and an upload at once",
        claim: "d_1 is lower than 400 kbit/s all the time and close to 10 kbit/s 30 % of the time; with RSFC d_2 is greater \
                than 400 kbit/s 50 % of the time, and up to 1400. u_2 and u_1 are similar.",
        method: "A download that has not come after 5 minutes counts with what came until then. \"Close to 10 kbit/s\" is \
                 below 20. The upload's throughput is that while the download lasts.",
        cases: cases([u0, d0, both, both_rsfc]),
        quantities: quantities(&flows),
        draw: Box::new(move |sample| {
            vec![
                cumulative(
                    "Download",
                    Axis::new("kbit/s", Scale::FromZero),
                    vec![
                        (
                            "beside CUBIC, d_1".into(),
                            flows.both.kbps(sample, "download"),
                        ),
                        (
                            "beside RSFC, d_2".into(),
                            flows.both_rsfc.kbps(sample, "download"),
                        ),
                        ("alone, d_0".into(), flows.d0.kbps(sample, "download")),
                    ],
                ),
                cumulative(
                    "Upload",
                    Axis::new("kbit/s", Scale::FromZero),
                    vec![
                        ("CUBIC, u_1".into(), flows.both.beside_kbps(sample)),
                        ("RSFC, u_2".into(), flows.both_rsfc.beside_kbps(sample)),
                        ("alone, u_0".into(), flows.uplink_kbps(sample)),
                    ],
                ),
            ]
        }),
    }
}

fn quantities(flows: &Flows) -> Vec<Quantity> {
    let quantity = |name: &str, unit, claim, read: fn(&Flows, &Sample) -> f64| {
        let flows = flows.clone();
        Quantity::new(name, unit, claim, move |sample| read(&flows, sample))
    };
    let near = |paper, within| Claim::Near {
        paper,
        within,
        neutral: 0.0,
    };
    vec![
        quantity(
            "beside CUBIC: downloads below 400 kbit/s",
            "%",
            Claim::at_least(99.0, 0.0),
            |flows, sample| share(&flows.both.kbps(sample, "download"), |kbps| kbps < 400.0),
        ),
        quantity(
            "beside CUBIC: downloads close to 10 kbit/s",
            "%",
            near(30.0, 15.0),
            |flows, sample| share(&flows.both.kbps(sample, "download"), |kbps| kbps < 20.0),
        ),
        quantity(
            "beside RSFC: downloads above 400 kbit/s",
            "%",
            Claim::at_least(50.0, 0.0),
            |flows, sample| {
                share(&flows.both_rsfc.kbps(sample, "download"), |kbps| {
                    kbps > 400.0
                })
            },
        ),
        quantity(
            "beside RSFC: fastest download",
            "kbit/s",
            near(1400.0, 400.0),
            |flows, sample| most(flows.both_rsfc.kbps(sample, "download").into_iter()),
        ),
        quantity(
            "download beside RSFC ÷ beside CUBIC, median",
            "",
            Claim::at_least(10.0, 1.0),
            |flows, sample| {
                median(ratios(
                    &flows.both_rsfc.kbps(sample, "download"),
                    &flows.both.kbps(sample, "download"),
                ))
            },
        ),
        quantity(
            "upload with RSFC ÷ CUBIC's, beside the download, median",
            "",
            Claim::at_least(0.95, 0.5),
            |flows, sample| {
                median(ratios(
                    &flows.both_rsfc.beside_kbps(sample),
                    &flows.both.beside_kbps(sample),
                ))
            },
        ),
    ]
}
