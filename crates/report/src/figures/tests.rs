use super::figures;
use crate::colour::{Pen, Pens};
use crate::fixture::{fetch, full_set, set};
use crate::plot::{Figure, Mark};
use tidegate_scenario::ResultSet;

fn drawn(set: &ResultSet) -> Vec<Figure> {
    let figures = figures(set, &Pens::new(["linux", "tide"]));
    figures.main.into_iter().chain(figures.more).collect()
}

fn titled<'a>(figures: &'a [Figure], start: &str) -> &'a Figure {
    figures
        .iter()
        .find(|figure| figure.title.starts_with(start))
        .unwrap()
}

#[test]
fn numbers_alone_give_bars_and_the_trade_off() {
    let figures = drawn(&set());
    assert_eq!(figures.len(), 2);
    let bars = titled(&figures, "Queueing delay");
    assert_eq!(
        bars.curves[0].points,
        [(0.0, 400.0), (1.0, 1000.0), (2.0, 1200.0)]
    );
    let dots = titled(&figures, "Goodput against");
    assert_eq!(dots.curves[1].points, [(20.0, 19.6)]);
    assert!(dots.curves.iter().all(|curve| curve.mark == Mark::Dots));
}

#[test]
fn a_run_has_one_pen_in_all_figures() {
    for figure in drawn(&full_set()) {
        for curve in figure.curves.iter().filter(|curve| curve.label == "tide") {
            assert_eq!(curve.pen, Pen::nth(1), "{}", figure.title);
        }
    }
}

#[test]
fn fetches_are_grouped_by_object() {
    let mut set = full_set();
    // The first run lacks the object that the second has.
    set.runs[1].fetches.push(fetch("web", 5_000_000, 700.0));
    let figures = drawn(&set);
    let median = titled(&figures, "Time to fetch an object, median");
    assert_eq!(median.x.categories, ["10 kB", "1 MB", "5 MB"]);
    assert_eq!(median.curves[0].points, [(0.0, 800.0), (1.0, 3600.0)]);
    assert_eq!(median.curves[1].points[2], (2.0, 280.0));
    set.runs[1].fetches.push(fetch("ping", 0, 50.0));
    let figures = drawn(&set);
    let median = titled(&figures, "Time to fetch an object, median");
    assert_eq!(median.x.categories[2..], ["web, 5 MB", "ping"]);
}

#[test]
fn what_was_not_measured_is_not_drawn() {
    assert!(drawn(&ResultSet::default()).is_empty());
    let mut bare = set();
    bare.runs
        .iter_mut()
        .for_each(|run| run.link = Default::default());
    assert!(drawn(&bare).is_empty());
}
