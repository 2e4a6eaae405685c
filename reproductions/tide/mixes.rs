//! Everything side by side on one interface: nobody has less than without the law, and queues are short.

mod draft;
mod draw;
mod families;
mod judge;
mod mix;
mod outcome;
mod pictures;
mod share;
mod tables;

use super::contenders::Contender;
use crate::means::{least, most};
use anyhow::Result;
use judge::{Criterion, Finding, judge};
use mix::Mix;
use outcome::Outcome;
use std::sync::Arc;
use tidegate_measure::quantiles;
use tidegate_reproduce::{Case, Claim, Extent, Figure, Quantity, Sample};

/// Mixes of each family, and with `--quick`.
const MIXES: usize = 20;
const QUICK_MIXES: usize = 2;

/// The figure.
///
/// # Errors
/// When a mix makes no sense.
pub fn figure(extent: &Extent) -> Result<Figure> {
    let count = if extent.quick { QUICK_MIXES } else { MIXES };
    let mixes: Arc<[Mix]> = mixes(count)?.into();
    Ok(Figure {
        id: "mixes",
        title: "Everything side by side on one interface",
        claim: "Whatever else is on the link: in all nothing less comes than with untouched Linux, no flow has less than \
                Linux gives it or than its fair share, and queues are short wherever they stand.",
        method: "Mixes drawn from families, each from its own name: links, base RTTs of 1 to 300 ms, senders (CUBIC, a third \
                 of the mixes BBR), numbers and starts. All flows are steered by one law on one interface. Numbers count from \
                 10 s after the last start for 50 s, for 200 of the longest round trips if that is longer, and on fast \
                 links for less, at least 20 s. A flow is entitled to the smaller of what Linux gives it and its max-min fair \
                 share of what the links carried; a link is a bottleneck where these shares fill it. A queue below 2 ms and \
                 two packets is short, whatever Linux's was.",
        cases: mixes.iter().flat_map(cases).collect(),
        quantities: quantities(&mixes),
        draw: Box::new(move |sample| pictures::all(&judged(sample, &mixes))),
    })
}

fn mixes(count: usize) -> Result<Vec<Mix>> {
    let families = families::ALL.iter();
    let draws = families.flat_map(|family| (1..=count).map(move |number| (family, number)));
    draws
        .map(|(family, number)| Mix::draw(family, number))
        .collect()
}

fn cases(mix: &Mix) -> [Case; 2] {
    let sender = mix.sender;
    [Contender::linux(sender), Contender::tide(sender)].map(|contender| mix.case(contender))
}

/// A mix, and what was found in it.
struct Judged<'a> {
    mix: &'a Mix,
    findings: Vec<Finding>,
}

impl Judged<'_> {
    /// What was found by that criterion.
    fn by(&self, criterion: Criterion) -> impl Iterator<Item = &Finding> {
        let by = move |finding: &&Finding| finding.criterion == criterion;
        self.findings.iter().filter(by)
    }

    /// Whether somebody may complain by that criterion.
    fn complains(&self, criterion: Criterion) -> bool {
        self.by(criterion).any(|finding| !finding.passes())
    }
}

fn judged<'a>(sample: &Sample, mixes: &'a [Mix]) -> Vec<Judged<'a>> {
    let judged = |mix: &'a Mix| {
        let [linux, tide] = [Contender::linux, Contender::tide]
            .map(|contender| Outcome::read(sample, mix, contender(mix.sender)));
        Judged {
            mix,
            findings: judge(mix, &linux, &tide),
        }
    };
    mixes.iter().map(judged).collect()
}

fn quantities(mixes: &Arc<[Mix]>) -> Vec<Quantity> {
    let whole = mixes.clone();
    let families = mixes.clone();
    let count = mixes.len() as f64;
    let complaints = Quantity::new(
        format!("of {count} mixes, in how many somebody may complain"),
        "mixes",
        Claim::at_most(0.0, count),
        move |sample| {
            let complains = |judged: &&Judged| Criterion::ALL.iter().any(|&c| judged.complains(c));
            judged(sample, &whole).iter().filter(complains).count() as f64
        },
    )
    .listing(move |sample| tables::families(&judged(sample, &families)));
    let criteria = Criterion::ALL.into_iter();
    [complaints]
        .into_iter()
        .chain(criteria.flat_map(|criterion| by(criterion, mixes)))
        .collect()
}

/// How many mixes break a criterion, and how far.
fn by(criterion: Criterion, mixes: &Arc<[Mix]>) -> [Quantity; 3] {
    let [counted, listed, middle, last] = [(); 4].map(|()| mixes.clone());
    let words = criterion.words();
    let (bound, terms) = (
        criterion.bound(),
        if criterion.rises() { "below" } else { "above" },
    );
    let count = mixes.len() as f64;
    // Where not even the direction is right: twice the bound, or nothing at all.
    let claim = match criterion.rises() {
        true => Claim::at_least(bound, 0.0),
        false => Claim::at_most(bound, (2.0 * bound).max(1.0)),
    };
    [
        Quantity::new(
            format!("{words}: mixes {terms} {bound}"),
            "mixes",
            Claim::at_most(0.0, count),
            move |sample| {
                let judged = judged(sample, &counted);
                judged.iter().filter(|j| j.complains(criterion)).count() as f64
            },
        )
        .listing(move |sample| tables::exceptions(criterion, &judged(sample, &listed))),
        Quantity::new(format!("{words}: median"), "", claim, move |sample| {
            quantiles(ratios(criterion, &judged(sample, &middle))).p50
        }),
        Quantity::new(format!("{words}: worst"), "", claim, move |sample| {
            worst(criterion, &judged(sample, &last))
        }),
    ]
}

fn ratios(criterion: Criterion, judged: &[Judged]) -> Vec<f64> {
    let findings = judged.iter().flat_map(|judged| judged.by(criterion));
    let ratios = findings.map(Finding::ratio);
    ratios.filter(|ratio| !ratio.is_nan()).collect()
}

fn worst(criterion: Criterion, judged: &[Judged]) -> f64 {
    let ratios = ratios(criterion, judged).into_iter();
    match criterion.rises() {
        true => least(ratios),
        false => most(ratios),
    }
}
