//! The table for people.

use crate::Row;
use crate::measure::Measured;
use comfy_table::{CellAlignment, Table, presets};

const HEADER: [&str; 9] = [
    "download",
    "link",
    "Mbit/s",
    "held",
    "%",
    "TCP beside",
    "held",
    "echo mean / p95, ms",
    "held",
];

/// The table, with one line for each case.
pub fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(HEADER);
    for row in rows {
        table.add_row(cells(row));
    }
    for number in 2..HEADER.len() {
        let column = table.column_mut(number).expect("as many as the header has");
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn cells(row: &Row) -> [String; 9] {
    let (untouched, held) = (&row.untouched, &row.held);
    let tcp = |mbps: Option<f64>| mbps.map_or_else(String::new, |mbps| format!("{mbps:.2}"));
    let goodput = |m: &Measured| match &m.broke {
        None => format!("{:.2}", m.goodput_mbps),
        Some(why) => format!("{:.2} ({why})", m.goodput_mbps),
    };
    let echo = |m: &Measured| {
        let outside = format!("{:.0} / {:.0}", m.echo_mean_ms, m.echo_p95_ms);
        match (m.inside_mean_ms, m.inside_p95_ms) {
            (Some(mean), Some(p95)) => format!("{outside}; inside {mean:.0} / {p95:.0}"),
            _ => outside,
        }
    };
    [
        row.case.name(),
        row.case.link.to_string(),
        goodput(untouched),
        goodput(held),
        format!("{:.0}", 100.0 * held.goodput_mbps / untouched.goodput_mbps),
        tcp(untouched.tcp_mbps),
        tcp(held.tcp_mbps),
        echo(untouched),
        echo(held),
    ]
}
