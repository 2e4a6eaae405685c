//! Turns snapshots into rows. It needs neither a clock nor a terminal.

use crate::about::About;
use crate::account::Account;
use crate::devices::DeviceView;
use crate::snapshot::Snapshot;
use crate::top::counters::{Count, Counters, Table};
use crate::top::filter::Filter;
use crate::top::order::Order;
use crate::top::row::{DeviceRow, GroupRow, Key, KindRow, PathRow, Row, Seen, State, TCP};
use crate::udp::HoldCounts;
use std::collections::HashMap;
use tidegate_agent::{
    Carried, Direction, FlowView, GroupView, Kind, LeftView, Limit, PathView, Reason, Situation,
    TableView, WindowlessView,
};
use tidegate_terminal::units;

/// A flow without packets for longer than this is idle.
const LIVE_US: u64 = 5_000_000;
/// How long idle flows are shown,
const IDLE_US: u64 = 60_000_000;
/// and how long closed ones.
const CLOSED_US: u64 = 15_000_000;

/// A flow without a window gets a row once it has this many bytes: most are queries to a name server.
const BULK: u64 = 100_000;

/// The last snapshot, and how fast things change.
#[derive(Debug, Default)]
pub struct Model {
    /// The agent that the snapshot is from.
    pub about: About,
    /// Time of the last snapshot, µs of CLOCK_MONOTONIC; 0: none yet.
    pub at_us: u64,
    /// What was done with packets, counted by reason.
    pub counts: Vec<tidegate_agent::Count>,
    /// The interfaces, by direction.
    pub paths: Vec<PathRow>,
    /// Devices that flows belong to, if shares are by device.
    pub devices: Vec<DeviceView>,
    /// How full the tables of flows are.
    pub tables: Vec<TableView>,
    /// Totals of the hold; absent without one.
    pub hold: Option<HoldCounts>,
    /// The account of the last hour; empty from an agent that sends none.
    pub account: Account,
    rows: Vec<Row>,
    counters: Counters,
    /// Names of the devices, by number.
    labels: HashMap<u32, String>,
    /// Bytes that each path had carried at the last snapshot, by [`Kind::ALL`].
    carried: HashMap<(Direction, u32), [u64; Kind::ALL.len()]>,
}

/// Which rows to show, and in which order.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// What to sort by.
    pub order: Order,
    /// Whether the order is reversed.
    pub reverse: bool,
    /// Which rows match.
    pub filter: Filter,
    /// Whether to show ended, idle and small flows, too.
    pub all: bool,
}

impl Model {
    /// A sentence if the tables are too small; none if no flow was pushed out.
    pub fn crowded(&self) -> Option<String> {
        let gone = self.tables.iter().filter(|t| t.pushed_out > 0);
        let each = gone.map(|t| {
            format!(
                "{} {}, {} pushed out",
                t.used,
                t.direction.name(),
                t.pushed_out
            )
        });
        let each: Vec<_> = each.collect();
        let size = self.tables.first()?.size;
        let words = || {
            format!(
                "tables of {size} connections: {}; see --connections",
                each.join("; ")
            )
        };
        (!each.is_empty()).then(words)
    }

    /// Takes in a snapshot.
    pub fn update(&mut self, snapshot: Snapshot) {
        let elapsed_us = match self.at_us {
            0 => None,
            before_us => Some(snapshot.at_us.saturating_sub(before_us)).filter(|us| *us > 0),
        };
        // A new process counts from 0.
        let same = self.about.pid == snapshot.agent.pid;
        let elapsed_us = elapsed_us.filter(|_| same);
        self.at_us = snapshot.at_us;
        self.about = snapshot.agent;
        self.counts = snapshot.counts;
        self.hold = snapshot.hold;
        self.account = snapshot.account;
        self.tables = snapshot.tables;
        let label = |device: &DeviceView| (device.number, device.label());
        self.labels = snapshot.devices.iter().map(label).collect();
        self.devices = snapshot.devices;
        let tables = (snapshot.flows, snapshot.left, snapshot.windowless);
        self.take_rows(tables, &snapshot.paths, elapsed_us);
        self.take_paths(snapshot.paths, elapsed_us);
    }

    fn take_rows(
        &mut self,
        (flows, left, windowless): (Vec<FlowView>, Vec<LeftView>, Vec<WindowlessView>),
        paths: &[PathView],
        elapsed_us: Option<u64>,
    ) {
        let before = std::mem::take(&mut self.rows);
        self.counters.look(self.at_us, elapsed_us);
        let mut rows: HashMap<_, _> = HashMap::with_capacity(flows.len());
        for flow in flows {
            let row = self.flow_row(flow, paths);
            rows.insert(row.key.clone(), row);
        }
        for left in left {
            let row = self.left_row(left);
            match rows.get(&row.key) {
                Some(flow) if !has_taken_over(&row, flow) => {}
                _ => {
                    rows.insert(row.key.clone(), row);
                }
            }
        }
        for way in windowless {
            let row = self.windowless_row(way);
            rows.insert(row.key.clone(), row);
        }
        // Flows that the agent has forgotten, or that ended with it, stay as closed rows for a while.
        for row in before {
            if row.seen_us + CLOSED_US > self.at_us {
                rows.entry(row.key.clone()).or_insert(Row {
                    state: State::Closed,
                    limit: Limit::Closed,
                    rate_bps: None,
                    ..row
                });
            }
        }
        self.rows = rows.into_values().collect();
    }

    fn flow_row(&mut self, flow: FlowView, paths: &[PathView]) -> Row {
        let key = Key {
            direction: flow.direction,
            local: flow.local,
            remote: flow.remote,
            ifindex: flow.ifindex,
            protocol: TCP,
        };
        let count = Count {
            since_us: flow.since_us,
            bytes: flow.received_bytes,
        };
        let (bytes, rate_bps) = self.counters.take(Table::Flows, &key, count);
        let at = Situation {
            law: self.about.law,
            record: flow.record(paths),
            bytes_per_s: rate_bps.map(|bps| bps / 8.0),
            now_us: self.at_us,
        };
        Row {
            remote_name: None,
            interface: self.about.interface(key.ifindex),
            device: flow
                .device
                .and_then(|number| self.labels.get(&number).cloned()),
            bytes,
            rate_bps,
            limit: Limit::of(&flow, at),
            state: self.state(flow.closed, flow.seen_us),
            seen_us: flow.seen_us,
            seen: Seen::Flow(flow),
            key,
        }
    }

    fn left_row(&mut self, left: LeftView) -> Row {
        let key = Key {
            direction: left.direction,
            local: left.local,
            remote: left.remote,
            ifindex: left.ifindex,
            protocol: left.protocol,
        };
        let count = Count {
            since_us: left.since_us,
            bytes: left.bytes,
        };
        let (bytes, rate_bps) = self.counters.take(Table::Left, &key, count);
        Row {
            remote_name: None,
            interface: self.about.interface(key.ifindex),
            device: None,
            bytes,
            rate_bps,
            limit: Limit::LeftAlone(left.reason),
            state: self.state(false, left.seen_us),
            seen_us: left.seen_us,
            seen: Seen::Left(left),
            key,
        }
    }

    fn windowless_row(&mut self, way: WindowlessView) -> Row {
        let key = Key {
            direction: way.direction,
            local: way.local,
            remote: way.remote,
            ifindex: way.ifindex,
            protocol: way.protocol,
        };
        let count = Count {
            since_us: way.first_us,
            bytes: way.bytes,
        };
        let (bytes, rate_bps) = self.counters.take(Table::Windowless, &key, count);
        Row {
            remote_name: None,
            interface: self.about.interface(key.ifindex),
            device: None,
            bytes,
            rate_bps,
            limit: match &way.hold {
                Some(hold) => Limit::Hold(hold.state),
                None => Limit::Windowless(way.kind),
            },
            state: self.state(false, way.seen_us),
            seen_us: way.seen_us,
            seen: Seen::Windowless(way),
            key,
        }
    }

    fn state(&self, closed: bool, seen_us: u64) -> State {
        if closed {
            State::Closed
        } else if seen_us + LIVE_US < self.at_us {
            State::Idle
        } else {
            State::Live
        }
    }

    fn take_paths(&mut self, paths: Vec<PathView>, elapsed_us: Option<u64>) {
        let mut rows: Vec<_> = paths
            .into_iter()
            .map(|p| self.path_row(p, elapsed_us))
            .collect();
        rows.sort_by(|a, b| (&a.interface, a.direction).cmp(&(&b.interface, b.direction)));
        self.paths = rows;
    }

    fn path_row(&mut self, view: PathView, elapsed_us: Option<u64>) -> PathRow {
        let key = (view.direction, view.ifindex);
        let kinds = self.kinds(key, &view.traffic, elapsed_us);
        let mut groups: Vec<_> = view
            .groups
            .into_iter()
            .map(|g| self.group_row(key, g))
            .collect();
        groups.sort_by_key(|g| g.view.group);
        PathRow {
            direction: view.direction,
            ifindex: view.ifindex,
            queue_us: view.queue_us,
            groups,
            devices: self.device_rows(key),
            alone: view.alone,
            measured_bytes: view.measured_bytes,
            traffic: view.traffic,
            interface: self.about.interface(view.ifindex),
            kinds,
        }
    }

    /// The kinds of a path's traffic, sorted by recent rate, then by bytes so far.
    fn kinds(
        &mut self,
        path: (Direction, u32),
        traffic: &[Carried],
        elapsed_us: Option<u64>,
    ) -> Vec<KindRow> {
        let now = Kind::ALL.map(|kind| {
            let of = traffic.iter().filter(|c| c.kind == kind);
            of.map(|c| c.bytes).sum::<u64>()
        });
        let before = self.carried.insert(path, now);
        let row = |kind: Kind| {
            let bytes = now[kind as usize];
            let news = before.and_then(|before| bytes.checked_sub(before[kind as usize]));
            let rate_bps = news
                .zip(elapsed_us)
                .map(|(news, us)| news as f64 * 8e6 / us as f64);
            let row = KindRow {
                kind,
                reached: self.about.reaches(kind, path.0),
                rate_bps,
            };
            (bytes, row)
        };
        let mut rows: Vec<_> = Kind::ALL.map(row).into();
        rows.retain(|(bytes, _)| *bytes > 0);
        rows.sort_by(|(a_bytes, a), (b_bytes, b)| {
            let rate = |row: &KindRow| row.rate_bps.unwrap_or(0.0);
            rate(b)
                .total_cmp(&rate(a))
                .then_with(|| b_bytes.cmp(a_bytes))
        });
        rows.into_iter().map(|(_, row)| row).collect()
    }

    fn group_row(&self, path: (Direction, u32), view: GroupView) -> GroupRow {
        let member = |row: &&Row| {
            (row.key.direction, row.key.ifindex) == path && row.group() == Some(view.group)
        };
        let members = self.rows.iter().filter(member);
        let rates = members.map(|row| row.rate_bps);
        GroupRow {
            rate_bps: rates.fold(None, |sum, bps| Some(sum.unwrap_or(0.0) + bps?)),
            view,
        }
    }

    /// The devices with flows on a path, the fastest first.
    fn device_rows(&self, path: (Direction, u32)) -> Vec<DeviceRow> {
        let mut devices: HashMap<u32, DeviceRow> = HashMap::new();
        let live = self
            .rows
            .iter()
            .filter(|row| (row.key.direction, row.key.ifindex) == path && row.state == State::Live);
        for row in live {
            let number = row.flow().and_then(|flow| flow.device);
            let Some((device, label)) = number.zip(row.device.as_ref()) else {
                continue;
            };
            let of = devices.entry(device).or_insert_with(|| DeviceRow {
                device,
                label: label.clone(),
                flows: 0,
                rate_bps: None,
            });
            of.flows += 1;
            let sum = |bps| bps + of.rate_bps.unwrap_or(0.0);
            of.rate_bps = row.rate_bps.map(sum).or(of.rate_bps);
        }
        let mut devices: Vec<_> = devices.into_values().collect();
        let rate = |device: &DeviceRow| device.rate_bps.unwrap_or(0.0);
        devices.sort_by(|a, b| rate(b).total_cmp(&rate(a)).then(a.device.cmp(&b.device)));
        devices
    }

    /// The path that a row's data take.
    pub fn path_of(&self, row: &Row) -> Option<&PathRow> {
        let key = (row.key.direction, row.key.ifindex);
        self.paths.iter().find(|p| (p.direction, p.ifindex) == key)
    }

    /// All rows, in no particular order.
    pub fn all(&self) -> &[Row] {
        &self.rows
    }

    /// All rows, to be completed with names.
    pub fn rows_mut(&mut self) -> &mut [Row] {
        &mut self.rows
    }

    /// The selected rows, in order.
    pub fn rows(&self, selection: &Selection) -> Vec<&Row> {
        let shown = |row: &&Row| {
            (selection.all || self.is_recent(row) && !is_small(row)) && selection.filter.admits(row)
        };
        let mut rows: Vec<_> = self.rows.iter().filter(shown).collect();
        rows.sort_by(|a, b| {
            let order = selection.order.compare(a, b);
            if selection.reverse && a.state == b.state {
                order.reverse()
            } else {
                order
            }
        });
        rows
    }

    fn is_recent(&self, row: &Row) -> bool {
        let age_us = self.at_us.saturating_sub(row.seen_us);
        // A FIN counts as one byte, so a direction that carried nothing has one byte.
        row.bytes > 1
            && match row.state {
                State::Live => true,
                State::Idle => age_us < IDLE_US,
                State::Closed => age_us < CLOSED_US,
            }
    }

    /// The state on one line, for `tidegate run` on a terminal.
    pub fn status(&self) -> String {
        let directions = Direction::ALL.map(|direction| {
            let selection = Selection::default();
            let mut rows = self.rows(&selection);
            rows.retain(|r| r.key.direction == direction && r.state == State::Live);
            let flows = rows.iter().filter(|r| r.flow().is_some() || r.is_steered());
            let steered = rows.iter().filter(|r| r.is_steered()).count();
            let bps: f64 = rows.iter().filter_map(|r| r.rate_bps).sum();
            let paths = self.paths.iter().filter(|p| p.direction == direction);
            let queue_us = paths.map(|p| p.queue_us).max().unwrap_or(0);
            format!(
                "{}: {} flows, {steered} steered, {}, queue {}",
                direction.name(),
                flows.count(),
                units::rate(bps),
                units::delay(queue_us)
            )
        });
        directions.join("; ")
    }
}

/// Whether it is one of the many short exchanges without a window.
fn is_small(row: &Row) -> bool {
    matches!(row.seen, Seen::Windowless(_)) && row.bytes < BULK
}

/// Whether data that are left alone are newer than the measured flow of the same connection. Data from before the first
/// answer are no flow of their own; a flow whose clock is unknown counts in both tables.
fn has_taken_over(left: &Row, flow: &Row) -> bool {
    match (&left.seen, &flow.seen) {
        (Seen::Left(left), Seen::Flow(flow)) if left.reason != Reason::NoClock => {
            flow.denied || left.seen_us > flow.arrived_us
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
