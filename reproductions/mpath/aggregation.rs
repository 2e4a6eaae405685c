//! Equation 3.7: load moves to the direct path exponentially.

use super::emulab::{case, core, mpath, path_name, picture};
use super::network::{MPATH, over};
use tidegate_scenario::{Direction, Spacing, Workload, WorkloadKind};
use tidegate_study::{Claim, Figure, Quantity, Sample};

const CASE: &str = "load aggregation";

/// Mbit/s: the access link, the direct path's core link, and the cross traffic on that link at first.
const ACCESS: f64 = 10.0;
const CORE: f64 = 20.0;
const OTHERS: f64 = 17.0;

/// When the cross traffic leaves, and the length of the run, in seconds.
const LEAVE_S: f64 = 300.0;
const DURATION_S: f64 = 600.0;

/// Seconds and values.
type Curve = Vec<(f64, f64)>;

/// The thesis's α.
const ALPHA: f64 = 0.5;

/// The figure.
pub fn figure() -> Figure {
    let others = WorkloadKind::Datagrams {
        direction: Direction::Down,
        mbps: OTHERS,
        packet_bytes: 1500,
        spacing: Spacing::Constant,
    };
    let others = Workload {
        stop_s: Some(LEAVE_S),
        ..over(&["core"], Workload::new("others", others))
    };
    let hops = vec![core("core", CORE), core("larger core", CORE)];
    let mut run = case(CASE, DURATION_S, ACCESS, hops, vec![mpath(&[2]), others]);
    run.curves.push("aggregations");
    Figure {
        id: "equation-3.7",
        title: "Load aggregation",
        claim: "Once the access link is the only bottleneck, k shared losses leave (1 − α)ᵏ of the proxied path's load (equation 3.7).",
        method: "Others take 17 of 20 Mbit/s of the direct path's core link and leave after 5 minutes. The proxied path's share of all \
                 windows is read before each shared loss from then on, until it is gone; with it grown back to what it was in \
                 between, as the equation has it, one loss leaves 1 − α of the share. Geometric mean.",
        cases: vec![run],
        quantities: vec![
            Quantity::new(
                "share that a shared loss leaves",
                "",
                Claim::Near {
                    paper: 1.0 - ALPHA,
                    within: 0.1,
                    neutral: 1.0,
                },
                geometric,
            ),
            Quantity::new(
                "the proxied path's share in the last minute",
                "%",
                Claim::at_most(5.0, 50.0),
                |sample| {
                    let curves = shares(sample);
                    let last = curves.iter().flatten().filter(|p| p.0 > DURATION_S - 60.0);
                    100.0 * crate::means::mean(last.map(|p| p.1))
                },
            )
            .because(
                "shared losses come as rarely as the access link overflows, some ten in the run; between two of them the proxied path \
                 gets its part of the increases (equation 3.1)",
            ),
        ],
        draw: Box::new(|sample| {
            let path = |label, path| (label, CASE.into(), path_name(path), "path_packets");
            vec![picture(
                sample,
                "Congestion windows",
                "packets",
                1.0,
                &[
                    path("direct", "direct"),
                    path("through the proxy", "proxy 2"),
                    ("all", CASE.into(), MPATH.into(), "cwnd_packets"),
                ],
            )]
        }),
    }
}

/// The proxied path's share of all windows over time, by seed; 0 while it does not exist.
fn shares(sample: &Sample) -> Vec<Curve> {
    let names = ["proxy 2", "direct"].map(path_name);
    let [proxied, direct] = names
        .each_ref()
        .map(|n| sample.flow_curves(CASE, n, "path_packets"));
    let share = |(proxied, direct): (Curve, Curve)| {
        let mut proxied = proxied.into_iter().peekable();
        let mut of = |(at, direct): (f64, f64)| {
            while proxied.peek().is_some_and(|p| p.0 < at - 1e-6) {
                proxied.next();
            }
            let here = proxied.peek().filter(|p| p.0 < at + 1e-6);
            let window = here.map_or(0.0, |p| p.1);
            (at, window / (window + direct))
        };
        direct.into_iter().map(&mut of).collect()
    };
    proxied.zip(direct).map(share).collect()
}

/// The mean ratio of the shares before consecutive shared losses.
fn geometric(sample: &Sample) -> f64 {
    let counts = sample.flow_curves(CASE, MPATH, "aggregations");
    let mut factors = Vec::new();
    for (count, share) in counts.zip(shares(sample)) {
        let before = before_losses(&count, &share);
        // Below a tenth of the windows the path is about to be dropped, or is a new one.
        let steps = before.windows(2).take_while(|step| step[0] > 0.1);
        factors.extend(steps.map(|step| (step[1] / step[0]).max(0.01)));
    }
    crate::means::geometric_mean(factors.into_iter())
}

/// The shares just before each shared loss after the cross traffic has left.
fn before_losses(count: &[(f64, f64)], share: &[(f64, f64)]) -> Vec<f64> {
    let losses = count
        .windows(2)
        .filter(|step| step[1].1 > step[0].1 && step[0].0 > LEAVE_S);
    let before = |at: f64| {
        share
            .iter()
            .take_while(|p| p.0 < at - 0.05)
            .last()
            .map(|p| p.1)
    };
    losses.filter_map(|step| before(step[0].0)).collect()
}
