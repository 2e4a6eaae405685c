//! Pictures that several figures draw.

use tidegate_report::colour::Pen;
use tidegate_report::plot::{Axis, Curve, Figure, Mark, Scale};
use tidegate_study::Sample;

/// A bar for each of `groups` × `series`, `value(group, series)` high.
pub fn bars(
    title: &str,
    unit: &str,
    groups: &[String],
    series: &[&str],
    value: impl Fn(usize, usize) -> f64,
) -> Figure {
    let curves = series.iter().enumerate().map(|(s, name)| {
        let points = (0..groups.len()).map(|g| (g as f64, value(g, s)));
        Curve::new(*name, Pen::nth(s), Mark::Bars, points.collect())
    });
    Figure {
        title: title.into(),
        x: Axis::categories(groups.iter().map(String::as_str)),
        y: Axis::new(unit, Scale::FromZero),
        curves: curves.collect(),
        size: if groups.len() * series.len() > 8 {
            Figure::WIDE
        } else {
            Figure::HALF
        },
    }
}

/// A line over `x` for each of `series`, with `value(x index, series)`.
pub fn lines(
    title: &str,
    x: (&str, &[f64]),
    unit: &str,
    series: &[&str],
    value: impl Fn(usize, usize) -> f64,
) -> Figure {
    let curves = series.iter().enumerate().map(|(s, name)| {
        let points = x.1.iter().enumerate().map(|(i, &at)| (at, value(i, s)));
        Curve::new(*name, Pen::nth(s), Mark::Line, points.collect())
    });
    Figure {
        title: title.into(),
        x: Axis::new(x.0, Scale::Linear),
        y: Axis::new(unit, Scale::FromZero),
        curves: curves.collect(),
        size: Figure::HALF,
    }
}

/// A curve over time of each case, of the first seed.
pub fn history(
    sample: &Sample,
    title: &str,
    quantity: &'static str,
    unit: &str,
    cases: &[(&str, String)],
) -> Figure {
    let curves = cases.iter().enumerate().map(|(n, (label, case))| {
        Curve::new(
            *label,
            Pen::nth(n),
            Mark::Line,
            sample.curve(case, quantity),
        )
    });
    Figure {
        title: title.into(),
        x: Axis::new("time, s", Scale::FromZero),
        y: Axis::new(unit, Scale::FromZero),
        curves: curves.collect(),
        size: Figure::STRIP,
    }
}

/// The cumulative distribution of each of `series`.
pub fn cumulative(title: &str, x: Axis, series: Vec<(String, Vec<f64>)>) -> Figure {
    let curves = series
        .into_iter()
        .enumerate()
        .map(|(n, (label, values))| Curve::new(label, Pen::nth(n), Mark::Line, steps(values)));
    Figure {
        title: title.into(),
        x,
        y: Axis::new("%", Scale::FromZero).within(0.0, 100.0),
        curves: curves.collect(),
        size: Figure::HALF,
    }
}

/// A staircase that rises at each value.
fn steps(mut values: Vec<f64>) -> Vec<(f64, f64)> {
    values.sort_by(f64::total_cmp);
    let each = 100.0 / values.len() as f64;
    let stair = |(n, value)| [(value, n as f64 * each), (value, (n + 1) as f64 * each)];
    values.into_iter().enumerate().flat_map(stair).collect()
}

/// A dot for each pair, in the colour of its series.
pub fn scatter(title: &str, x: Axis, y: Axis, series: Vec<(String, Vec<(f64, f64)>)>) -> Figure {
    let curves = series
        .into_iter()
        .enumerate()
        .map(|(n, (label, points))| Curve::new(label, Pen::nth(n), Mark::Dots, points));
    Figure {
        title: title.into(),
        x,
        y,
        curves: curves.collect(),
        size: Figure::HALF,
    }
}
