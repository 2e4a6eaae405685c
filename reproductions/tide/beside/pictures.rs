//! How the flows share, over time on one path and on all paths.

use super::DURATION_S;
use super::company::Company;
use super::meeting::{Meeting, QUEUE, RATE, companies};
use crate::spans::{BIN_S, seconds};
use std::collections::BTreeMap;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_study::Sample;

/// Both sides' rates and the queue on the first path, and our share on all.
pub fn all(sample: &Sample, meetings: &[Meeting]) -> Vec<plot::Figure> {
    let mut pictures = Vec::new();
    for company in companies(meetings).into_iter().filter(|c| c.is_shown()) {
        let of = meetings.iter().filter(|meeting| meeting.company == company);
        let first = of.clone().next().expect("a meeting of that company");
        pictures.extend(rates(sample, first));
        pictures.push(queues(sample, first));
        pictures.push(shares(sample, company, of));
    }
    pictures
}

/// Our flows' rate and the others', a picture for each contender.
fn rates(sample: &Sample, meeting: &Meeting) -> Vec<plot::Figure> {
    let contenders = meeting.company.contenders().into_iter();
    let picture = |(label, contender, nth)| {
        let case = meeting.beside.by(contender);
        let line = |label: &str, flows: Vec<String>, pen| {
            let curves = flows
                .iter()
                .filter_map(|flow| sample.flow_curves(&case, flow, RATE).next());
            Curve::new(label, pen, Mark::Line, seconds(&total(curves)))
        };
        strip(
            format!("{}: {label}", meeting.beside.name()),
            Axis::new("Mbit/s", Scale::FromZero),
            vec![
                line("the other's", meeting.company.other_flows(), Pen::nth(3)),
                line("ours", meeting.company.our_flows(), Pen::nth(nth)),
            ],
        )
    };
    contenders.map(picture).collect()
}

/// The sum of several flows' curves, each from its own beginning to its own end.
fn total(curves: impl Iterator<Item = Vec<(f64, f64)>>) -> Vec<(f64, f64)> {
    let mut bins = BTreeMap::new();
    for (at_s, value) in curves.flatten() {
        let bin = bins
            .entry((at_s / BIN_S).round() as u64)
            .or_insert((at_s, 0.0));
        bin.1 += value;
    }
    bins.into_values().collect()
}

/// The queue with each contender.
fn queues(sample: &Sample, meeting: &Meeting) -> plot::Figure {
    let contenders = meeting.company.contenders().into_iter();
    let queues = contenders.map(|(label, contender, nth)| {
        let delays = sample.curve(&meeting.beside.by(contender), QUEUE);
        Curve::new(label, Pen::nth(nth), Mark::Line, delays)
    });
    let title = format!("{}: queueing delay", meeting.beside.name());
    strip(title, Axis::new("ms", Scale::Log), queues.collect())
}

fn strip(title: String, y: Axis, curves: Vec<Curve>) -> plot::Figure {
    plot::Figure {
        title,
        x: Axis::new("time, s", Scale::FromZero).within(0.0, DURATION_S),
        y,
        curves,
        size: plot::Figure::STRIP,
    }
}

/// A dot for each path: our share of the link, over the link's rate.
fn shares<'a>(
    sample: &Sample,
    company: Company,
    meetings: impl Iterator<Item = &'a Meeting> + Clone,
) -> plot::Figure {
    let contenders = company.contenders().into_iter();
    let dots = contenders.map(|(label, contender, nth)| {
        let share = |m: &Meeting| (m.beside.path.mean_mbps, m.share(sample, contender));
        let points = meetings.clone().map(share).collect();
        Curve::new(label, Pen::nth(nth), Mark::Dots, points)
    });
    plot::Figure {
        title: format!(
            "{}: our share of the link while both are there, every path",
            company.name
        ),
        x: Axis::new("mean rate of the link, Mbit/s", Scale::Log),
        y: Axis::new("%", Scale::FromZero).within(0.0, 105.0),
        curves: dots.collect(),
        size: plot::Figure::WIDE,
    }
}

#[cfg(test)]
mod tests;
