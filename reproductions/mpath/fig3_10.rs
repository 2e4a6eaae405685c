//! Figs. 3.9 and 3.10: the access link is the bottleneck.

use super::emulab::{CORE, Pace, case, cores, delivered, goodput, mpath, path_name, picture, tcp};
use super::fig3_07::near;
use super::network::{MPATH, TCP};
use tidegate_study::{Claim, Figure, Quantity};

const WITH_MPATH: &str = "access bottleneck, mPath";
const WITH_TCP: &str = "access bottleneck, TCP";
const MINUTES: f64 = 10.0;

/// The access link in Mbit/s: not in the text, but it follows from TCP's 4.40 Mbit/s.
const ACCESS_MBPS: f64 = 5.5;

/// The figure.
pub fn figure(pace: Pace) -> Figure {
    let run = |name, workload| {
        case(
            name,
            pace.seconds(MINUTES),
            ACCESS_MBPS,
            cores(CORE),
            vec![workload],
        )
    };
    let whole = pace.minutes(0.0, MINUTES);
    Figure {
        id: "fig-3.10",
        title: "The access link is the bottleneck",
        claim: "mPath and TCP achieve about the same: 4.36 and 4.40 Mbit/s. What goes through the proxy drops significantly.",
        method: "The access link's rate is not in the text: it is such that TCP has its 4.40 Mbit/s.",
        cases: vec![run(WITH_MPATH, mpath(&[2])), run(WITH_TCP, tcp(TCP))],
        quantities: vec![
            Quantity::new("mPath", "Mbit/s", near(4.36, 0.0), move |sample| {
                goodput(sample, WITH_MPATH, MPATH, whole)
            }),
            Quantity::new("TCP", "Mbit/s", near(4.40, 0.0), move |sample| {
                goodput(sample, WITH_TCP, TCP, whole)
            }),
            Quantity::new(
                "through the proxy, last 5 min",
                "% of all",
                Claim::at_most(10.0, 50.0),
                move |sample| {
                    let settled = pace.minutes(5.0, MINUTES);
                    let part = delivered(sample, WITH_MPATH, "proxy 2", settled);
                    100.0 * part / goodput(sample, WITH_MPATH, MPATH, settled)
                },
            ),
        ],
        draw: Box::new(|sample| {
            let mpath = |label, flow, quantity| (label, WITH_MPATH.into(), flow, quantity);
            vec![picture(
                sample,
                "Congestion windows",
                "packets",
                1.0,
                &[
                    mpath("direct", path_name("direct"), "path_packets"),
                    mpath("through the proxy", path_name("proxy 2"), "path_packets"),
                    mpath("all of mPath", MPATH.into(), "cwnd_packets"),
                    ("TCP", WITH_TCP.into(), TCP.into(), "cwnd_packets"),
                ],
            )]
        }),
    }
}
