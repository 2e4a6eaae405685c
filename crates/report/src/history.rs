//! What was recorded over time, drawn over time.

use crate::colour::{Colour, Pen, Pens};
use crate::plot::{Axis, Curve, Figure, Mark, Scale};
use crate::quantity::Quantity;
use crate::ruler::lattice_above;
use tidegate_scenario::{ResultSet, RunResult, Series};

/// What the link could have carried, where that was recorded: drawn behind the goodput.
const CAPACITY: &str = "capacity_bps";
const CAPACITY_COLOUR: Colour = crate::svg::GRID;

/// A rate is averaged over about this share of the time shown: in shorter bins it only flickers.
const RATE_SHARE: f64 = 1.0 / 150.0;

/// With more runs than that, the largest values would hide the means of others.
const MOST_SHADOWS: usize = 4;

/// A figure for each quantity that was recorded; if a run has several flows with it, one for each
/// run, on the same axes.
pub(crate) fn history(set: &ResultSet, pens: &Pens) -> Vec<Figure> {
    let times = set
        .runs
        .iter()
        .flat_map(|run| &run.series)
        .flat_map(|series| &series.t_s);
    let end_s = times
        .copied()
        .filter(|t| t.is_finite())
        .fold(0.0, f64::max)
        .ceil();
    let stage = Stage { set, pens, end_s };
    quantities(set)
        .iter()
        .flat_map(|quantity| stage.figures(quantity))
        .collect()
}

/// What was recorded, without what is drawn together with something else.
fn quantities(set: &ResultSet) -> Vec<Quantity> {
    let mut names: Vec<&str> = Vec::new();
    for series in set.runs.iter().flat_map(|run| &run.series) {
        if !names.contains(&series.quantity.as_str()) {
            names.push(&series.quantity);
        }
    }
    names.sort_by_key(|name| Quantity::rank(name));
    let all: Vec<Quantity> = names.into_iter().map(Quantity::named).collect();
    let goodput = all.iter().any(|quantity| quantity.name == "goodput_bps");
    let shadow = |name: &str| all.iter().any(|q| q.shadow() == Some(name));
    let alone = |q: &&Quantity| !(shadow(&q.name) || (goodput && q.name == CAPACITY));
    all.iter().filter(alone).cloned().collect()
}

/// What all figures of a set have in common.
struct Stage<'a> {
    set: &'a ResultSet,
    pens: &'a Pens,
    end_s: f64,
}

impl Stage<'_> {
    fn figures(&self, quantity: &Quantity) -> Vec<Figure> {
        let runs = &self.set.runs;
        if runs
            .iter()
            .all(|run| recorded(run, &quantity.name).count() <= 1)
        {
            vec![self.together(quantity)]
        } else {
            let axis = quantity.axis().suiting(&self.values(quantity));
            runs.iter()
                .map(|run| self.panel(run, quantity, &axis))
                .collect()
        }
    }

    /// All runs in one figure.
    fn together(&self, quantity: &Quantity) -> Figure {
        let runs = &self.set.runs;
        let pen = |run: &RunResult| self.pens.of(&run.name);
        let shadows = runs
            .iter()
            .filter(|_| runs.len() <= MOST_SHADOWS)
            .flat_map(|run| self.shadow(run, quantity, pen(run)));
        let own = runs.iter().flat_map(|run| {
            let one = recorded(run, &quantity.name);
            one.map(move |s| Curve::new(&run.name, pen(run), Mark::Line, self.points(s, quantity)))
        });
        let curves = self
            .capacity(runs, quantity)
            .into_iter()
            .chain(shadows)
            .chain(own);
        self.figure(
            quantity,
            "",
            quantity.axis(),
            curves.collect(),
            Figure::WIDE,
        )
    }

    /// The flows of one run, told apart by shades of its colour.
    fn panel(&self, run: &RunResult, quantity: &Quantity, axis: &Axis) -> Figure {
        let count = recorded(run, &quantity.name).count();
        let pen = self.pens.of(&run.name);
        let flows = recorded(run, &quantity.name)
            .enumerate()
            .map(|(index, series)| Curve {
                label: series.flow.clone(),
                pen: pen.shade(index, count),
                mark: Mark::Line,
                points: self.points(series, quantity),
            });
        let capacity = self
            .capacity(std::slice::from_ref(run), quantity)
            .into_iter();
        let curves = capacity.chain(flows).collect();
        self.figure(quantity, &run.name, axis.clone(), curves, Figure::STRIP)
    }

    fn figure(
        &self,
        quantity: &Quantity,
        run: &str,
        y: Axis,
        curves: Vec<Curve>,
        size: (u32, u32),
    ) -> Figure {
        let mut title = quantity.title.clone();
        if quantity.is_rate() {
            title = format!("{title}, means of {} s", self.bin_s());
        }
        if curves.iter().any(|c| c.label.is_empty()) {
            title = format!("{title} (faint: the largest of each moment)");
        }
        if !run.is_empty() {
            title = format!("{run}: {title}");
        }
        let x = Axis::new("time, s", Scale::FromZero).within(0.0, self.end_s);
        Figure {
            title,
            x,
            y,
            curves,
            size,
        }
    }

    /// The run's largest values behind its means.
    fn shadow(&self, run: &RunResult, quantity: &Quantity, pen: Pen) -> Option<Curve> {
        let series = recorded(run, quantity.shadow()?).next()?;
        Some(Curve {
            label: String::new(),
            // The faintest shade there is.
            pen: pen.shade(1, 2),
            mark: Mark::Line,
            points: self.points(series, quantity),
        })
    }

    /// The link's capacity behind the goodput, from the first run that recorded it.
    fn capacity(&self, runs: &[RunResult], quantity: &Quantity) -> Option<Curve> {
        let series = runs.iter().find_map(|run| recorded(run, CAPACITY).next())?;
        (quantity.name == "goodput_bps").then(|| Curve {
            label: "what the link could carry".into(),
            pen: CAPACITY_COLOUR.into(),
            mark: Mark::Area,
            points: self.points(series, quantity),
        })
    }

    fn points(&self, series: &Series, quantity: &Quantity) -> Vec<(f64, f64)> {
        let scaled = series
            .t_s
            .iter()
            .zip(&series.value)
            .map(|(t, v)| (*t, v * quantity.factor));
        let scaled: Vec<(f64, f64)> = scaled.collect();
        if quantity.is_rate() {
            means(&scaled, self.bin_s())
        } else {
            scaled
        }
    }

    fn values(&self, quantity: &Quantity) -> Vec<f64> {
        let capacity = self.capacity(&self.set.runs, quantity);
        let series = self
            .set
            .runs
            .iter()
            .flat_map(|run| recorded(run, &quantity.name));
        let points = series.flat_map(|s| self.points(s, quantity));
        points
            .chain(capacity.into_iter().flat_map(|c| c.points))
            .map(|point| point.1)
            .collect()
    }

    /// Seconds over which rates are averaged.
    fn bin_s(&self) -> f64 {
        lattice_above(self.end_s.max(1.0) * RATE_SHARE)
    }
}

fn recorded<'a>(run: &'a RunResult, quantity: &'a str) -> impl Iterator<Item = &'a Series> {
    run.series
        .iter()
        .filter(move |series| series.quantity == quantity && !series.t_s.is_empty())
}

/// The mean of the values in each bin of `bin_s` seconds, at the middle of the bin.
fn means(points: &[(f64, f64)], bin_s: f64) -> Vec<(f64, f64)> {
    let bin = |t: f64| (t / bin_s).floor();
    let finite = points
        .iter()
        .copied()
        .filter(|(t, v)| t.is_finite() && v.is_finite());
    let finite: Vec<(f64, f64)> = finite.collect();
    let mean = |chunk: &[(f64, f64)]| {
        let sum: f64 = chunk.iter().map(|point| point.1).sum();
        ((bin(chunk[0].0) + 0.5) * bin_s, sum / chunk.len() as f64)
    };
    finite
        .chunk_by(|a, b| bin(a.0) == bin(b.0))
        .map(mean)
        .collect()
}

#[cfg(test)]
mod tests;
