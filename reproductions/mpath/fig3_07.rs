//! Figs. 3.6 and 3.7: a core bottleneck, and enough capacity elsewhere.

use super::emulab::{
    ACCESS, CORE, Pace, case, cores, delivered, goodput, mpath, path_name, picture, tcp,
};
use super::network::{MPATH, TCP};
use crate::means::mean;
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// The runs, with mPath and with the benchmark: 30 minutes each.
const WITH_MPATH: &str = "three proxies, mPath";
const WITH_TCP: &str = "three proxies, TCP";
const MINUTES: f64 = 30.0;

/// The figure.
pub fn figure(pace: Pace) -> Figure {
    let seconds = pace.seconds(MINUTES);
    let run = |name, workload| case(name, seconds, ACCESS, cores(CORE), vec![workload]);
    Figure {
        id: "fig-3.7",
        title: "A core bottleneck and three proxies",
        claim: "mPath achieves 14.31 Mbit/s, TCP 7.21. The path through proxy 1, which shares the core bottleneck, is dropped after \
                11 minutes; path 2 carries more than path 3; the direct path carries about 7 Mbit/s throughout.",
        method: "A path counts as dropped from the first minute on in which it carries nothing.",
        cases: vec![run(WITH_MPATH, mpath(&[1, 2, 3])), run(WITH_TCP, tcp(TCP))],
        quantities: quantities(pace),
        draw: Box::new(|sample| vec![windows(sample)]),
    }
}

fn quantities(pace: Pace) -> Vec<Quantity> {
    let whole = pace.minutes(0.0, MINUTES);
    let settled = pace.minutes(15.0, MINUTES);
    vec![
        Quantity::new("mPath", "Mbit/s", near(14.31, 7.21), move |sample| {
            goodput(sample, WITH_MPATH, MPATH, whole)
        }),
        Quantity::new("TCP", "Mbit/s", near(7.21, 0.0), move |sample| {
            goodput(sample, WITH_TCP, TCP, whole)
        }),
        Quantity::new(
            "the direct path's part",
            "Mbit/s",
            near(7.0, 0.0),
            move |sample| delivered(sample, WITH_MPATH, "direct", settled),
        ),
        Quantity::new(
            "path 1 is dropped after",
            "min",
            Claim::Near {
                paper: 11.0,
                within: 5.5,
                neutral: MINUTES,
            },
            move |sample| dropped_min(sample, pace),
        ),
        Quantity::new(
            "path 1 in the last 15 min",
            "Mbit/s",
            Claim::at_most(0.7, 3.5),
            move |sample| delivered(sample, WITH_MPATH, "proxy 1", settled),
        ),
        Quantity::new(
            "path 2 ÷ path 3",
            "",
            Claim::at_least(1.0, 0.5),
            move |sample| {
                let [two, three] =
                    ["proxy 2", "proxy 3"].map(|path| delivered(sample, WITH_MPATH, path, settled));
                two / three
            },
        ),
    ]
}

/// A number of the thesis's, with a tolerance of a tenth.
pub fn near(paper: f64, neutral: f64) -> Claim {
    Claim::Near {
        paper,
        within: (paper * 10.0).round() / 100.0,
        neutral,
    }
}

/// The first minute without traffic on path 1 after it had some; mean over the seeds.
fn dropped_min(sample: &Sample, pace: Pace) -> f64 {
    let name = path_name("proxy 1");
    let curves = sample.flow_curves(WITH_MPATH, &name, "path_bps");
    mean(curves.map(|curve| {
        let carries = |minute: usize| {
            let from = minute as f64;
            pace.minutes(from, from + 1.0)
                .values(&curve)
                .any(|bps| bps > 0.0)
        };
        let first = (0..MINUTES as usize).find(|&minute| carries(minute));
        let dropped = |first| (first..MINUTES as usize).find(|&minute| !carries(minute));
        first
            .and_then(dropped)
            .map_or(MINUTES, |minute| minute as f64)
    }))
}

fn windows(sample: &Sample) -> tidegate_report::plot::Figure {
    let path = |label, path| (label, WITH_MPATH.into(), path_name(path), "path_packets");
    picture(
        sample,
        "Congestion windows",
        "packets",
        1.0,
        &[
            (
                "direct",
                WITH_MPATH.into(),
                path_name("direct"),
                "path_packets",
            ),
            path("path 1", "proxy 1"),
            path("path 2", "proxy 2"),
            path("path 3", "proxy 3"),
            (
                "all of mPath",
                WITH_MPATH.into(),
                MPATH.into(),
                "cwnd_packets",
            ),
            ("TCP", WITH_TCP.into(), TCP.into(), "cwnd_packets"),
        ],
    )
}
