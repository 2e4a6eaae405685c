//! Fig. 3.24: the load aggregation factor α.

use super::emulab::{ACCESS, CORE, case, cores, goodput, mpath};
use super::network::MPATH;
use crate::pictures::lines;
use crate::spans::Span;
use tidegate_scenario::WorkloadKind;
use tidegate_study::{Case, Claim, Figure, Quantity, Sample};

/// Values of α, and the length of each run.
const ALPHAS: [f64; 5] = [0.125, 0.25, 0.5, 0.75, 0.9];
const SECONDS: f64 = 1800.0;

/// The figure.
pub fn figure() -> Figure {
    Figure {
        id: "fig-3.24",
        title: "The load aggregation factor α",
        claim: "α above 0.75 leads to a decrease of overall throughput.",
        method: "The topology of Fig. 3.6.",
        cases: ALPHAS.map(with).into(),
        quantities: vec![
            Quantity::new(
                "throughput, α = 0.9 ÷ α = 0.5",
                "",
                Claim::at_most(0.99, 1.05),
                |sample| throughput(sample, 0.9) / throughput(sample, 0.5),
            ),
            Quantity::new(
                "throughput, α = 0.75 ÷ α = 0.5",
                "",
                Claim::Near {
                    paper: 1.0,
                    within: 0.05,
                    neutral: 0.8,
                },
                |sample| throughput(sample, 0.75) / throughput(sample, 0.5),
            ),
        ],
        draw: Box::new(|sample| {
            let read = |n: usize, _| throughput(sample, ALPHAS[n]);
            let title = "Throughput against α";
            vec![lines(title, ("α", &ALPHAS), "Mbit/s", &["mPath"], read)]
        }),
    }
}

fn name(alpha: f64) -> String {
    format!("three proxies, alpha {alpha}")
}

fn with(alpha: f64) -> Case {
    let mut workload = mpath(&[1, 2, 3]);
    if let WorkloadKind::Mpath(transfer) = &mut workload.does {
        transfer.alpha = alpha;
    }
    case(&name(alpha), SECONDS, ACCESS, cores(CORE), vec![workload])
}

fn throughput(sample: &Sample, alpha: f64) -> f64 {
    goodput(sample, &name(alpha), MPATH, Span(0.0, SECONDS))
}
