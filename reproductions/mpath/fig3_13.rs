//! Figs. 3.12 and 3.13: a proxied path gets worse.

use super::emulab::{
    ACCESS, CORE, Pace, access, average, case, cores, delivered, goodput, mpath, path_name,
    picture, tcp,
};
use super::fig3_07::near;
use super::network::{MPATH, over};
use crate::spans::Span;
use tidegate_scenario::Workload;
use tidegate_study::{Claim, Figure, Quantity};

const CASE: &str = "TCP flows on path 2";

/// Minutes between changes: mPath alone, then one more TCP flow on path 2's core link each time.
const STEP: f64 = 15.0;

/// The TCP flows and their access links in Mbit/s. The text does not give the third: we continue in steps of two.
const FLOWS: [(&str, f64); 3] = [("A1", 6.0), ("A2", 8.0), ("A3", 10.0)];

/// The figure.
pub fn figure(pace: Pace) -> Figure {
    let mut hops: Vec<_> = FLOWS.map(|(name, mbps)| access(name, mbps)).into();
    hops.extend(cores(CORE));
    let mut workloads = vec![mpath(&[1, 2, 3])];
    for (n, (name, _)) in FLOWS.into_iter().enumerate() {
        let flow = Workload {
            start_s: pace.seconds((n + 1) as f64 * STEP),
            ..over(&[name, "larger core", "up"], tcp(name))
        };
        workloads.push(flow);
    }
    let case = case(CASE, pace.seconds(4.0 * STEP), ACCESS, hops, workloads);
    Figure {
        id: "fig-3.13",
        title: "TCP flows join path 2",
        claim: "mPath's throughput falls from 12.0 to 11.4 and to 10.6 Mbit/s as a second and a third TCP flow join a core link of path 2, \
                which is dropped within 2 minutes of the third.",
        method: "Each state's last ten minutes. The core link has 10 Mbit/s, the flows' access links 6, 8 and 10.",
        cases: vec![case],
        quantities: quantities(pace),
        draw: Box::new(|sample| {
            let path = |label, path| (label, CASE.into(), path_name(path), "path_bps");
            vec![picture(
                sample,
                "Throughput",
                "Mbit/s",
                1e-6,
                &[
                    path("direct", "direct"),
                    path("path 1", "proxy 1"),
                    path("path 2", "proxy 2"),
                    path("path 3", "proxy 3"),
                    ("all of mPath", CASE.into(), MPATH.into(), "goodput_bps"),
                ],
            )]
        }),
    }
}

/// The last ten minutes of the state with that many TCP flows.
fn state(pace: Pace, flows: f64) -> Span {
    pace.minutes(flows * STEP + 5.0, (flows + 1.0) * STEP)
}

fn quantities(pace: Pace) -> Vec<Quantity> {
    let state = move |flows| state(pace, flows);
    let goodput_with = |flows: f64, paper: f64| {
        Quantity::new(
            format!("mPath with {flows} TCP flows on path 2"),
            "Mbit/s",
            near(paper, 0.0),
            move |sample| goodput(sample, CASE, MPATH, state(flows)),
        )
        .because(
            "here mPath still fills the access link beside the first flow, as it did before it, and as Fig. 3.7's 14.31 Mbit/s say it \
             should; why the thesis has 12.0 there, over an access link that it calls saturated, it does not say",
        )
    };
    vec![
        goodput_with(1.0, 12.0),
        goodput_with(2.0, 11.4),
        goodput_with(3.0, 10.6),
        Quantity::new(
            "path 3 with 2 flows ÷ with 1",
            "",
            Claim::at_least(1.0, 0.8),
            move |sample| {
                let three = |flows| delivered(sample, CASE, "proxy 3", state(flows));
                three(2.0) / three(1.0)
            },
        )
        .because("path 3 fills its core link of 5 Mbit/s beside one flow already"),
        Quantity::new(
            "path 2's window from 2 min after the third on",
            "packets",
            Claim::at_most(1.0, 20.0),
            move |sample| {
                let after = pace.minutes(3.0 * STEP + 2.0, 4.0 * STEP);
                average(sample, CASE, &path_name("proxy 2"), "path_packets", after)
            },
        ),
    ]
}
