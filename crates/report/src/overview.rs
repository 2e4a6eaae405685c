//! The results of many scenarios on one screen.

use crate::digest::{Digest, digests, ratio};
use crate::grid::{Column, Grid, Head};
use crate::number::{fixed, mbps, percent};
use tidegate_scenario::ResultSet;

/// One run of one scenario, beside the scenario's first.
struct Row<'a> {
    /// Empty below the first row of a scenario.
    scenario: &'a str,
    own: Digest<'a>,
    first: Digest<'a>,
}

/// A line for each run of each set.
pub(crate) fn grid(sets: &[ResultSet]) -> Grid {
    let rows: Vec<Row> = sets.iter().flat_map(rows).collect();
    Grid::new("", &rows, columns())
}

fn columns<'a>() -> Vec<Column<Row<'a>>> {
    let goodput = Head::number("goodput");
    let queue = Head::number("queueing delay").unit("ms");
    vec![
        Head::text("scenario").cell(|r| {
            Some(r.scenario)
                .filter(|s| !s.is_empty())
                .map(str::to_owned)
        }),
        Head::run().cell(|r| Some(r.own.run.name.clone())),
        goodput.unit("Mbit/s").cell(|r| r.own.goodput_bps.map(mbps)),
        goodput
            .statistic("vs 1st")
            .unit("%")
            .cell(|r| ratio(r.own.goodput_bps, r.first.goodput_bps).map(percent)),
        queue
            .statistic("p50")
            .cell(|r| r.own.queue_ms.map(|q| fixed(q.p50, 1))),
        queue
            .statistic("p95")
            .cell(|r| r.own.queue_delay_p95_ms().map(|p95| fixed(p95, 1))),
        queue
            .statistic("vs 1st")
            .unit("%")
            .cell(|r| ratio(r.own.queue_delay_p95_ms(), r.first.queue_delay_p95_ms()).map(percent)),
        Head::number("warnings").cell(|r| {
            Some(r.own.run.health.warnings.len())
                .filter(|n| *n > 0)
                .map(|n| n.to_string())
        }),
    ]
}

fn rows(set: &ResultSet) -> Vec<Row<'_>> {
    let digests = digests(set);
    let first = digests.first().copied();
    digests
        .iter()
        .enumerate()
        .filter_map(|(index, own)| {
            let scenario = if index == 0 {
                set.scenario.as_str()
            } else {
                ""
            };
            Some(Row {
                scenario,
                own: *own,
                first: first?,
            })
        })
        .collect()
}
