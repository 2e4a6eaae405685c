//! Everything side by side on one interface: nobody has less than without the law, and queues are short.

mod draft;
mod draw;
mod families;
mod judge;
mod kernel;
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
const MIXES: usize = 19;
const QUICK_MIXES: usize = 2;

/// The figure.
///
/// # Errors
/// When a mix makes no sense.
pub fn figure(extent: &Extent) -> Result<Figure> {
    let mixes: Arc<[Mix]> = mixes(extent)?.into();
    let mut figure = over(mixes.clone());
    if extent.lab {
        figure.quantities.extend(details(&mixes));
    }
    Ok(figure)
}

fn over(mixes: Arc<[Mix]>) -> Figure {
    Figure {
        id: "mixes",
        title: "Everything side by side on one interface",
        claim: "Whatever else is on the link: in all nothing less comes than with untouched Linux, no flow has less than \
                Linux gives it or than its fair share, and queues are short wherever they stand.",
        method: "Mixes drawn from families, each from its own name: links of 5 Mbit/s to 1 Gbit/s, constant ones and cells, base \
                 RTTs of 1 to 300 ms, senders (CUBIC, in a third of the mixes BBR), numbers and starts. One law on one \
                 interface steers all flows. Numbers count from 10 s after the last start for 50 s, for 200 of the longest \
                 round trips if these are longer, on fast links for less. A flow is entitled to the smaller of what Linux gives it \
                 and its max-min fair share of what the links could carry; what short flows fetched is all that they asked \
                 for. A link is a bottleneck where these shares fill it. A queue of 2 ms and two packets is short, \
                 whatever Linux's was; so is what windows of two packets leave standing.",
        cases: mixes.iter().flat_map(cases).collect(),
        quantities: quantities(&mixes),
        draw: Box::new(move |sample| pictures::all(&judged(sample, &mixes))),
    }
}

fn mixes(extent: &Extent) -> Result<Vec<Mix>> {
    if extent.lab {
        return kernel::sample();
    }
    let count = if extent.quick { QUICK_MIXES } else { MIXES };
    let families = families::ALL.iter();
    let draws = families.flat_map(|family| (1..=count).map(move |number| (family, number)));
    draws
        .map(|(family, number)| Mix::draw(family, number))
        .collect()
}

fn cases(mix: &Mix) -> [Case; 2] {
    contenders(mix).map(|contender| mix.case(contender))
}

/// Untouched Linux, and tide.
fn contenders(mix: &Mix) -> [Contender; 2] {
    [Contender::linux(mix.sender), Contender::tide(mix.sender)]
}

/// A mix, and what was found in it.
struct Judged<'a> {
    mix: &'a Mix,
    findings: Vec<Finding>,
}

impl<'a> Judged<'a> {
    fn new(sample: &Sample, mix: &'a Mix) -> Self {
        let [linux, tide] = contenders(mix).map(|contender| Outcome::read(sample, mix, contender));
        Self {
            mix,
            findings: judge(mix, &linux, &tide),
        }
    }

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
    mixes.iter().map(|mix| Judged::new(sample, mix)).collect()
}

fn quantities(mixes: &Arc<[Mix]>) -> Vec<Quantity> {
    let criteria = Criterion::ALL.into_iter();
    let each = criteria.flat_map(|criterion| by(criterion, mixes));
    [complaints(mixes)].into_iter().chain(each).collect()
}

/// In how many mixes any criterion is broken.
fn complaints(mixes: &Arc<[Mix]>) -> Quantity {
    let [counted, listed] = [mixes.clone(), mixes.clone()];
    let count = mixes.len() as f64;
    Quantity::new(
        format!("of {count} mixes, in how many somebody may complain"),
        "mixes",
        Claim::at_most(0.0, count),
        move |sample| {
            let complains = |judged: &&Judged| Criterion::ALL.iter().any(|&c| judged.complains(c));
            judged(sample, &counted).iter().filter(complains).count() as f64
        },
    )
    .listing(move |sample| tables::families(&judged(sample, &listed)))
}

/// How many mixes break a criterion, and how far.
fn by(criterion: Criterion, mixes: &Arc<[Mix]>) -> [Quantity; 3] {
    let [counted, listed, middle, last] = [(); 4].map(|()| mixes.clone());
    let words = criterion.words();
    let bound = criterion.bound();
    let beyond = if criterion.rises() { "below" } else { "above" };
    let count = mixes.len() as f64;
    [
        Quantity::new(
            format!("{words}: mixes {beyond} {bound}"),
            "mixes",
            Claim::at_most(0.0, count),
            move |sample| {
                let judged = judged(sample, &counted);
                judged.iter().filter(|j| j.complains(criterion)).count() as f64
            },
        )
        .listing(move |sample| tables::exceptions(criterion, &judged(sample, &listed))),
        ratio(format!("{words}: median"), criterion, move |sample| {
            quantiles(ratios(criterion, &judged(sample, &middle))).p50
        }),
        ratio(format!("{words}: worst"), criterion, move |sample| {
            worst(criterion, &judged(sample, &last))
        }),
    ]
}

/// Each mix by itself, as far as a criterion asks anything of it: its worst.
fn details(mixes: &Arc<[Mix]>) -> Vec<Quantity> {
    let detail = |nth: usize, criterion: Criterion| {
        let own = mixes.clone();
        let name = format!(
            "{}, {}: {}",
            own[nth].name,
            own[nth].sender,
            criterion.words()
        );
        ratio(name, criterion, move |sample| {
            worst(criterion, &[Judged::new(sample, &own[nth])])
        })
    };
    let of_mix = |nth| {
        let asked = [Criterion::Total, Criterion::Flow];
        asked.map(|criterion| detail(nth, criterion))
    };
    (0..mixes.len()).flat_map(of_mix).collect()
}

fn ratio(
    name: String,
    criterion: Criterion,
    read: impl Fn(&Sample) -> f64 + Send + Sync + 'static,
) -> Quantity {
    let bound = criterion.bound();
    let claim = match criterion.rises() {
        true => Claim::at_least(bound, 0.0),
        // Linux's own queue or time is no effect; where that passes, twice as much is none.
        false if bound < 1.0 => Claim::at_most(bound, 1.0),
        false => Claim::at_most(bound, 2.0 * bound),
    };
    Quantity::new(name, "", claim, read)
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

#[cfg(test)]
mod tests;
