//! Fig. 3.11: beside TCP.

use super::emulab::{
    ACCESS, CORE, Pace, average, case, cores, delivered, mpath, path_name, picture, tcp,
};
use super::network::MPATH;
use crate::spans::Span;
use tidegate_study::{Claim, Figure, Quantity, Sample};

const CASE: &str = "beside TCP";

/// Minutes between changes: TCP-1 alone, with mPath, mPath alone, with TCP-2, TCP-2 alone, with TCP-3.
const STEP: f64 = 20.0;
const FLOWS: [(&str, (f64, f64)); 3] = [
    ("TCP-1", (0.0, 2.0 * STEP)),
    ("TCP-2", (3.0 * STEP, 6.0 * STEP)),
    ("TCP-3", (5.0 * STEP, 6.0 * STEP)),
];
const TRANSFER: (f64, f64) = (STEP, 4.0 * STEP);

/// The figure.
pub fn figure(pace: Pace) -> Figure {
    let mut workloads = vec![pace.within(TRANSFER, mpath(&[1, 2, 3]))];
    workloads.extend(FLOWS.map(|(name, term)| pace.within(term, tcp(name))));
    let case = case(
        CASE,
        pace.seconds(6.0 * STEP),
        ACCESS,
        cores(CORE),
        workloads,
    );
    Figure {
        id: "fig-3.11",
        title: "mPath beside TCP",
        claim: "mPath makes TCP's congestion window drop by about 25 % on average, a second TCP flow by 50 %. When TCP-1 ends, the \
                direct path soaks up what it leaves; TCP-2 then has TCP-1's window beside mPath.",
        method: "Something changes each 20 minutes, of which the first five do not count. Before TCP-3 begins TCP-2 is alone, for the comparison.",
        cases: vec![case],
        quantities: quantities(pace),
        draw: Box::new(|sample| vec![windows(sample)]),
    }
}

/// The n-th 20 minutes, without the first five.
fn phase(pace: Pace, n: f64) -> Span {
    pace.minutes(n * STEP + 5.0, (n + 1.0) * STEP)
}

fn window(sample: &Sample, flow: &str, span: Span) -> f64 {
    average(sample, CASE, flow, "cwnd_packets", span)
}

fn fall(sample: &Sample, flow: &str, before: Span, after: Span) -> f64 {
    100.0 * (1.0 - window(sample, flow, after) / window(sample, flow, before))
}

fn quantities(pace: Pace) -> Vec<Quantity> {
    let phase = move |n| phase(pace, n);
    vec![
        Quantity::new(
            "TCP-1's window falls beside mPath by",
            "%",
            Claim::Near {
                paper: 25.0,
                within: 10.0,
                neutral: 50.0,
            },
            move |sample| fall(sample, "TCP-1", phase(0.0), phase(1.0)),
        ),
        Quantity::new(
            "TCP-2's window falls beside TCP-3 by",
            "%",
            Claim::Near {
                paper: 50.0,
                within: 10.0,
                neutral: 0.0,
            },
            move |sample| fall(sample, "TCP-2", phase(4.0), phase(5.0)),
        ),
        Quantity::new(
            "TCP-2's window beside mPath ÷ TCP-1's",
            "",
            Claim::Near {
                paper: 1.0,
                within: 0.15,
                neutral: 0.5,
            },
            move |sample| window(sample, "TCP-2", phase(3.0)) / window(sample, "TCP-1", phase(1.0)),
        ),
        Quantity::new(
            "mPath's direct path without TCP ÷ beside TCP-1",
            "",
            Claim::at_least(1.5, 1.0),
            move |sample| {
                let direct = |n| delivered(sample, CASE, "direct", phase(n));
                direct(2.0) / direct(1.0)
            },
        ),
    ]
}

fn windows(sample: &Sample) -> tidegate_report::plot::Figure {
    let path = |label, path| (label, CASE.into(), path_name(path), "path_packets");
    let flow = |label: &'static str| (label, CASE.into(), label.into(), "cwnd_packets");
    picture(
        sample,
        "Congestion windows",
        "packets",
        1.0,
        &[
            path("direct", "direct"),
            path("path 1", "proxy 1"),
            path("path 2", "proxy 2"),
            path("path 3", "proxy 3"),
            flow(MPATH),
            flow("TCP-1"),
            flow("TCP-2"),
            flow("TCP-3"),
        ],
    )
}
