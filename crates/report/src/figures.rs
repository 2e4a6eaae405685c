//! Chooses the figures of a result set.

use crate::colour::Pens;
use crate::digest::digests;
use crate::history::history;
use crate::number::size;
use crate::plot::{Axis, Curve, Figure, Mark, Scale};
use tidegate_scenario::{FetchResult, Quantiles, ResultSet, RunResult};

/// With more runs than this, bars need the full width.
const HALF_WIDTH_RUNS: usize = 4;

/// The figures of a set, in the order of the page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Figures {
    /// The figures that tell the story.
    pub(crate) main: Vec<Figure>,
    /// The figures to look up when the story raises questions.
    pub(crate) more: Vec<Figure>,
}

/// Everything that can be drawn.
pub(crate) fn figures(set: &ResultSet, pens: &Pens) -> Figures {
    let (over_time, mut more) = history(set, pens);
    let mut main = vec![delay_bars(set, pens), trade_off(set, pens)];
    main.extend(fetch_bars(set, pens));
    main.extend(over_time);
    main.retain(|figure| !figure.is_empty());
    more.retain(|figure| !figure.is_empty());
    Figures { main, more }
}

fn delay_bars(set: &ResultSet, pens: &Pens) -> Figure {
    let bars = |quantiles: Quantiles| [quantiles.p50, quantiles.p95, quantiles.p99];
    let curves = digests(set)
        .into_iter()
        .filter_map(|digest| Some((&digest.run.name, bars(digest.queue_ms?))));
    Figure {
        title: "Queueing delay".into(),
        x: Axis::categories(["median", "95th percentile", "99th percentile"]),
        y: Axis::new("ms", Scale::FromZero),
        curves: curves
            .map(|(name, values)| bar_curve(name, pens, values))
            .collect(),
        size: bar_size(set),
    }
}

fn bar_curve(run: &str, pens: &Pens, values: impl IntoIterator<Item = f64>) -> Curve {
    let places = values
        .into_iter()
        .enumerate()
        .map(|(i, value)| (i as f64, value));
    Curve::new(run, pens.of(run), Mark::Bars, places.collect())
}

fn bar_size(set: &ResultSet) -> (u32, u32) {
    if set.runs.len() > HALF_WIDTH_RUNS {
        Figure::WIDE
    } else {
        Figure::HALF
    }
}

fn trade_off(set: &ResultSet, pens: &Pens) -> Figure {
    let dots = digests(set).into_iter().filter_map(|digest| {
        let at = (digest.queue_ms?.p95, digest.goodput_bps? / 1e6);
        let name = &digest.run.name;
        Some(Curve::new(name, pens.of(name), Mark::Dots, vec![at]))
    });
    Figure {
        title: "Goodput against queueing delay (better: up and left)".into(),
        x: Axis::new("95th percentile of queueing delay, ms", Scale::Fit),
        y: Axis::new("Mbit/s", Scale::FromZero),
        curves: dots.collect(),
        size: bar_size(set),
    }
}

/// Median and tail of the time that each object took, a group of bars for each size.
fn fetch_bars(set: &ResultSet, pens: &Pens) -> Vec<Figure> {
    let mut objects: Vec<(&str, u64)> = Vec::new();
    for fetch in set.runs.iter().flat_map(|run| &run.fetches) {
        if !objects.contains(&(&fetch.name, fetch.bytes)) {
            objects.push((&fetch.name, fetch.bytes));
        }
    }
    let workloads = objects.iter().any(|object| object.0 != objects[0].0);
    let names: Vec<String> = objects.iter().map(|o| object_name(*o, workloads)).collect();
    let figure = |title: &str, which: fn(&Quantiles) -> f64| Figure {
        title: title.to_owned(),
        x: Axis::categories(names.clone()),
        y: Axis::new("ms", Scale::FromZero),
        curves: set
            .runs
            .iter()
            .map(|run| fetch_curve(run, pens, &objects, which))
            .collect(),
        size: bar_size(set),
    };
    vec![
        figure("Time to fetch an object, median", |q| q.p50),
        figure("Time to fetch an object, 95th percentile", |q| q.p95),
    ]
}

fn fetch_curve(
    run: &RunResult,
    pens: &Pens,
    objects: &[(&str, u64)],
    which: fn(&Quantiles) -> f64,
) -> Curve {
    let at = |fetch: &FetchResult| {
        let place = objects
            .iter()
            .position(|o| *o == (fetch.name.as_str(), fetch.bytes))?;
        (fetch.count > 0).then(|| (place as f64, which(&fetch.time_ms)))
    };
    let points = run.fetches.iter().filter_map(at).collect();
    Curve::new(&run.name, pens.of(&run.name), Mark::Bars, points)
}

fn object_name((workload, bytes): (&str, u64), with_workload: bool) -> String {
    match (bytes, with_workload) {
        (0, _) => workload.to_owned(),
        (bytes, true) => format!("{workload}, {}", size(bytes)),
        (bytes, false) => size(bytes),
    }
}

#[cfg(test)]
mod tests;
