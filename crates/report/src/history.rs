//! Figures of recorded quantities over time.

use crate::colour::{Pen, Pens};
use crate::plot::{Axis, Curve, Figure, Mark, Scale};
use crate::quantity::Quantity;
use crate::ruler::lattice_above;
use tidegate_scenario::{FlowDirection, ResultSet, RunResult, Series};

/// A rate is averaged over about this share of the time shown: shorter bins only flicker.
const RATE_SHARE: f64 = 1.0 / 150.0;

/// With more runs than this, the largest values would hide other runs' means.
const MOST_SHADOWS: usize = 4;

/// The figures that tell the story, and those that are looked up when it raises questions: one for
/// each quantity, or, where a run has several flows with it, one for each run on the same axis.
pub(crate) fn history(set: &ResultSet, pens: &Pens) -> (Vec<Figure>, Vec<Figure>) {
    let series = set.runs.iter().flat_map(|run| &run.series);
    let times = series.flat_map(|series| &series.t_s).copied();
    let end_s = times.filter(|t| t.is_finite()).fold(0.0, f64::max).ceil();
    let charts = Charts { set, pens, end_s };
    let (main, more): (Vec<Quantity>, Vec<Quantity>) =
        quantities(set).into_iter().partition(Quantity::is_main);
    let drawn = |some: &[Quantity]| some.iter().flat_map(|q| charts.figures(q)).collect();
    (drawn(&main), drawn(&more))
}

/// The recorded quantities, without those that are drawn as part of another one.
fn quantities(set: &ResultSet) -> Vec<Quantity> {
    let mut all: Vec<Quantity> = Vec::new();
    for run in &set.runs {
        for series in run.series.iter().filter(|series| !series.t_s.is_empty()) {
            let quantity = match is_echo(run, &series.flow) {
                true => Quantity::echo(&series.flow),
                false => Quantity::named(&series.quantity),
            };
            if !all.contains(&quantity) {
                all.push(quantity);
            }
        }
    }
    all.sort_by_key(|quantity| (Quantity::rank(&quantity.name), quantity.echo.is_some()));
    let behind = |q: &Quantity| [q.shadow(), q.backdrop().map(|b| b.quantity)];
    let accompanying: Vec<&str> = all.iter().flat_map(behind).flatten().collect();
    let alone = |q: &&Quantity| !accompanying.contains(&q.name.as_str());
    all.iter().filter(alone).cloned().collect()
}

fn is_echo(run: &RunResult, flow: &str) -> bool {
    run.flows
        .iter()
        .any(|f| f.name == flow && f.direction == FlowDirection::Echo)
}

/// What all figures of a set share.
struct Charts<'a> {
    set: &'a ResultSet,
    pens: &'a Pens,
    end_s: f64,
}

impl Charts<'_> {
    fn figures(&self, quantity: &Quantity) -> Vec<Figure> {
        let count = |run: &RunResult| recorded(run, quantity).count();
        let runs = &self.set.runs;
        if runs.iter().all(|run| count(run) <= 1) && !quantity.is_apart() {
            return vec![self.together(quantity)];
        }
        let axis = match quantity.is_apart() {
            true => quantity.axis(),
            false => quantity.axis().suiting(&self.values(quantity)),
        };
        let runs = runs.iter().filter(|run| count(run) > 0);
        runs.map(|run| self.strip(run, quantity, &axis)).collect()
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
            let one = recorded(run, quantity);
            one.map(move |s| Curve::new(&run.name, pen(run), Mark::Line, self.points(s, quantity)))
        });
        let curves = self
            .backdrop(runs, quantity)
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
    fn strip(&self, run: &RunResult, quantity: &Quantity, axis: &Axis) -> Figure {
        let count = recorded(run, quantity).count();
        let pen = self.pens.of(&run.name);
        let flows = recorded(run, quantity)
            .enumerate()
            .map(|(index, series)| Curve {
                label: series.flow.clone(),
                pen: pen.shade(index, count),
                mark: Mark::Line,
                points: self.points(series, quantity),
            });
        let behind = self.backdrop(std::slice::from_ref(run), quantity);
        let curves = behind.into_iter().chain(flows).collect();
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
        let largest = Quantity::named(quantity.shadow()?);
        let series = recorded(run, &largest).next()?;
        Some(Curve {
            label: String::new(),
            // The faintest shade there is.
            pen: pen.shade(1, 2),
            mark: Mark::Line,
            points: self.points(series, quantity),
        })
    }

    /// The curve behind the quantity, from the first run that recorded it.
    fn backdrop(&self, runs: &[RunResult], quantity: &Quantity) -> Option<Curve> {
        let behind = quantity.backdrop()?;
        let recorded_as = Quantity::named(behind.quantity);
        let mut all = runs.iter().flat_map(|run| recorded(run, &recorded_as));
        let points = self.points(all.next()?, quantity);
        Some(Curve::new(
            behind.label,
            behind.colour.into(),
            behind.mark,
            points,
        ))
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

    /// All values that figures on a common axis have to show.
    fn values(&self, quantity: &Quantity) -> Vec<f64> {
        let behind = quantity.backdrop().map(|b| Quantity::named(b.quantity));
        let shown = || std::iter::once(quantity).chain(&behind);
        let runs = self.set.runs.iter();
        let series = runs.flat_map(|run| shown().flat_map(move |q| recorded(run, q)));
        let points = series.flat_map(|s| self.points(s, quantity));
        points.map(|point| point.1).collect()
    }

    /// Seconds over which rates are averaged.
    fn bin_s(&self) -> f64 {
        lattice_above(self.end_s.max(1.0) * RATE_SHARE)
    }
}

/// The run's curves of a quantity: one for each flow, or only the ping's.
fn recorded<'a>(run: &'a RunResult, quantity: &'a Quantity) -> impl Iterator<Item = &'a Series> {
    let same = move |series: &&Series| {
        let flow = series.flow.as_str();
        series.quantity == quantity.name
            && !series.t_s.is_empty()
            && match &quantity.echo {
                Some(echo) => echo == flow,
                None => !is_echo(run, flow),
            }
    };
    run.series.iter().filter(same)
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
