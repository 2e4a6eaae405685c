//! The JSON of `top`: the same rows as on the screen, with everything that is known of each.

use crate::about::About;
use crate::account::Account;
use crate::devices::DeviceView;
use crate::snapshot::VERSION;
use crate::top::model::{Model, Selection};
use crate::top::row::{PathRow, Row, Seen, State};
use crate::top::sharing;
use crate::udp::HoldCounts;
use anyhow::Result;
use serde::Serialize;
use std::io::Write;
use tidegate_agent::{Count, FlowView, LeftView, Limit, TableView, WindowlessView};

/// A snapshot (docs/internals/agent-json.md).
#[derive(Serialize)]
pub struct Report<'a> {
    version: u32,
    at_us: u64,
    agent: &'a About,
    counts: &'a [Count],
    tables: &'a [TableView],
    devices: &'a [DeviceView],
    paths: &'a [PathRow],
    flows: Vec<Line<'a, FlowView>>,
    left: Vec<Line<'a, LeftView>>,
    windowless: Vec<Line<'a, WindowlessView>>,
    hold: Option<HoldCounts>,
    account: &'a Account,
}

#[derive(Serialize)]
struct Line<'a, T> {
    #[serde(flatten)]
    view: &'a T,
    #[serde(skip_serializing_if = "Option::is_none")]
    remote_name: Option<&'a str>,
    interface: &'a str,
    rate_bps: Option<f64>,
    state: State,
    limit: Limit,
    left_alone: bool,
    why: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_group: Option<String>,
}

impl<'a, T> Line<'a, T> {
    fn new(row: &'a Row, view: &'a T) -> Self {
        Self {
            view,
            remote_name: row.remote_name.as_deref(),
            interface: &row.interface,
            rate_bps: row.rate_bps.map(f64::round),
            state: row.state,
            limit: row.limit,
            left_alone: row.limit.is_left_alone(),
            why: row.limit.words(),
            why_group: None,
        }
    }
}

impl<'a> Report<'a> {
    /// The report of these rows.
    pub fn new(model: &'a Model, rows: &[&'a Row]) -> Self {
        let (mut flows, mut left, mut windowless) = (Vec::new(), Vec::new(), Vec::new());
        for row in rows {
            match &row.seen {
                Seen::Flow(view) => flows.push(Line {
                    why_group: why_group(model, row, view),
                    ..Line::new(row, view)
                }),
                Seen::Left(view) => left.push(Line::new(row, view)),
                Seen::Windowless(view) => windowless.push(Line::new(row, view)),
            }
        }
        Self {
            version: VERSION,
            at_us: model.at_us,
            agent: &model.about,
            counts: &model.counts,
            tables: &model.tables,
            devices: &model.devices,
            paths: &model.paths,
            flows,
            left,
            windowless,
            hold: model.hold,
            account: &model.account,
        }
    }

    /// Prints it as one line.
    pub fn print(&self) -> Result<()> {
        let mut out = tidegate_terminal::data();
        serde_json::to_writer(&mut out, self)?;
        writeln!(out)?;
        out.flush()?;
        Ok(())
    }
}

/// Why the flow is in its group, or in none.
fn why_group(model: &Model, row: &Row, flow: &FlowView) -> Option<String> {
    let groups = &model.path_of(row)?.groups;
    let group = groups.iter().find(|g| Some(g.view.group) == flow.group);
    let because = || sharing::because(flow, group.map_or(1, |g| g.view.flows));
    model.about.law.is_on_path().then(because)
}

/// Prints the whole state as JSON.
pub fn print_json(model: &Model) -> Result<()> {
    let selection = Selection {
        all: true,
        ..Selection::default()
    };
    Report::new(model, &model.rows(&selection)).print()
}
