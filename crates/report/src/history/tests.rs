use super::{history, means};
use crate::colour::{Pen, Pens};
use crate::fixture::{flow, full_set, series};
use crate::plot::{Figure, Mark};
use tidegate_scenario::{FlowDirection, FlowResult, ResultSet, Series};

fn drawn(set: &ResultSet) -> Vec<Figure> {
    let (main, more) = history(set, &Pens::new(["linux", "tide"]));
    main.into_iter().chain(more).collect()
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
fn the_agent_is_seen_against_the_truth_of_its_own_run() {
    let mut set = full_set();
    for (run, rtt) in set.runs.iter_mut().zip([900.0, 60.0]) {
        run.series.push(series("true_rtt_ms", "", rtt));
    }
    assert!(titles(&drawn(&set)).contains(&"Round-trip time that the link made"));
    set.runs[1]
        .series
        .push(series("agent_rtt_ms", "bulk", 61.0));
    let figures = drawn(&set);
    assert!(!titles(&figures).contains(&"Round-trip time that the link made"));
    let title = "tide: The agent's RTT against the truth";
    let figure = figures.iter().find(|figure| figure.title == title).unwrap();
    let starts: Vec<_> = figure
        .curves
        .iter()
        .map(|c| (c.label.as_str(), c.points[0].1))
        .collect();
    assert_eq!(starts, [("truth", 60.0), ("bulk", 61.0)]);
    assert!(!titles(&figures).contains(&"linux: The agent's RTT against the truth"));
}

#[test]
fn a_ping_has_a_figure_of_its_own_beside_the_flows() {
    let mut set = full_set();
    for run in &mut set.runs {
        let echo = FlowResult {
            direction: FlowDirection::Echo,
            ..flow("ping", 0.0, 90.0)
        };
        run.flows.push(echo);
        run.series.push(series("rtt_ms", "ping", 80.0));
    }
    let figures = drawn(&set);
    assert_eq!(
        titles(&figures)[1..3],
        ["Round-trip time at the sender", "Round trip of ping"]
    );
    for (figure, start) in figures[1..3].iter().zip([1040.0, 80.0]) {
        assert_eq!(figure.curves.len(), 2);
        assert_eq!(figure.curves[0].points[0].1, start);
    }
}

#[test]
fn what_is_only_looked_up_is_kept_apart() {
    let mut set = full_set();
    set.runs[0].series.extend([
        series("kernel_rtt_ms", "bulk", 7.0),
        series("novel_ms", "", 7.0),
    ]);
    let (main, more) = history(&set, &Pens::default());
    assert_eq!(main.len(), 5);
    assert_eq!(
        titles(&more),
        ["RTT that the receiver's kernel saw", "Novel"]
    );
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
