//! What stands behind the numbers: the families, and every exception.

use super::judge::{Criterion, Finding};
use super::{Judged, ratios, worst};
use std::collections::BTreeMap;
use tidegate_measure::quantiles;
use tidegate_reproduce::{Entry, Listing};

/// A row for each family: how many mixes may complain of what, and the median and the worst of each.
pub fn families(judged: &[Judged]) -> Listing {
    let criteria = Criterion::ALL.map(|criterion| {
        let sense = if criterion.rises() { "≥" } else { "≤" };
        format!("{} ({sense} {})", criterion.words(), criterion.bound())
    });
    let heads = ["family", "mixes"].map(String::from).into_iter();
    let family = |of: &[Judged]| {
        let start = [of[0].mix.family.into(), of.len().into()];
        let each = Criterion::ALL.map(|criterion| cell(criterion, of));
        start.into_iter().chain(each).collect()
    };
    Listing {
        title: "Families: complaints; median, worst".into(),
        heads: heads.chain(criteria).collect(),
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

/// A row for each workload or link of a mix that breaks the criterion, with its worst flow.
pub fn exceptions(criterion: Criterion, judged: &[Judged]) -> Listing {
    let unit = criterion.unit();
    Listing {
        title: format!("{}: every exception", criterion.words()),
        heads: [
            "mix", "sender", "of", "broken", "Linux", "measure", "tide", "ratio",
        ]
        .map(|head| match head {
            "Linux" | "measure" | "tide" => format!("{head}, {unit}"),
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
            worst.linux.into(),
            worst.measure.into(),
            worst.ours.into(),
            worst.ratio().into(),
        ])
    };
    workloads.into_iter().filter_map(row).collect()
}
