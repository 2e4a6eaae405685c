use super::{Axis, Curve, Figure, Mark, Scale};
use crate::colour::Pen;
use roxmltree::{Document, Node};

fn figure(curves: Vec<Curve>) -> Figure {
    Figure {
        title: "Delay <&>".into(),
        x: Axis::new("time, s", Scale::FromZero),
        y: Axis::new("ms", Scale::Linear),
        curves,
        size: Figure::WIDE,
    }
}

fn curve(name: &str, index: usize, mark: Mark, points: &[(f64, f64)]) -> Curve {
    Curve::new(name, Pen::nth(index), mark, points.to_vec())
}

/// Elements of that name in a pen's colour.
fn drawn<'a>(document: &'a Document<'a>, tag: &str, index: usize) -> Vec<Node<'a, 'a>> {
    let hex = Pen::nth(index).colour.hex();
    let coloured = move |node: &Node<'_, '_>| {
        [node.attribute("stroke"), node.attribute("fill")].contains(&Some(hex.as_str()))
    };
    document
        .descendants()
        .filter(|n| n.has_tag_name((NS, tag)) && coloured(n))
        .collect()
}

const NS: &str = "http://www.w3.org/2000/svg";

fn number(node: &Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

fn path(node: &Node<'_, '_>) -> Vec<(f64, f64)> {
    let pairs = node.attribute("points").unwrap().split_whitespace();
    pairs
        .map(|pair| {
            let (x, y) = pair.split_once(',').unwrap();
            (x.parse().unwrap(), y.parse().unwrap())
        })
        .collect()
}

/// The curve of a pen; the legend's comes before it.
fn line(document: &Document<'_>, index: usize) -> Vec<(f64, f64)> {
    path(drawn(document, "polyline", index).last().unwrap())
}

fn texts<'a>(document: &'a Document<'a>) -> Vec<(&'a str, f64, f64)> {
    let nodes = document
        .descendants()
        .filter(|node| node.has_tag_name((NS, "text")));
    nodes
        .map(|n| {
            (
                n.text().unwrap_or("").trim(),
                number(&n, "x"),
                number(&n, "y"),
            )
        })
        .collect()
}

/// A long line and a short one.
fn two_lines() -> Figure {
    let long: Vec<(f64, f64)> = (0..200)
        .map(|i| (f64::from(i), f64::from(i % 17)))
        .collect();
    figure(vec![
        curve("linux", 0, Mark::Line, &long),
        curve("ti<de>", 1, Mark::Line, &[(0.0, 40.0), (199.0, 0.0)]),
    ])
}

#[test]
fn lines_are_drawn_in_their_colours_with_names_and_axes() {
    let svg = two_lines().svg();
    let document = Document::parse(&svg).unwrap();
    assert_eq!(line(&document, 0).len(), 200);
    let names: Vec<&str> = texts(&document).iter().map(|text| text.0).collect();
    for name in [
        "Delay <&>",
        "linux",
        "ti<de>",
        "time, s",
        "ms",
        "0",
        "40",
        "200",
    ] {
        assert!(names.contains(&name), "{name} not in {names:?}");
    }
}

#[test]
fn larger_is_higher_and_later_is_further_right() {
    let svg = two_lines().svg();
    let document = Document::parse(&svg).unwrap();
    let falling = line(&document, 1);
    let (first, last) = (falling[0], falling[falling.len() - 1]);
    assert!(first.0 < last.0 && first.1 < last.1, "{first:?} {last:?}");
}

#[test]
fn the_legend_does_not_cover_data() {
    let mut figure = two_lines();
    // So many that the legend takes several rows.
    for index in 2..12 {
        figure.curves.push(curve(
            &format!("run number {index}"),
            index,
            Mark::Line,
            &[(0.0, 40.0)],
        ));
    }
    let svg = figure.svg();
    let document = Document::parse(&svg).unwrap();
    let legend = texts(&document)
        .into_iter()
        .filter(|t| t.0.starts_with("run number"));
    let lowest = legend.map(|text| text.2).fold(0.0, f64::max);
    let top = line(&document, 1)[0].1;
    assert!(lowest < top, "legend down to {lowest}, data from {top}");
}

#[test]
fn everything_is_inside_the_picture() {
    let mut figure = two_lines();
    figure.x = figure.x.within(50.0, 100.0);
    figure.y = figure.y.within(1.0, 3.0);
    let svg = figure.svg();
    let document = Document::parse(&svg).unwrap();
    let (width, height) = (f64::from(Figure::WIDE.0 * 2), f64::from(Figure::WIDE.1 * 2));
    for (x, y) in drawn(&document, "polyline", 0).iter().flat_map(path) {
        assert!(
            (0.0..=width).contains(&x) && (0.0..=height).contains(&y),
            "{x} {y}"
        );
    }
}

#[test]
fn a_hundred_thousand_points_become_a_small_picture_with_its_spike() {
    let mut points: Vec<(f64, f64)> = (0..100_000).map(|i| (f64::from(i), 1.0)).collect();
    points[31_415].1 = 1000.0;
    let svg = figure(vec![curve("linux", 0, Mark::Line, &points)]).svg();
    assert!(svg.len() < 200_000, "{}", svg.len());
    let document = Document::parse(&svg).unwrap();
    let path = line(&document, 0);
    let ground = path[0].1;
    assert_eq!(path.iter().filter(|point| point.1 < ground).count(), 1);
}

#[test]
fn bars_stand_side_by_side_as_high_as_their_values() {
    let bars = Figure {
        x: Axis::categories(["p50", "p95"]),
        y: Axis::new("ms", Scale::FromZero),
        size: Figure::HALF,
        ..figure(vec![
            curve("linux", 0, Mark::Bars, &[(0.0, 100.0), (1.0, 400.0)]),
            curve("drwa", 1, Mark::Bars, &[(0.0, 50.0), (1.0, 200.0)]),
        ])
    };
    let svg = bars.svg();
    let document = Document::parse(&svg).unwrap();
    // The first rectangle of each colour is the legend's.
    let of = |index| {
        drawn(&document, "rect", index)
            .into_iter()
            .rev()
            .take(2)
            .collect::<Vec<_>>()
    };
    let (linux, drwa) = (of(0), of(1));
    let height = |node: &Node<'_, '_>| number(node, "height");
    assert!((height(&linux[0]) / height(&drwa[0]) - 2.0).abs() < 0.05);
    assert!((height(&linux[0]) / height(&linux[1]) - 4.0).abs() < 0.1);
    let right = number(&linux[0], "x") + number(&linux[0], "width");
    assert!(right <= number(&drwa[0], "x"));
    let said: Vec<&str> = texts(&document).iter().map(|text| text.0).collect();
    assert!(
        ["100", "50.0", "400", "200", "p50", "p95"]
            .iter()
            .all(|t| said.contains(t)),
        "{said:?}"
    );
}

#[test]
fn dots_and_areas_are_drawn() {
    let svg = figure(vec![
        curve("capacity", 0, Mark::Area, &[(0.0, 5.0), (1.0, 7.0)]),
        curve("tide", 1, Mark::Dots, &[(0.5, 6.0), (f64::NAN, 6.0)]),
    ])
    .svg();
    let document = Document::parse(&svg).unwrap();
    assert_eq!(drawn(&document, "polygon", 0).len(), 1);
    // One in the legend, one in the plot.
    assert_eq!(drawn(&document, "circle", 1).len(), 2);
}

#[test]
fn a_dashed_pen_is_told_from_the_plain_one() {
    let index = (0..).find(|index| Pen::nth(*index).dashed).unwrap();
    assert_eq!(Pen::nth(index).colour, Pen::nth(0).colour);
    let svg = figure(vec![curve(
        "late",
        index,
        Mark::Line,
        &[(0.0, 0.0), (9.0, 9.0)],
    )])
    .svg();
    let document = Document::parse(&svg).unwrap();
    assert!(drawn(&document, "polyline", index).len() > 10);
    let svg = figure(vec![curve("late", index, Mark::Dots, &[(0.0, 0.0)])]).svg();
    let document = Document::parse(&svg).unwrap();
    assert_eq!(
        drawn(&document, "circle", index)[0].attribute("fill"),
        Some("none")
    );
}

#[test]
fn an_empty_figure_says_so() {
    let empty = figure(vec![curve("linux", 0, Mark::Line, &[])]);
    assert!(empty.is_empty());
    let svg = empty.svg();
    let document = Document::parse(&svg).unwrap();
    assert!(
        texts(&document)
            .iter()
            .any(|text| text.0 == "nothing was recorded")
    );
}

#[test]
fn the_same_figure_is_the_same_bytes() {
    assert_eq!(two_lines().svg(), two_lines().svg());
}
