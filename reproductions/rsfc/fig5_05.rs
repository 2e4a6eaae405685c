//! Fig. 5.5: downloads and uploads at once.

use super::carriers;
use super::experiments::{UPLINK, UPLOAD, median, ratios, share};
use super::sets::{Flows, cases};
use crate::means::most;
use crate::pictures::cumulative;
use tidegate_report::plot::{Axis, Scale};
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

/// Why the upload carries less.
pub const ACKS: &str = "the faster download's ACKs are the difference: an ACK of 52 bytes for each 2896 of payload is 15 kbit/s up \
     at 800 kbit/s down, a sixth of the median uplink. The uplink as a whole carries as much as before";

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
                        ("CUBIC, u_1".into(), flows.both.beside_kbps(sample, UPLOAD)),
                        (
                            "RSFC, u_2".into(),
                            flows.both_rsfc.beside_kbps(sample, UPLOAD),
                        ),
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
        )
        .because("ISP A's two fastest uplinks, of 318 and 371 kbit/s: 64 KB take no more than 1.7 s there"),
        quantity(
            "beside CUBIC: downloads close to 10 kbit/s",
            "%",
            near(30.0, 15.0),
            |flows, sample| share(&flows.both.kbps(sample, "download"), |kbps| kbps < 20.0),
        )
        .because(
            "whatever the round trip, 1 MB come in about ten of them, by slow start: 70 kbit/s where one takes 11 s. Even over an \
             uplink of 20 kbit/s it is 29. What made theirs slower must be more than delay, timeouts of an older TCP for example",
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
            "upload with RSFC ÷ CUBIC's, beside the download, median",
            "",
            Claim::at_least(0.95, 0.5),
            |flows, sample| {
                median(ratios(
                    &flows.both_rsfc.beside_kbps(sample, UPLOAD),
                    &flows.both.beside_kbps(sample, UPLOAD),
                ))
            },
        )
        .because(ACKS),
        quantity(
            "all that the uplink carries with RSFC ÷ CUBIC's, beside the download, median",
            "",
            Claim::at_least(0.95, 0.5),
            |flows, sample| {
                median(ratios(
                    &flows.both_rsfc.beside_kbps(sample, UPLINK),
                    &flows.both.beside_kbps(sample, UPLINK),
                ))
            },
        ),
    ]
}
