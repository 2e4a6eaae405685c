//! The mixes at a glance: what flows and mixes get, and what stands in queues.

use super::Judged;
use super::judge::{Criterion, Finding};
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};

/// Linux's pen and tide's, as in the other figures.
const LINUX: usize = 2;
const TIDE: usize = 1;

/// Criteria of queues, with a pen each.
const QUEUES: [(Criterion, &str, usize); 3] = [
    (Criterion::Elsewhere, "elsewhere", 0),
    (Criterion::Bbr, "BBR senders, any", 5),
    (Criterion::Access, "access link", TIDE),
];

/// Where the axes of ratios end; beyond it is drawn there.
const LEAST: f64 = 0.02;
const MOST: f64 = 50.0;

/// A shorter queue in ms is drawn as this.
const FLOOR_MS: f64 = 0.1;

/// All pictures.
pub fn all(judged: &[Judged]) -> Vec<plot::Figure> {
    vec![
        sorted(
            "Each flow's goodput ÷ what it is entitled to",
            "% of the flows, every mix weighing the same",
            Criterion::Flow,
            judged,
        ),
        sorted(
            "Each mix's goodput ÷ Linux's",
            "% of the mixes",
            Criterion::Total,
            judged,
        ),
        queues(judged),
    ]
}

/// A criterion's ratios in ascending order, Linux's by the same measure and tide's.
fn sorted(title: &str, of: &str, criterion: Criterion, judged: &[Judged]) -> plot::Figure {
    let curve = |label, nth, read: fn(&Finding) -> f64| {
        let weighed = judged.iter().flat_map(|judged| {
            let weight = 1.0 / judged.by(criterion).count() as f64;
            judged
                .by(criterion)
                .map(move |finding| (read(finding) / finding.measure, weight))
        });
        Curve::new(
            label,
            Pen::nth(nth),
            Mark::Line,
            ascending(weighed.collect()),
        )
    };
    plot::Figure {
        title: title.into(),
        x: Axis::new(of, Scale::FromZero).within(0.0, 100.0),
        y: Axis::new("", Scale::Log).within(LEAST, MOST),
        curves: vec![
            curve("Linux", LINUX, |finding| finding.linux),
            curve("tide", TIDE, |finding| finding.ours),
        ],
        size: plot::Figure::HALF,
    }
}

/// Values over the percentage of all weight that is no larger.
fn ascending(mut weighed: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    weighed.retain(|(value, _)| !value.is_nan());
    weighed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: f64 = weighed.iter().map(|(_, weight)| weight).sum();
    let mut below = 0.0;
    let point = |(value, weight): (f64, f64)| {
        below += weight;
        (100.0 * below / all, value.clamp(LEAST, MOST))
    };
    weighed.into_iter().map(point).collect()
}

/// The mean queue of every bottleneck, tide's over Linux's, and what passes of the access link's.
fn queues(judged: &[Judged]) -> plot::Figure {
    let dots = QUEUES.map(|(criterion, label, nth)| {
        let findings = judged.iter().flat_map(|judged| judged.by(criterion));
        let point = |finding: &Finding| (finding.linux.max(FLOOR_MS), finding.ours.max(FLOOR_MS));
        Curve::new(
            label,
            Pen::nth(nth),
            Mark::Dots,
            findings.map(point).collect(),
        )
    });
    let longest = dots.iter().flat_map(|curve| &curve.points);
    let longest = longest.fold(1.0, |longest: f64, point| longest.max(point.0));
    let lines = [("Linux's", 1.0), ("a fifth", Criterion::Access.bound())].map(|(label, part)| {
        let ends = [FLOOR_MS / part, longest].map(|at| (at, at * part));
        Curve::new(label, Pen::nth(LINUX), Mark::Line, ends.into())
    });
    plot::Figure {
        title: "Mean queue of every bottleneck".into(),
        x: Axis::new("untouched Linux, ms", Scale::Log),
        y: Axis::new("tide, ms", Scale::Log),
        curves: lines.into_iter().chain(dots).collect(),
        size: plot::Figure::WIDE,
    }
}
