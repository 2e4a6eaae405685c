//! The lists behind the numbers: the families, and every exception.

use super::judge::{Criterion, Finding};
use super::{Judged, ratios, worst};
use std::collections::BTreeMap;
use tidegate_measure::quantiles;
use tidegate_study::{Entry, Listing};

/// A row for each family: how many mixes fail each criterion, with its median and worst ratio.
pub fn families(title: &str, criteria: &[Criterion], judged: &[Judged]) -> Listing {
    let asked = criteria.iter().map(|criterion| {
        let sense = if criterion.rises() { "≥" } else { "≤" };
        format!("{} ({sense} {})", criterion.words(), criterion.bound())
    });
    let heads = ["family", "mixes"].map(String::from).into_iter();
    let family = |of: &[Judged]| {
        let start = [of[0].mix.family.into(), of.len().into()];
        let each = criteria.iter().map(|&criterion| cell(criterion, of));
        start.into_iter().chain(each).collect()
    };
    Listing {
        title: format!("{title}: complaints; median, worst"),
        heads: heads.chain(asked).collect(),
        rows: judged
            .chunk_by(|one, other| one.mix.family == other.mix.family)
            .map(family)
            .collect(),
    }
}

fn cell(criterion: Criterion, judged: &[Judged]) -> Entry {
    let ratios = ratios(criterion, judged);
    if ratios.is_empty() {
        return "".into();
    }
    let complaints = judged.iter().filter(|j| j.complains(criterion)).count();
    format!(
        "{complaints}; {:.2}, {:.2}",
        quantiles(ratios).p50,
        worst(criterion, judged)
    )
    .into()
}

/// A row for each workload or link of a mix that fails the criterion, with its worst flow, and how many flows or links
/// fail it beside both runs of Linux.
pub fn exceptions(criterion: Criterion, judged: &[Judged]) -> Listing {
    let unit = criterion.unit();
    Listing {
        title: format!("{}: every exception", criterion.words()),
        heads: [
            "mix",
            "sender",
            "of",
            "broken",
            "beside both",
            "Linux",
            "again",
            "measure",
            "tide",
            "ratio",
        ]
        .map(|head| match head {
            "Linux" | "again" | "measure" | "tide" => format!("{head}, {unit}"),
            _ => head.into(),
        })
        .into(),
        rows: judged
            .iter()
            .flat_map(|judged| broken(criterion, judged))
            .collect(),
    }
}

fn broken(criterion: Criterion, judged: &Judged) -> Vec<Vec<Entry>> {
    let mut workloads: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    for finding in judged.by(criterion) {
        let workload = finding.of.split('#').next().unwrap_or_default();
        workloads.entry(workload).or_default().push(finding);
    }
    let row = |(workload, findings): (&str, Vec<&Finding>)| {
        let broken: Vec<&Finding> = findings.iter().copied().filter(|f| !f.passes()).collect();
        let further = |a: &&&Finding, b: &&&Finding| match criterion.rises() {
            true => b.ratio().total_cmp(&a.ratio()),
            false => a.ratio().total_cmp(&b.ratio()),
        };
        let worst = broken.iter().max_by(further)?;
        Some(vec![
            judged.mix.name.as_str().into(),
            judged.mix.sender.into(),
            workload.into(),
            format!("{} of {}", broken.len(), findings.len()).into(),
            broken
                .iter()
                .filter(|f| !f.passes_beside_either())
                .count()
                .into(),
            worst.linux[0].into(),
            worst.linux[1].into(),
            worst.measure[0].into(),
            worst.ours.into(),
            worst.ratio().into(),
        ])
    };
    workloads.into_iter().filter_map(row).collect()
}
