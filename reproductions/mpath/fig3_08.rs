//! Fig. 3.8: a core bottleneck, and too little capacity elsewhere.

use super::emulab::{ACCESS, CORE, Pace, case, cores, goodput, mpath, path_name, picture, tcp};
use super::network::{MPATH, TCP};
use tidegate_study::{Claim, Figure, Quantity};

const WITH_MPATH: &str = "proxy 3 alone, mPath";
const WITH_TCP: &str = "proxy 3 alone, TCP";
const MINUTES: f64 = 10.0;

/// Mbit/s of the direct core link and proxy 3's together.
const CAPACITY: f64 = 15.0;

/// The figure.
pub fn figure(pace: Pace) -> Figure {
    let seconds = pace.seconds(MINUTES);
    let run = |name, workload| case(name, seconds, ACCESS, cores(CORE), vec![workload]);
    let used = |flow, of, capacity| {
        move |sample: &tidegate_study::Sample| {
            100.0 * goodput(sample, of, flow, pace.minutes(0.0, MINUTES)) / capacity
        }
    };
    let (mpath_used, tcp_used) = (used(MPATH, WITH_MPATH, CAPACITY), used(TCP, WITH_TCP, CORE));
    Figure {
        id: "fig-3.8",
        title: "A core bottleneck and proxy 3 alone",
        claim: "mPath can still effectively utilise all available capacity on both direct and proxied paths.",
        method: "That is read as: of the 15 Mbit/s of both core links mPath uses as large a share as TCP does of its 10, less a tenth.",
        cases: vec![run(WITH_MPATH, mpath(&[3])), run(WITH_TCP, tcp(TCP))],
        quantities: vec![Quantity::new(
            "mPath's share of both links ÷ TCP's of one",
            "",
            // The direct path alone would carry two thirds.
            Claim::at_least(0.9, CORE / CAPACITY),
            move |sample| mpath_used(sample) / tcp_used(sample),
        )],
        draw: Box::new(|sample| {
            let mpath = |label, flow, quantity| (label, WITH_MPATH.into(), flow, quantity);
            vec![picture(
                sample,
                "Congestion windows",
                "packets",
                1.0,
                &[
                    mpath("direct", path_name("direct"), "path_packets"),
                    mpath("path 3", path_name("proxy 3"), "path_packets"),
                    mpath("all of mPath", MPATH.into(), "cwnd_packets"),
                    ("TCP", WITH_TCP.into(), TCP.into(), "cwnd_packets"),
                ],
            )]
        }),
    }
}
