//! Fig. 3.20: the number of proxies that are offered.

use super::overlay::{PROXIES, Terms, mpath_name};
use super::pairs::Pairs;
use crate::means::mean;
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// Numbers of proxies that are offered (Fig. 3.20).
const OFFERED: [usize; 5] = [1, 10, 50, 100, PROXIES];

fn offering(proxies: usize) -> Terms {
    Terms {
        proxies,
        ..Terms::THESIS
    }
}

/// The figure.
pub fn figure(pairs: &Pairs) -> Figure {
    let at_least_twice = {
        let pairs = pairs.clone();
        move |sample: &Sample, proxies| {
            let ratio = |pair| pairs.ratio_of(sample, pair, &mpath_name(pair, offering(proxies)));
            mean(pairs.some().map(ratio))
        }
    };
    let mut cases = Vec::new();
    for pair in pairs.some() {
        cases.extend(OFFERED.map(|proxies| pairs.mpath(pair, offering(proxies))));
        cases.push(pairs.tcp(pair));
    }
    let (few, many, drawn) = (
        at_least_twice.clone(),
        at_least_twice.clone(),
        at_least_twice,
    );
    Figure {
        id: "fig-3.20",
        title: "Proxies offered",
        claim: "Performance improves up to about 50 proxies; more of them gain nothing more.",
        method: "Every fifth pair. The mean of mPath's throughput ÷ TCP's.",
        cases,
        quantities: vec![
            Quantity::new(
                "50 proxies ÷ 1",
                "",
                Claim::at_least(1.1, 1.0),
                move |sample| few(sample, 50) / few(sample, 1),
            ),
            Quantity::new(
                "450 proxies ÷ 50",
                "",
                Claim::Near {
                    paper: 1.0,
                    within: 0.1,
                    neutral: 2.0,
                },
                move |sample| many(sample, PROXIES) / many(sample, 50),
            ),
        ],
        draw: Box::new(move |sample| {
            let offered: Vec<f64> = OFFERED.iter().map(|&n| n as f64).collect();
            vec![crate::pictures::lines(
                "Proxies offered",
                ("proxies", &offered),
                "mPath ÷ TCP, mean",
                &["mPath"],
                |n, _| drawn(sample, OFFERED[n]),
            )]
        }),
    }
}
