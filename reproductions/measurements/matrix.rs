//! Confusion matrix of buffers, on links that were not used in development.

use super::buffers::{CURVES, FEW_LOSSES};
use super::links::{Kind, Known, held_out};
use super::read::numbers;
use crate::pictures::bars;
use std::sync::Arc;
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

/// The figure.
pub fn figure(extent: &Extent) -> Figure {
    let links: Arc<[Known]> = held_out(if extent.quick { 5 } else { 8 }).into();
    let share = |name: &str, unit, claim, read: fn(&Sample, &[Known]) -> f64| {
        let links = links.clone();
        Quantity::new(name, unit, claim, move |sample| read(sample, &links)).because(FEW_LOSSES)
    };
    let mut quantities = vec![
        share(
            "unit and policy right",
            "%",
            Claim::at_least(100.0, 50.0),
            |sample, links| {
                percent(sample, links, |link, found| {
                    found.kind == Some(link.truth.kind)
                })
            },
        ),
        share(
            "size within 10 %",
            "%",
            Claim::at_least(100.0, 50.0),
            |sample, links| {
                percent(sample, links, |link, found| {
                    (found.size / link.truth.size - 1.0).abs() <= 0.1
                })
            },
        ),
        share(
            "bursts right",
            "%",
            Claim::at_least(100.0, 50.0),
            |sample, links| {
                percent(sample, links, |link, found| {
                    (found.period_ms - link.carries.period_ms()).abs() < 0.1
                })
            },
        ),
        share(
            "largest difference of a size",
            "%",
            Claim::at_most(10.0, 50.0),
            |sample, links| {
                let errors = links.iter().flat_map(|link| {
                    let sizes = found(sample, link).into_iter();
                    sizes.map(|found| 100.0 * (found.size / link.truth.size - 1.0).abs())
                });
                errors.fold(0.0, f64::max)
            },
        ),
    ];
    for kind in Kind::ALL {
        let links = links.clone();
        quantities.push(Quantity::new(
            format!("{} taken for it", kind.words()),
            "%",
            Claim::at_least(100.0, 50.0),
            move |sample| {
                let these: Vec<Known> = links
                    .iter()
                    .filter(|l| l.truth.kind == kind)
                    .cloned()
                    .collect();
                percent(sample, &these, |_, found| found.kind == Some(kind))
            },
        ));
    }
    Figure {
        id: "matrix",
        title: "What is taken for what, on links held out",
        claim: "Unit and policy right in every one, size within 10 %, at 0.5 to 50 Mbit/s, 20 to 200 ms, smooth and of changing rate.",
        method: "The estimators were made on other links with other seeds; these were drawn at random, and nothing was fitted to them. The picture \
                 is the confusion matrix: for each kind of buffer, how many links were taken for which.",
        cases: links.iter().map(|link| link.case(&CURVES)).collect(),
        quantities,
        draw: Box::new(move |sample| {
            let names: Vec<String> = Kind::ALL.iter().map(|k| k.words().into()).collect();
            let mut taken: Vec<&str> = Kind::ALL.iter().map(|k| k.words()).collect();
            taken.push("neither");
            vec![bars(
                "Links by what they are, and are taken for",
                "links",
                &names,
                &taken,
                |is, as_what| {
                    let these = links.iter().filter(|l| l.truth.kind == Kind::ALL[is]);
                    let wanted = Kind::ALL.get(as_what).copied();
                    let all = these.flat_map(|l| found(sample, l));
                    all.filter(|f| f.kind == wanted).count() as f64
                },
            )]
        }),
    }
}

/// The prober's findings on a link in one run.
struct Found {
    kind: Option<Kind>,
    size: f64,
    period_ms: f64,
}

fn found(sample: &Sample, link: &Known) -> Vec<Found> {
    let name = link.name();
    let of = |quantity| numbers(sample, &name, quantity);
    let sizes = of("size").into_iter().zip(of("period_ms"));
    let all = of("kind").into_iter().zip(sizes);
    all.map(|(code, (size, period_ms))| Found {
        kind: (!code.is_nan())
            .then(|| Kind::ALL.get(code as usize).copied())
            .flatten(),
        size,
        period_ms,
    })
    .collect()
}

fn percent(sample: &Sample, links: &[Known], holds: impl Fn(&Known, &Found) -> bool) -> f64 {
    let (mut right, mut all) = (0.0, 0.0);
    for link in links {
        for found in found(sample, link) {
            right += f64::from(holds(link, &found));
            all += 1.0;
        }
    }
    100.0 * right / all
}
