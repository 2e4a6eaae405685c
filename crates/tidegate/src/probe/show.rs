//! The results for a terminal.

use super::tables::{Grid, grids, ways};
use tidegate_probe::results::{Devices, Minutes, Results};
use tidegate_terminal::units;
use tidegate_terminal::{Style, Table};

/// The tables and sentences.
pub fn text(results: &Results) -> String {
    let tables: String = grids(results).iter().map(table).collect();
    format!("{tables}{}\n", sentences(results).join("\n"))
}

fn table(grid: &Grid) -> String {
    let mut table = Table::new(Style::Horizontal);
    // The first table needs no title.
    let title = if grid.heads.contains(&"downlink") || grid.heads.contains(&"uplink") {
        ""
    } else {
        grid.title
    };
    table.heads(std::iter::once(title).chain(grid.heads.iter().copied()));
    for (what, cells) in &grid.rows {
        table.row(std::iter::once(what).chain(cells));
    }
    format!("{table}\n")
}

/// Results that do not fit into columns.
fn sentences(results: &Results) -> Vec<String> {
    let mut said = vec![measured(results)];
    said.extend(missing(results));
    said.extend(further(results));
    for (name, way) in ways(results) {
        said.push(format!("steering, {name}: {}", way.gain_words()));
    }
    said
}

/// Which server was measured against, and how much data that took.
pub fn measured(results: &Results) -> String {
    format!(
        "{}: least round trip {:.1} ms, {} sent",
        results.server,
        results.base_rtt_ms,
        units::bytes(results.bytes)
    )
}

/// Requested results that are missing, and why.
pub fn missing(results: &Results) -> Vec<String> {
    let under_load = ["down", "up"]
        .into_iter()
        .zip(results.responsiveness.iter().flatten());
    let of_ways = under_load.flat_map(|(way, found)| {
        let missing = found.missing.iter();
        missing.map(move |what| format!("missing: responsiveness {way}: {what}"))
    });
    let tests = results
        .missing
        .iter()
        .map(|what| format!("missing: {what}"));
    of_ways.chain(tests).collect()
}

/// The clocks' difference, what devices share, and how the rate changed.
pub fn further(results: &Results) -> Vec<String> {
    let clock = results.clock.map(|clock| {
        format!(
            "this clock is {:.1} ms {} the server's (within {:.1}), and {:.1} ppm too {} (within {:.1})",
            clock.ahead_ms.abs(),
            if clock.ahead_ms < 0.0 { "behind" } else { "ahead of" },
            clock.ahead_within_ms,
            clock.skew_ppm.abs(),
            if clock.skew_ppm < 0.0 { "slow" } else { "fast" },
            clock.skew_within_ppm
        )
    });
    let devices = results.devices.as_ref().map(Devices::words);
    let minutes = results.minutes.as_ref().map(Minutes::words);
    [clock, devices, minutes].into_iter().flatten().collect()
}
