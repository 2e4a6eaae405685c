//! The mixes at a glance: shares of flows and mixes, and queues.

use super::Judged;
use super::judge::{Criterion, Finding};
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};

/// Linux's pen and tide's, as in the other figures.
const LINUX: usize = 2;
const TIDE: usize = 1;

/// Limits of the axis of shares; values beyond are drawn at its ends.
const SHARES: (f64, f64) = (0.1, 10.0);

/// The same for the totals.
const TOTALS: (f64, f64) = (0.0, 1.2);

/// The same for queues in ms.
const QUEUES_MS: (f64, f64) = (0.5, 5000.0);

/// All pictures.
pub fn all(judged: &[Judged]) -> Vec<plot::Figure> {
    let shares = sorted(
        "Each flow's goodput ÷ what it is entitled to",
        "% of the flows, every mix weighing the same",
        Axis::new("", Scale::Log),
        SHARES,
        &ratios(Criterion::Flow, judged),
    );
    let totals = sorted(
        "Each mix's goodput ÷ Linux's",
        "% of the mixes",
        Axis::new("", Scale::FromZero),
        TOTALS,
        &ratios(Criterion::Total, judged),
    );
    let queues = [
        ("Mean queue of the access link", Criterion::Access),
        ("Mean queue of a bottleneck elsewhere", Criterion::Elsewhere),
        ("BBR: mean queue of a bottleneck", Criterion::Bbr),
    ];
    let queues = queues.map(|(title, criterion)| queue(title, criterion, judged));
    [shares, totals].into_iter().chain(queues).collect()
}

/// A ratio with Linux, that with tide, and how much they weigh.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Weighed {
    linux: f64,
    tide: f64,
    weight: f64,
}

/// All findings by a criterion, with the same weight for every mix.
fn ratios(criterion: Criterion, judged: &[Judged]) -> Vec<Weighed> {
    let of_mix = |judged: &Judged| -> Vec<Weighed> {
        let weight = 1.0 / judged.by(criterion).count() as f64;
        let weighed = |finding: &Finding| Weighed {
            linux: finding.linux[0] / finding.measure[0],
            tide: finding.ratio(),
            weight,
        };
        judged.by(criterion).map(weighed).collect()
    };
    judged.iter().flat_map(of_mix).collect()
}

/// Linux's ratios and tide's, each in ascending order.
fn sorted(
    title: &str,
    of: &str,
    y: Axis,
    (low, high): (f64, f64),
    all: &[Weighed],
) -> plot::Figure {
    let curve = |label, nth, read: fn(&Weighed) -> f64| {
        let values = all.iter().map(|weighed| (read(weighed), weighed.weight));
        let points = ascending(values.collect());
        let drawn = points.into_iter().map(|(x, y)| (x, y.clamp(low, high)));
        Curve::new(label, Pen::nth(nth), Mark::Line, drawn.collect())
    };
    plot::Figure {
        title: title.into(),
        x: Axis::new(of, Scale::FromZero).within(0.0, 100.0),
        y: y.within(low, high),
        curves: vec![
            curve("Linux", LINUX, |weighed| weighed.linux),
            curve("tide", TIDE, |weighed| weighed.tide),
        ],
        size: plot::Figure::HALF,
    }
}

/// Values over the percentage of all weight that does not exceed them.
fn ascending(mut weighed: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    weighed.retain(|(value, _)| !value.is_nan());
    weighed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: f64 = weighed.iter().map(|(_, weight)| weight).sum();
    let mut below = 0.0;
    let point = |(value, weight): (f64, f64)| {
        below += weight;
        (100.0 * below / all, value)
    };
    weighed.into_iter().map(point).collect()
}

/// The mean queues by that criterion, tide's over Linux's; points below the line pass.
fn queue(title: &str, criterion: Criterion, judged: &[Judged]) -> plot::Figure {
    let (low, high) = QUEUES_MS;
    let findings = judged.iter().flat_map(|judged| judged.by(criterion));
    let dot = |finding: &Finding| {
        (
            finding.linux[0].clamp(low, high),
            finding.ours.clamp(low, high),
        )
    };
    let dots = findings.map(dot).collect();
    let bound = criterion.bound();
    let ends = [low.max(low / bound), high].map(|at| (at, at * bound));
    let axis = |host| Axis::new(format!("{host}, ms"), Scale::Log).within(low, high);
    plot::Figure {
        title: title.into(),
        x: axis("untouched Linux"),
        y: axis("tide"),
        curves: vec![
            Curve::new(
                format!("× {bound}"),
                Pen::nth(LINUX),
                Mark::Line,
                ends.into(),
            ),
            Curve::new("a bottleneck", Pen::nth(TIDE), Mark::Dots, dots),
        ],
        size: plot::Figure::HALF,
    }
}
