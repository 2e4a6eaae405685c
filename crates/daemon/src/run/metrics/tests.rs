use super::{Measured, text};
use crate::account::Way;
use crate::compare::Compared;
use crate::fixtures::{START_US, download, quic, snapshot};
use crate::spread::Spread;
use crate::udp::HoldCounts;
use std::collections::BTreeSet;
use tidegate_agent::{Direction, Histograms, HoldView, Holding, TableView, WindowlessView};

#[path = "../../../../tidegate/tests/sight/lint.rs"]
mod lint;

/// Every metric: of a hold, of the tables of flows, and of a comparison, too.
fn exposition() -> String {
    let mut look = snapshot(START_US, vec![download(1, 9000, START_US)]);
    look.hold = Some(HoldCounts::default());
    look.tables = vec![TableView {
        direction: Direction::Down,
        size: 1000,
        used: 1,
        pushed_out: 0,
    }];
    let spread = |p95_us| Spread {
        median_us: p95_us / 2,
        p95_us,
        packets: 900,
    };
    look.account.ways = vec![Way {
        direction: Direction::Down,
        bytes: 40_000,
        queue: None,
        kinds: Vec::new(),
        left: Vec::new(),
        compared: Some(Compared {
            pairs: 3,
            slots_us: 30_000_000,
            with: spread(40_000),
            without: spread(800_000),
        }),
    }];
    text(Measured {
        snapshot: look,
        histograms: [Histograms::default(), Histograms::default()],
    })
}

#[test]
fn the_exposition_is_sound_and_names_no_flow() {
    let text = exposition();
    lint::check(&text);
    for (line, value) in [
        ("tidegate_build_info{version=\"1.2.3\"}", 1.0),
        ("tidegate_law{law=\"tide\"}", 1.0),
        ("tidegate_dry_run", 0.0),
        ("tidegate_paused", 0.0),
        ("tidegate_uptime_seconds", 90.0),
        ("tidegate_attached{interface=\"wwan0\"}", 1.0),
        (
            "tidegate_packets_total{direction=\"down\",reason=\"measured\"}",
            3.0,
        ),
        (
            "tidegate_packet_bytes_total{direction=\"down\",reason=\"measured\"}",
            4500.0,
        ),
        (
            "tidegate_path_queue_seconds{interface=\"wwan0\",direction=\"down\"}",
            0.03,
        ),
        // 125 kB in 50 ms.
        (
            "tidegate_group_forecast_bytes_per_second{interface=\"wwan0\",direction=\"down\",place=\"1\"}",
            2.5e6,
        ),
        ("tidegate_flows{direction=\"down\",state=\"steered\"}", 1.0),
        ("tidegate_table_size{direction=\"down\"}", 1000.0),
        (
            "tidegate_compared_queue_seconds{direction=\"down\",steering=\"without\",quantile=\"0.95\"}",
            0.8,
        ),
    ] {
        let of = |sample: &str| sample.strip_prefix(line)?.trim().parse::<f64>().ok();
        let found = text.lines().find_map(of);
        let found = found.unwrap_or_else(|| panic!("no {line} in\n{text}"));
        assert!(
            (found - value).abs() < 1e-9 * value.max(1.0),
            "{line} {found}"
        );
    }
}

#[test]
fn what_is_held_is_counted_by_state() {
    let mut look = snapshot(START_US, vec![]);
    let way = |at_us| WindowlessView {
        hold: Some(HoldView::without_record(Holding::Unanswered)),
        ..quic(1_000_000, at_us)
    };
    // The last flow has been idle for long.
    look.windowless = vec![way(START_US), way(START_US), way(START_US - 20_000_000)];
    look.hold = Some(HoldCounts {
        signalled: 7,
        ..HoldCounts::default()
    });
    let text = text(Measured {
        snapshot: look,
        histograms: [Histograms::default(), Histograms::default()],
    });
    lint::check(&text);
    for line in [
        "tidegate_hold_flows{direction=\"down\",state=\"unanswered\"} 2.0",
        "tidegate_hold_flows{direction=\"up\",state=\"unanswered\"} 0.0",
        "tidegate_hold_signalled_packets_total 7",
        "tidegate_hold_gate_gone 0.0",
    ] {
        assert!(text.lines().any(|l| l == line), "no {line} in\n{text}");
    }
}

#[test]
fn every_query_of_the_dashboard_names_an_exported_metric() {
    let dashboard = include_str!("../../../../../dashboards/tidegate.json");
    let dashboard: serde_json::Value = serde_json::from_str(dashboard).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|p| p["targets"].as_array().unwrap());
    let queries: Vec<_> = targets.map(|t| t["expr"].as_str().unwrap()).collect();
    let exported = lint::samples(&exposition());
    let mut used = BTreeSet::new();
    for query in &queries {
        let names: Vec<_> = query
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|word| word.starts_with("tidegate_"))
            .collect();
        assert!(!names.is_empty(), "{query}");
        for name in names {
            assert!(exported.contains(name), "{name} of {query}");
            used.insert(name.to_owned());
        }
    }
    assert!(queries.len() > 10 && used.len() > 8, "{used:?}");
}

#[test]
fn the_page_on_metrics_tells_of_every_metric() {
    let page = include_str!("../../../../../docs/metrics.md");
    for name in lint::samples(&exposition()) {
        let name = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|part| name.strip_suffix(part))
            .unwrap_or(&name);
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
}
