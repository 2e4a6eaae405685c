use super::tables;
use crate::fixture::{flow, full_set, quantiles, set};
use crate::grid::Grid;
use tidegate_scenario::{
    AdaptiveResult, ArrivalsResult, FlowClassResult, FlowDirection, FlowResult, HopResult,
    LinkResult, ResultSet, VideoResult,
};

/// The cell of a run (or the first cell of a row) in the column of a quantity and statistic.
fn cell(grid: &Grid, row: usize, quantity: &str, statistic: &str, unit: &str) -> String {
    let column = grid
        .heads
        .iter()
        .position(|head| (head.quantity, head.statistic, head.unit) == (quantity, statistic, unit));
    let column = column.unwrap_or_else(|| panic!("no column {quantity} {statistic} {unit}"));
    grid.rows[row][column].clone().unwrap_or_default()
}

fn titles(set: &ResultSet) -> Vec<&'static str> {
    tables(set).iter().map(|grid| grid.title).collect()
}

fn titled(set: &ResultSet, title: &str) -> Grid {
    tables(set)
        .into_iter()
        .find(|grid| grid.title == title)
        .unwrap()
}

#[test]
fn the_main_table_holds_values_and_ratios() {
    let grid = titled(&set(), "");
    let delay = |row, statistic, unit| cell(&grid, row, "queueing delay", statistic, unit);
    assert_eq!(cell(&grid, 0, "goodput", "", "Mbit/s"), "20.00");
    assert_eq!(cell(&grid, 1, "goodput", "vs 1st", "%"), "98.0");
    assert_eq!(cell(&grid, 1, "RTT", "p50", "ms"), "24.0");
    assert_eq!(cell(&grid, 1, "RTT", "p95", "ms"), "60.0");
    let all = ["mean", "p50", "p95", "p99"].map(|statistic| delay(1, statistic, "ms"));
    assert_eq!(all, ["10.0", "8.0", "20.0", "24.0"]);
    assert_eq!(delay(0, "vs 1st", "%"), "100.0");
    assert_eq!(delay(1, "vs 1st", "%"), "2.0");
    assert_eq!(cell(&grid, 0, "utilisation", "", "%"), "98.7");
    assert_eq!(cell(&grid, 0, "drops", "", ""), "321");
    assert_eq!(cell(&grid, 0, "retransmits", "", ""), "7");
}

#[test]
fn what_no_run_has_gets_no_column() {
    let heads = |set: &ResultSet| titled(set, "").heads;
    let has = |set: &ResultSet, name: &str| heads(set).iter().any(|head| head.quantity == name);
    let mut set = set();
    for absent in ["completion", "losses", "Jain's index", "other way"] {
        assert!(!has(&set, absent), "{absent}");
    }
    let upload = FlowResult {
        direction: FlowDirection::Up,
        ..flow("up", 2.0, 90.0)
    };
    set.runs[1]
        .flows
        .extend([flow("second", 19.6, 60.0), upload]);
    set.runs[1].link.losses = 4;
    for present in ["losses", "Jain's index", "other way"] {
        assert!(has(&set, present), "{present}");
    }
    let grid = titled(&set, "");
    assert_eq!(cell(&grid, 1, "Jain's index", "", ""), "1.000");
    assert_eq!(cell(&grid, 0, "Jain's index", "", ""), "");
    assert_eq!(cell(&grid, 1, "other way", "", "Mbit/s"), "2.00");
}

#[test]
fn a_first_run_without_traffic_gives_no_ratio() {
    let mut set = set();
    set.runs[0].flows[0].goodput_bps = 0.0;
    let grid = titled(&set, "");
    assert!(
        !grid
            .heads
            .iter()
            .any(|h| h.quantity == "goodput" && h.statistic == "vs 1st")
    );
}

#[test]
fn secondary_tables_appear_when_there_is_something_in_them() {
    assert_eq!(titles(&set()), [""]);
    let full = full_set();
    assert_eq!(
        titles(&full),
        [
            "",
            "Fetches",
            "The agent's RTT against the truth",
            "Health of the runs"
        ]
    );
    let mut several = set();
    several.runs[0].flows.push(flow("late", 1.0, 900.0));
    assert_eq!(titles(&several), ["", "Flows"]);
    assert_eq!(titles(&ResultSet::default()), [""; 0]);
}

#[test]
fn an_echo_has_a_round_trip_and_no_goodput() {
    let mut set = set();
    let echo = FlowResult {
        direction: FlowDirection::Echo,
        ..flow("ping", 0.0, 90.0)
    };
    set.runs[0].flows.push(echo);
    let flows = titled(&set, "Flows");
    assert_eq!(cell(&flows, 1, "RTT", "p95", "ms"), "90.0");
    assert_eq!(cell(&flows, 1, "goodput", "", "Mbit/s"), "");
    assert_eq!(cell(&flows, 1, "retransmits", "", ""), "");
    assert_eq!(cell(&flows, 0, "retransmits", "", ""), "7");
}

#[test]
fn fetches_of_one_size_stand_together_and_are_compared() {
    let grid = titled(&full_set(), "Fetches");
    let rows = |quantity, statistic, unit| -> Vec<String> {
        (0..grid.rows.len())
            .map(|row| cell(&grid, row, quantity, statistic, unit))
            .collect()
    };
    assert_eq!(rows("run", "", ""), ["linux", "tide", "linux", "tide"]);
    assert_eq!(rows("size", "", ""), ["10 kB", "10 kB", "1 MB", "1 MB"]);
    assert_eq!(rows("count", "", ""), ["40"; 4]);
    assert_eq!(
        rows("time", "p95", "ms"),
        ["2000.0", "40.0", "9000.0", "180.0"]
    );
    assert_eq!(
        rows("time", "vs 1st", "%"),
        ["100.0", "2.0", "100.0", "2.0"]
    );
}

#[test]
fn accuracy_and_health_are_told() {
    let full = full_set();
    let agent = titled(&full, "The agent's RTT against the truth");
    assert_eq!(agent.rows.len(), 1);
    assert_eq!(cell(&agent, 0, "run", "", ""), "tide");
    assert_eq!(cell(&agent, 0, "error", "median", "ms"), "0.84");
    assert_eq!(cell(&agent, 0, "error", "median", "%"), "1.40");
    let health = titled(&full, "Health of the runs");
    assert_eq!(cell(&health, 0, "timing error", "p99", "ms"), "0.300");
    assert_eq!(cell(&health, 0, "CPU", "emulator", "%"), "12.5");
    assert_eq!(cell(&health, 0, "plumbing losses", "", "lost"), "0");
}

#[test]
fn videos_and_further_links_are_told() {
    let mut set = set();
    set.runs[1].videos.push(VideoResult {
        name: "film".into(),
        startup_s: None,
        stalls: 3,
        stalled_s: 12.25,
        played_s: 47.0,
        adaptive: Some(AdaptiveResult {
            segments: 12,
            bitrate_bps: 2.5e6,
            switches: 4,
            qoe: 24.0,
            qoe_per_segment: 2.0,
        }),
    });
    set.runs[1].hops.push(HopResult {
        name: "core".into(),
        link: LinkResult {
            delivered_bps: 48e6,
            drops: 17,
            ..LinkResult::default()
        },
    });
    let videos = titled(&set, "Videos");
    assert_eq!(cell(&videos, 0, "run", "", ""), "tide");
    assert_eq!(cell(&videos, 0, "stalls", "", ""), "3");
    assert_eq!(cell(&videos, 0, "bit rate", "", "Mbit/s"), "2.50");
    assert_eq!(cell(&videos, 0, "QoE", "", ""), "2.000");
    let hops = titled(&set, "Further links");
    assert_eq!(cell(&hops, 0, "hop", "", ""), "core");
    assert_eq!(cell(&hops, 0, "delivered", "", "Mbit/s"), "48.00");
    assert_eq!(cell(&hops, 0, "drops", "", ""), "17");
}

#[test]
fn completion_times_are_told_by_size() {
    let class = |from_bytes, below_bytes, started, finished| FlowClassResult {
        from_bytes,
        below_bytes,
        started,
        finished,
        fct_ms: quantiles(100.0 * finished as f64),
        slowdown: quantiles(10.0 * finished as f64),
    };
    let mut set = set();
    set.runs[1].arrivals.push(ArrivalsResult {
        name: "search".into(),
        direction: FlowDirection::Up,
        offered_bps: 3e6,
        goodput_bps: 2e6,
        from_s: 2.0,
        to_s: 30.0,
        all: class(0, None, 9, 6),
        classes: vec![
            class(0, Some(10_000), 5, 5),
            class(10_000, Some(100_000), 0, 0),
            class(100_000, None, 4, 1),
        ],
    });
    let grid = titled(&set, "Flow completion times");
    let of = |row, quantity, statistic, unit| cell(&grid, row, quantity, statistic, unit);
    // Sizes without a flow have no row.
    let sizes: Vec<_> = (0..grid.rows.len())
        .map(|row| of(row, "sizes", "", ""))
        .collect();
    assert_eq!(sizes, ["all", "< 10 kB", "≥ 100 kB"]);
    assert_eq!(of(0, "flows", "", ""), "9");
    assert_eq!(of(0, "unfinished", "", ""), "3");
    assert_eq!(of(2, "FCT", "p95", "ms"), "100.0");
    assert_eq!(of(1, "slowdown", "mean", ""), "25.00");
    // They are among the other direction's.
    let summary = titled(&set, "");
    assert_eq!(cell(&summary, 1, "other way", "", "Mbit/s"), "2.00");
}

#[test]
fn thousands_of_flows_get_no_table() {
    let mut set = set();
    set.runs[0].flows = (0..1000)
        .map(|n| flow(&format!("bulk#{n}"), 0.02, 90.0))
        .collect();
    assert_eq!(titles(&set), [""]);
}
