//! Fig. 3.25: β, the number of paths that a loss on the direct path creates.

use super::overlay::{Terms, mpath_name};
use super::pairs::Pairs;
use crate::means::mean;
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// Values of β.
const BETAS: [f64; 6] = [0.05, 0.125, 0.25, 0.5, 0.75, 1.0];

fn creating(beta: f64) -> Terms {
    Terms {
        beta,
        ..Terms::THESIS
    }
}

/// The figure.
pub fn figure(pairs: &Pairs) -> Figure {
    let cases = pairs.some().flat_map(|pair| {
        let with = move |beta| pairs.mpath(pair, creating(beta));
        BETAS.map(with).into_iter().chain([pairs.tcp(pair)])
    });
    let throughput = {
        let pairs = pairs.clone();
        move |sample: &Sample, beta| {
            let of = |pair| pairs.ratio_of(sample, pair, &mpath_name(pair, creating(beta)));
            mean(pairs.some().map(of))
        }
    };
    let drawn = throughput.clone();
    let against_quarter = |name: &str, beta: f64, claim| {
        let throughput = throughput.clone();
        Quantity::new(name, "", claim, move |sample| {
            throughput(sample, beta) / throughput(sample, 0.25)
        })
    };
    let same = |within| Claim::Near {
        paper: 1.0,
        within,
        neutral: 0.5,
    };
    Figure {
        id: "fig-3.25",
        title: "The new path creation factor β",
        claim: "Above β = 0.75 there is a slight drop of throughput; up to 0.5 it is the same.",
        method: "Every fifth pair. The mean of mPath's throughput ÷ TCP's.",
        cases: cases.collect(),
        quantities: vec![
            against_quarter("throughput, β = 0.5 ÷ β = 0.25", 0.5, same(0.05)),
            against_quarter(
                "throughput, β = 1 ÷ β = 0.25",
                1.0,
                Claim::at_most(1.0, 1.05),
            ),
        ],
        draw: Box::new(move |sample| {
            let read = |n: usize, _| drawn(sample, BETAS[n]);
            let title = "Throughput against β";
            vec![crate::pictures::lines(
                title,
                ("β", &BETAS),
                "mPath ÷ TCP, mean",
                &["mPath"],
                read,
            )]
        }),
    }
}
