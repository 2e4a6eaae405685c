//! The tables of the page: which commands print their numbers, and how they are laid out.

use crate::tables::{self, Table};

/// A table of the page.
pub struct Row {
    /// Its name.
    pub id: &'static str,
    /// About how long it takes.
    pub minutes: f64,
    /// Whether it needs recordings that are not part of the project.
    pub needs_traces: bool,
    /// The commands that print its numbers. Those of `tidegate` get `--json`, which is left out here as on the page.
    pub commands: &'static [&'static str],
    /// Its layout.
    pub table: Table,
}

impl Row {
    /// Whether it is taken only on request.
    pub fn is_long(&self) -> bool {
        self.minutes > 8.0
    }

    /// Whether other tables, which do not take long, run all its commands; each command is run once.
    pub fn is_of_others(&self) -> bool {
        let others = || {
            ROWS.iter()
                .filter(|row| row.id != self.id && !row.is_long())
        };
        let run = |command| others().any(|row| row.commands.contains(command));
        self.commands.iter().all(run)
    }
}

const fn row(
    id: &'static str,
    minutes: f64,
    commands: &'static [&'static str],
    table: Table,
) -> Row {
    Row {
        id,
        minutes,
        needs_traces: false,
        commands,
        table,
    }
}

const LTE: &str = "tidegate lab scenarios/lte-download.toml";
const STEADY: &str = "tidegate lab scenarios/steady-download.toml";
const ROUTE_CHANGE: &str = "tidegate lab scenarios/route-change.toml";
const LATE_COMER: &str = "tidegate lab scenarios/late-comer.toml";
const UPLOAD_BESIDE: &str = "tidegate lab scenarios/upload-beside-download.toml";

/// All, in the page's order.
pub const ROWS: &[Row] = &[
    row("lte", 3.2, &[LTE], tables::runs),
    row(
        "lte-bbr",
        3.2,
        &["tidegate lab scenarios/lte-download-bbr.toml"],
        tables::runs,
    ),
    row(
        "web",
        3.2,
        &["tidegate lab scenarios/web-beside-download.toml"],
        tables::fetches,
    ),
    row("steady", 4.2, &[STEADY], tables::runs),
    Row {
        needs_traces: true,
        ..row(
            "recorded",
            25.0,
            &["tidegate lab scenarios/trace-download.toml --vary 'down.rate=RECORDINGS'"],
            tables::recorded,
        )
    },
    row(
        "static-limit",
        18.0,
        &[
            "tidegate lab scenarios/static-limit.toml --vary down.rate.constant_mbps=4.5,25 --vary down.delay_ms=40,140,290,590",
        ],
        tables::static_limit,
    ),
    row("route-change", 4.2, &[ROUTE_CHANGE], tables::runs),
    row("late-comer", 3.2, &[LATE_COMER], tables::shares),
    row("upload-beside", 2.7, &[UPLOAD_BESIDE], tables::both_ways),
    row(
        "slow-uplink",
        2.9,
        &["tidegate lab scenarios/slow-uplink.toml"],
        tables::uplink,
    ),
    row(
        "pausing-server",
        3.2,
        &["tidegate lab scenarios/pausing-server.toml"],
        tables::chunks,
    ),
    row(
        "agent-rtt",
        17.5,
        &[LTE, STEADY, ROUTE_CHANGE, LATE_COMER, UPLOAD_BESIDE],
        tables::agent_rtt,
    ),
    row("validate", 14.0, &["tidegate validate"], tables::agreement),
    row(
        "interop",
        6.0,
        &["cargo test -p tidegate-lab --test lab interop -- --nocapture"],
        tables::interop,
    ),
    row(
        "costs",
        4.0,
        &["tidegate bench laws link sim lab"],
        tables::costs,
    ),
    row(
        "reader",
        0.2,
        &["tidegate sim scenarios/stalling-reader.toml"],
        tables::reader,
    ),
    row(
        "reader-lab",
        3.2,
        &[
            "tidegate lab scenarios/stalling-reader.toml --vary duration_s=60",
            "tidegate sim scenarios/stalling-reader.toml --vary duration_s=60",
        ],
        tables::reader_both,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Page;
    use std::path::Path;

    /// Every table has its place and its command on the page, and every place has a table.
    #[test]
    fn the_page_has_every_table_with_its_commands() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let text = std::fs::read_to_string(root.join("docs/measurements.md")).unwrap();
        let page = Page::parse(&text).unwrap();
        let ids: Vec<_> = ROWS.iter().map(|row| row.id).collect();
        assert_eq!(page.ids().collect::<Vec<_>>(), ids);
        for row in ROWS {
            let block = page.block(row.id).unwrap();
            for command in row.commands {
                let quoted = format!("`{command}`");
                assert!(block.contains(&quoted), "{}: no {quoted}", row.id);
            }
        }
    }

    #[test]
    fn only_the_table_of_round_trips_is_of_others() {
        let of_others = ROWS.iter().filter(|row| row.is_of_others());
        let ids: Vec<_> = of_others.map(|row| row.id).collect();
        assert_eq!(ids, ["agent-rtt"]);
    }

    #[test]
    fn the_commands_scenarios_are_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        for command in ROWS.iter().flat_map(|row| row.commands) {
            let words = shlex::split(command).unwrap();
            for word in words.iter().filter(|word| word.starts_with("scenarios/")) {
                assert!(root.join(word).is_file(), "{word}");
            }
        }
    }
}
