//! Everything side by side on one interface: no flow gets less than without the law, and queues are short.

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
pub use mix::Mix;
use outcome::Outcome;
use std::sync::Arc;
use tidegate_measure::quantiles;
use tidegate_study::{Case, Claim, Extent, Figure, Quantity, Sample};

/// Mixes of each family, and with `--quick`.
const MIXES: usize = 19;
const QUICK_MIXES: usize = 2;

/// Criteria that Linux can break beside its own second run. The others ask for shorter queues, which nobody asks of
/// Linux.
const LINUX_ANSWERS_FOR: [Criterion; 4] = [
    Criterion::Total,
    Criterion::Flow,
    Criterion::Fetch,
    Criterion::Bbr,
];

/// The mixes with these numbers, of each family that is about sharing a queue.
///
/// # Errors
/// As [`Mix::draw`].
pub fn few(numbers: std::ops::RangeInclusive<usize>) -> Result<Vec<Mix>> {
    const ABOUT: [&str; 4] = [
        "near bulk beside far bulk",
        "bottleneck elsewhere",
        "home server",
        "VPN beside web",
    ];
    let families = families::ALL.iter();
    let families = families.filter(|family| ABOUT.contains(&family.name));
    let mixes = families.flat_map(|family| numbers.clone().map(move |n| Mix::draw(family, n)));
    mixes.collect()
}

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
                 whatever Linux's was; so is what windows of two packets leave standing. Linux is run twice, the second time with \
                 starts some hundredths of a second later: what is broken beside one run only lies within what chance \
                 alone does to Linux.",
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

/// tide and untouched Linux, which is run a second time: no law answers for differences that chance alone makes.
fn cases(mix: &Mix) -> [Case; 3] {
    let [linux, tide] = contenders(mix);
    [mix.case(linux), mix.later().case(linux), mix.case(tide)]
}

/// Untouched Linux, and tide.
fn contenders(mix: &Mix) -> [Contender; 2] {
    [Contender::linux(mix.sender), Contender::tide(mix.sender)]
}

/// A mix with its findings.
struct Judged<'a> {
    mix: &'a Mix,
    findings: Vec<Finding>,
}

impl<'a> Judged<'a> {
    /// tide compared with Linux's two runs.
    fn tide(sample: &Sample, mix: &'a Mix) -> Self {
        let [linux, tide] = contenders(mix);
        let runs = [mix, &mix.later()].map(|mix| Outcome::read(sample, mix, linux));
        let ours = Outcome::read(sample, mix, tide);
        let findings = judge(mix, runs.each_ref(), &ours);
        Self { mix, findings }
    }

    /// Linux's second run compared with its first.
    fn linux(sample: &Sample, mix: &'a Mix) -> Self {
        let [linux, _] = contenders(mix);
        let [first, other] = [mix, &mix.later()].map(|mix| Outcome::read(sample, mix, linux));
        let findings = judge(mix, [&first, &first], &other);
        Self { mix, findings }
    }

    /// The findings by that criterion.
    fn by(&self, criterion: Criterion) -> impl Iterator<Item = &Finding> {
        let by = move |finding: &&Finding| finding.criterion == criterion;
        self.findings.iter().filter(by)
    }

    /// Whether a flow or link fails that criterion.
    fn complains(&self, criterion: Criterion) -> bool {
        self.by(criterion).any(|finding| !finding.passes())
    }

    /// The same compared with each of Linux's runs.
    fn complains_beside_both(&self, criterion: Criterion) -> bool {
        let mut findings = self.by(criterion);
        findings.any(|finding| !finding.passes_beside_either())
    }
}

/// tide in every mix.
fn judged<'a>(sample: &Sample, mixes: &'a [Mix]) -> Vec<Judged<'a>> {
    mixes.iter().map(|mix| Judged::tide(sample, mix)).collect()
}

fn quantities(mixes: &Arc<[Mix]>) -> Vec<Quantity> {
    let criteria = Criterion::ALL.into_iter();
    let each = criteria.flat_map(|criterion| by(criterion, mixes));
    complaints(mixes).into_iter().chain(each).collect()
}

/// In how many mixes any criterion fails.
fn complaints(mixes: &Arc<[Mix]>) -> [Quantity; 2] {
    let [ours, linux] = [mixes.clone(), mixes.clone()];
    let count = mixes.len();
    let all = format!("of {count} mixes, in how many somebody may complain");
    let both = format!("{all} beside both runs of Linux");
    [
        counting(all, mixes, |judged| {
            Criterion::ALL.iter().any(|&c| judged.complains(c))
        })
        .listing(move |sample| {
            tables::families("Families", &Criterion::ALL, &judged(sample, &ours))
        }),
        counting(both, mixes, |judged| {
            let mut all = Criterion::ALL.iter();
            all.any(|&c| judged.complains_beside_both(c))
        })
        .listing(move |sample| {
            let again: Vec<Judged> = linux.iter().map(|m| Judged::linux(sample, m)).collect();
            tables::families("Untouched Linux beside itself", &LINUX_ANSWERS_FOR, &again)
        }),
    ]
}

/// How many mixes fail a criterion, and by how much.
fn by(criterion: Criterion, mixes: &Arc<[Mix]>) -> [Quantity; 4] {
    let [listed, middle, last] = [(); 3].map(|()| mixes.clone());
    let words = criterion.words();
    let beyond = if criterion.rises() { "below" } else { "above" };
    let all = format!("{words}: mixes {beyond} {}", criterion.bound());
    let both = format!("{all} beside both runs of Linux");
    [
        counting(all, mixes, move |judged| judged.complains(criterion))
            .listing(move |sample| tables::exceptions(criterion, &judged(sample, &listed))),
        counting(both, mixes, move |judged| {
            judged.complains_beside_both(criterion)
        }),
        ratio(format!("{words}: median"), criterion, move |sample| {
            quantiles(ratios(criterion, &judged(sample, &middle))).p50
        }),
        ratio(format!("{words}: worst"), criterion, move |sample| {
            worst(criterion, &judged(sample, &last))
        }),
    ]
}

/// A count of mixes that should be 0.
fn counting(
    name: String,
    mixes: &Arc<[Mix]>,
    complains: impl Fn(&Judged) -> bool + Send + Sync + 'static,
) -> Quantity {
    let mixes = mixes.clone();
    let claim = Claim::at_most(0.0, mixes.len() as f64);
    Quantity::new(name, "mixes", claim, move |sample| {
        let judged = judged(sample, &mixes).into_iter();
        judged.filter(|judged| complains(judged)).count() as f64
    })
}

/// Each mix by itself, with its worst finding by a criterion.
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
            worst(criterion, &[Judged::tide(sample, &own[nth])])
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
        // "No effect" is Linux's own queue or time; for a criterion that allows this, it is twice the bound.
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
