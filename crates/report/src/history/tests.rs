use super::{history, means};
use crate::colour::{Pen, Pens};
use crate::fixture::{full_set, series};
use crate::plot::{Figure, Mark};
use tidegate_scenario::{ResultSet, Series};

fn drawn(set: &ResultSet) -> Vec<Figure> {
    history(set, &Pens::new(["linux", "tide"]))
}

fn titles(figures: &[Figure]) -> Vec<&str> {
    figures.iter().map(|figure| figure.title.as_str()).collect()
}

#[test]
fn one_figure_a_quantity_with_all_runs_over_the_same_time() {
    let figures = drawn(&full_set());
    assert_eq!(
        titles(&figures),
        [
            "Queueing delay (faint: the largest of each moment)",
            "Round-trip time at the sender",
            "Advertised window",
            "Goodput, means of 0.2 s",
            "Congestion window",
        ]
    );
    for figure in &figures {
        assert_eq!(figure.x.range, Some((0.0, 20.0)), "{}", figure.title);
        let names = figure.curves.iter().map(|curve| curve.label.as_str());
        let named: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
        assert_eq!(named, ["linux", "tide"], "{}", figure.title);
    }
}

#[test]
fn the_largest_stand_faint_behind_the_means() {
    let figures = drawn(&full_set());
    let curves = &figures[0].curves;
    assert_eq!(curves[1].pen, Pen::nth(1).shade(1, 2));
    assert_eq!((curves[1].points[0].1, curves[3].points[0].1), (30.0, 20.0));
}

#[test]
fn rates_are_averaged_and_in_megabits() {
    let goodput = &drawn(&full_set())[3];
    assert_eq!(goodput.curves[0].points.len(), 100);
    assert!((goodput.curves[0].points[0].1 - 20.0).abs() < 0.5);
}

#[test]
fn means_of_bins_stand_in_their_middles() {
    let points = [
        (0.0, 1.0),
        (0.4, 3.0),
        (1.2, 10.0),
        (1.3, f64::NAN),
        (3.9, 7.0),
    ];
    assert_eq!(means(&points, 1.0), [(0.5, 2.0), (1.5, 10.0), (3.5, 7.0)]);
    assert_eq!(means(&[], 1.0), []);
}

#[test]
fn several_flows_get_a_strip_for_each_run_on_the_same_axis() {
    let mut set = full_set();
    set.runs[0].series.push(series("rtt_ms", "late", 5000.0));
    let figures = drawn(&set);
    let strips: Vec<&Figure> = figures
        .iter()
        .filter(|f| f.title.ends_with("Round-trip time at the sender"))
        .collect();
    assert_eq!(strips.len(), 2);
    assert_eq!(strips[0].curves[1].label, "late");
    assert_ne!(strips[0].curves[0].pen, strips[0].curves[1].pen);
    assert_eq!(strips[0].y.range, strips[1].y.range);
    assert_eq!(strips[0].y.scale, strips[1].y.scale);
    assert!(strips[0].y.range.unwrap().1 >= 5500.0);
}

#[test]
fn capacity_is_the_backdrop_of_goodput_and_a_figure_without_it() {
    let mut set = full_set();
    set.runs[1].series.push(series("capacity_bps", "", 24e6));
    let figures = drawn(&set);
    assert_eq!(figures.len(), 5);
    assert_eq!(figures[3].curves[0].mark, Mark::Area);
    set.runs
        .iter_mut()
        .for_each(|run| run.series.retain(|s| s.quantity == "capacity_bps"));
    assert_eq!(titles(&drawn(&set)), ["Capacity, means of 0.2 s"]);
}

#[test]
fn missing_and_uneven_series_are_passed_over() {
    let mut set = full_set();
    set.runs[0].series.clear();
    assert!(
        drawn(&set)
            .iter()
            .all(|f| f.curves.iter().all(|curve| curve.label != "linux"))
    );
    set.runs[1].series = vec![
        Series {
            quantity: "rtt_ms".into(),
            t_s: vec![1.0, 2.0, 3.0],
            value: vec![7.0],
            ..Series::default()
        },
        Series {
            quantity: "window_bytes".into(),
            ..Series::default()
        },
    ];
    let figures: Vec<Figure> = drawn(&set)
        .into_iter()
        .filter(|figure| !figure.is_empty())
        .collect();
    assert_eq!(titles(&figures), ["Round-trip time at the sender"]);
    assert_eq!(figures[0].curves[0].points, [(1.0, 7.0)]);
}
