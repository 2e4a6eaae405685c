//! Cellular links: ABC beside the paper's other schemes, and the effect of its feedback.

use super::links::{Link, Scheme};
use crate::means::mean;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_study::{Claim, Figure, Listing, Quantity, Sample};

/// Tolerance of ours, as a share of the paper's number.
const WITHIN: f64 = 0.2;

/// Table 1, ABC: mean use of the links in percent, and the mean 95th percentile of the delay in ms.
const ABC: [f64; 2] = [78.0, 242.0];

/// Table 1: throughput and 95th percentile of the delay ÷ ABC's, means over the links, with the reason why ours
/// differ.
const OTHERS: [(Scheme, [f64; 2], &str); 5] = [
    (Scheme::CubicCodel, [0.67, 0.84], CODEL),
    (Scheme::Copa, [0.66, 0.85], COPA),
    (Scheme::Cubic, [1.18, 4.78], LINKS),
    (Scheme::Bbr, [0.96, 2.83], BBR),
    (Scheme::Sprout, [0.55, 1.08], SPROUT),
];

fn near(paper: f64, neutral: f64) -> Claim {
    Claim::Near {
        paper,
        within: WITHIN * paper,
        neutral,
    }
}

/// Mean use of the links in percent, and the mean 95th percentile of the delay in ms.
fn reached(sample: &Sample, links: &[Link], scheme: Scheme) -> [f64; 2] {
    let of = |read: fn(&tidegate_scenario::RunResult) -> f64| {
        mean(
            links
                .iter()
                .map(|link| sample.mean(&link.case_name(scheme), read)),
        )
    };
    [
        of(|run| 100.0 * run.link.utilisation),
        of(|run| run.link.queue_delay_ms.p95),
    ]
}

/// Table 1.
pub fn schemes(links: &Arc<[Link]>) -> Figure {
    let all = || std::iter::once(Scheme::Abc).chain(OTHERS.map(|(scheme, ..)| scheme));
    let cases = links
        .iter()
        .flat_map(|link| all().map(|scheme| link.case(scheme)));
    let [one, other, listed, drawn] = [links.clone(), links.clone(), links.clone(), links.clone()];
    let mut quantities = vec![
        Quantity::new("ABC: use of the links", "%", near(ABC[0], 0.0), move |s| {
            reached(s, &one, Scheme::Abc)[0]
        })
        .because(LINKS)
        .listing(move |s| listing(s, &listed)),
        Quantity::new(
            "ABC: 95th percentile of the delay",
            "ms",
            near(ABC[1], 0.0),
            move |s| reached(s, &other, Scheme::Abc)[1],
        )
        .because(DELAY),
    ];
    for (scheme, printed, reason) in OTHERS {
        for (nth, what) in ["throughput", "95th percentile of the delay"]
            .into_iter()
            .enumerate()
        {
            let links = links.clone();
            quantities.push(
                Quantity::new(
                    format!("{}: {what} ÷ ABC's", scheme.name()),
                    "",
                    near(printed[nth], 1.0),
                    move |s| reached(s, &links, scheme)[nth] / reached(s, &links, Scheme::Abc)[nth],
                )
                .because(reason),
            );
        }
    }
    Figure {
        id: "table-1",
        title: "ABC beside others over cellular links",
        claim: "ABC uses 78 % of the links with a 95th percentile of the delay of 242 ms; Cubic+Codel has 0.67 of its throughput, so \
                that ABC has 50 % more (abstract), and CUBIC 4.8 times its delay.",
        method: "Means over the links, then ratios. PCC-Vivace, XCP and Verus are not among the rivals here.",
        cases: cases.collect(),
        quantities,
        draw: Box::new(move |sample| {
            let dots = all().enumerate().map(|(nth, scheme)| {
                let [used, delay] = reached(sample, &drawn, scheme);
                Curve::new(
                    scheme.name(),
                    Pen::nth(nth),
                    Mark::Dots,
                    vec![(delay, used)],
                )
            });
            vec![plot::Figure {
                title: "Use of the links over delay: left and high is good".into(),
                x: Axis::new("95th percentile of the delay, ms", Scale::Log),
                y: Axis::new("use of the links, %", Scale::FromZero),
                curves: dots.collect(),
                size: plot::Figure::HALF,
            }]
        }),
    }
}

fn listing(sample: &Sample, links: &[Link]) -> Listing {
    let all = || std::iter::once(Scheme::Abc).chain(OTHERS.map(|(scheme, ..)| scheme));
    let rows = links.iter().flat_map(|link| {
        all().map(|scheme| {
            let [used, delay] = reached(sample, std::slice::from_ref(link), scheme);
            vec![
                link.name.as_str().into(),
                scheme.name().into(),
                used.into(),
                delay.into(),
            ]
        })
    });
    Listing {
        title: "Every link".into(),
        heads: [
            "",
            "",
            "use of the link, %",
            "95th percentile of the delay, ms",
        ]
        .map(str::to_owned)
        .into(),
        rows: rows.collect(),
    }
}

/// Fig. 2.
pub fn feedback(links: &Arc<[Link]>) -> Figure {
    let variants = [Scheme::Abc, Scheme::AbcByArrivals];
    let cases = links
        .iter()
        .flat_map(|link| variants.map(|scheme| link.case(scheme)));
    let [one, other] = [links.clone(), links.clone()];
    let ratio = |nth: usize, links: Arc<[Link]>| {
        move |s: &Sample| {
            reached(s, &links, Scheme::AbcByArrivals)[nth] / reached(s, &links, Scheme::Abc)[nth]
        }
    };
    Figure {
        id: "fig-2",
        title: "What the target rate is compared with",
        claim: "Feedback from the rate at which packets arrive at the queue, rather than leave it, doubles the 95th percentile of the \
                delay.",
        method: "The same links, ABC with either.",
        cases: cases.collect(),
        quantities: vec![
            Quantity::new(
                "95th percentile of the delay, by arrivals ÷ by departures",
                "",
                near(2.0, 1.0),
                ratio(1, one),
            )
            .because(FEEDBACK),
            Quantity::new("throughput, likewise", "", near(1.0, 0.0), ratio(0, other)),
        ],
        draw: Box::new(|_| Vec::new()),
    }
}

const LINKS: &str = "other links: three of the paper's eight recordings are missing, or, without recordings, all of them";
const CODEL: &str = LINKS;
const COPA: &str = LINKS;
const BBR: &str = LINKS;
const SPROUT: &str = "our Sprout is the more careful the longer the round trip is, of which 100 ms are most of what its forecast reaches ahead";
const FEEDBACK: &str = LINKS;
const DELAY: &str = "other links; and if the paper's delays have the 50 ms of the way in them, ours would be 50 ms longer";
