//! What the page receives once a second: words and numbers, so that its script decides nothing.

use super::history::{Course, History, Point};
use super::plain;
use super::verdict::{Verdict, label, queue};
use crate::about::About;
use crate::account::Account;
use crate::top::model::{Model, Selection};
use crate::top::order::Order;
use crate::top::row::{Key, KindRow, PathRow, Row, Seen, State, endpoint};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use tidegate_agent::{Direction, Kind, Limit, Reason};

/// How many flows are listed: nobody reads more.
const FLOWS: usize = 30;
/// How many devices are listed.
const DEVICES: usize = 64;

/// A flow whose other direction carries at least this many times its bytes only answers it.
const ANSWERED: u64 = 8;

/// The whole document.
#[derive(Serialize)]
pub struct Now<'a> {
    /// Tidegate's version.
    version: &'a str,
    /// What the agent does, in one line.
    agent: String,
    /// How long it has run, in s.
    up_s: u64,
    /// Whether windows are changed.
    steers: bool,
    verdict: Verdict,
    ways: Vec<Way>,
    devices: Vec<Device>,
    /// The fastest first.
    flows: Vec<Flow>,
    /// How many flows are not listed.
    more_flows: usize,
    hour: Summary<'a>,
    seconds: Course<'a>,
}

/// A direction.
#[derive(Clone, Debug, Serialize)]
pub struct Way {
    /// The direction.
    pub direction: Direction,
    /// What its data are called on the page.
    pub label: &'static str,
    /// Median queueing delay of the last second's packets, in µs; absent: nothing was measured.
    pub queue_us: Option<u32>,
    /// Its 95th percentile.
    pub p95_us: Option<u32>,
    /// Bits a second, of all traffic.
    pub rate_bps: f64,
    /// Flows with data of late.
    pub flows: usize,
    /// Kinds of traffic now, the fastest first.
    pub kinds: Vec<KindNow>,
}

/// Traffic of one kind now.
#[derive(Clone, Debug, Serialize)]
pub struct KindNow {
    /// What the kind is called.
    pub name: &'static str,
    /// Bits a second.
    pub rate_bps: f64,
    /// Whether it is steered.
    pub steered: bool,
}

#[derive(Serialize)]
struct Device {
    name: String,
    flows: u32,
    /// By [`Direction::ALL`].
    rate_bps: [f64; 2],
}

#[derive(Serialize)]
struct Flow {
    direction: Direction,
    remote: String,
    local: String,
    device: Option<String>,
    interface: String,
    rate_bps: Option<f64>,
    queue_us: Option<u32>,
    rtt_us: Option<u32>,
    bytes: u64,
    steering: Steering,
    /// What it is, or what limits it, in two or three words.
    what: String,
    /// The same in a sentence.
    why: String,
}

/// What becomes of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Steering {
    /// The law sets its window or holds it.
    Steered,
    /// The law would steer it, but this is a dry run or a pause.
    Would,
    /// The agent does not know yet.
    Waits,
    /// It cannot, or must not, be steered.
    Left,
}

/// What was done during some time.
#[derive(Serialize)]
pub struct Summary<'a> {
    elapsed_s: u64,
    ways: Vec<WaySummary<'a>>,
}

#[derive(Serialize)]
struct WaySummary<'a> {
    direction: Direction,
    label: &'static str,
    bytes: u64,
    median_us: Option<u32>,
    p95_us: Option<u32>,
    parts: Vec<Part>,
    /// The comparison, as the account has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    compared: Option<&'a crate::compare::Compared>,
}

#[derive(Serialize)]
struct Part {
    name: &'static str,
    bytes: u64,
    steered: bool,
    /// Why it is steered, or is not.
    why: String,
}

impl<'a> Now<'a> {
    /// What there is to be seen at `now_us` of the history's clock.
    pub fn of(model: &'a Model, history: &'a History, now_us: u64) -> Self {
        let about = &model.about;
        let ways = Direction::ALL.map(|direction| {
            let point = history.now(direction as usize, now_us);
            Way::of(model, direction, point)
        });
        let selection = Selection {
            order: Order::Rate,
            ..Selection::default()
        };
        let rows = using(model.rows(&selection), model);
        let flows = rows.iter().take(FLOWS);
        Self {
            version: &about.version,
            agent: about.in_words(),
            up_s: model.at_us.saturating_sub(about.since_us) / 1_000_000,
            steers: steers(about),
            verdict: Verdict::of(about, &ways, &model.account).beside(&others(model)),
            ways: ways.into(),
            devices: devices(&model.paths),
            flows: flows.map(|row| Flow::of(row, about)).collect(),
            more_flows: rows.len().saturating_sub(FLOWS),
            hour: Summary::of(&model.account, about),
            seconds: history.seconds(now_us),
        }
    }
}

fn steers(about: &About) -> bool {
    !about.law.is_none() && !about.dry_run && !about.lets_pass()
}

/// Flows that use the link now: neither ended flows nor windowless ones that only answer the other direction.
fn using<'a>(mut rows: Vec<&'a Row>, model: &Model) -> Vec<&'a Row> {
    let windowless = |row: &&Row| matches!(row.seen, Seen::Windowless(_));
    let ways = model.all().iter().filter(windowless);
    let ways: HashMap<_, _> = ways.map(|row| (&row.key, row.bytes)).collect();
    let is_answer = |row: &Row| {
        let other = Key {
            direction: match row.key.direction {
                Direction::Down => Direction::Up,
                Direction::Up => Direction::Down,
            },
            ..row.key.clone()
        };
        let other = ways.get(&other).filter(|_| windowless(&row));
        other.is_some_and(|bytes| *bytes > ANSWERED * row.bytes)
    };
    rows.retain(|row| row.state == State::Live && !is_answer(row));
    rows
}

/// Directions in which another machine seems to fill the link.
fn others(model: &Model) -> Vec<Direction> {
    let competes = |direction: &Direction| {
        let live = |row: &&Row| row.state == State::Live && row.key.direction == *direction;
        let mut rows = model.all().iter().filter(live);
        rows.any(|row| row.limit == Limit::Competing)
    };
    Direction::ALL.into_iter().filter(competes).collect()
}

impl Way {
    fn of(model: &Model, direction: Direction, point: Option<Point>) -> Self {
        let paths = model.paths.iter().filter(|p| p.direction == direction);
        let paths: Vec<_> = paths.collect();
        let flows_us = paths.iter().map(|p| p.queue_us).max().unwrap_or(0);
        let (queue_us, p95_us) = queue(point, flows_us);
        let live = |row: &&Row| row.key.direction == direction && row.state == State::Live;
        let kinds = kinds(&paths);
        Self {
            direction,
            label: label(direction),
            queue_us,
            p95_us,
            rate_bps: kinds.iter().map(|kind| kind.rate_bps).sum(),
            flows: model
                .rows(&Selection::default())
                .iter()
                .filter(|r| live(r))
                .count(),
            kinds,
        }
    }
}

/// The kinds of traffic of all interfaces together, the fastest first.
fn kinds(paths: &[&PathRow]) -> Vec<KindNow> {
    let mut rates = BTreeMap::<&str, (f64, bool)>::new();
    for KindRow {
        kind,
        reached,
        rate_bps,
    } in paths.iter().flat_map(|path| &path.kinds)
    {
        let (rate, steered) = rates.entry(kind.in_words()).or_default();
        *rate += rate_bps.unwrap_or(0.0);
        *steered |= reached;
    }
    let mut kinds: Vec<_> = rates
        .into_iter()
        .filter(|(_, (rate_bps, _))| *rate_bps > 0.0)
        .map(|(name, (rate_bps, steered))| KindNow {
            name,
            rate_bps,
            steered,
        })
        .collect();
    kinds.sort_by(|a, b| b.rate_bps.total_cmp(&a.rate_bps));
    kinds
}

/// The devices of both directions and all interfaces, the fastest first.
fn devices(paths: &[PathRow]) -> Vec<Device> {
    let mut devices = BTreeMap::<u32, Device>::new();
    for path in paths {
        for row in &path.devices {
            let device = devices.entry(row.device).or_insert_with(|| Device {
                name: row.label.clone(),
                flows: 0,
                rate_bps: [0.0; 2],
            });
            device.flows += row.flows;
            device.rate_bps[path.direction as usize] += row.rate_bps.unwrap_or(0.0);
        }
    }
    let mut devices: Vec<_> = devices.into_values().collect();
    let rate = |device: &Device| device.rate_bps.iter().sum::<f64>();
    devices.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
    devices.truncate(DEVICES);
    devices
}

impl Flow {
    fn of(row: &Row, about: &About) -> Self {
        Self {
            direction: row.key.direction,
            remote: endpoint(&row.key.remote),
            local: endpoint(&row.key.local),
            device: row.device.clone(),
            interface: row.interface.clone(),
            rate_bps: row.rate_bps.map(f64::round),
            queue_us: row.queue_us(),
            rtt_us: row.rtt_us(),
            bytes: row.bytes,
            steering: Steering::of(row, about),
            what: plain::what(row),
            why: why(row),
        }
    }
}

impl Steering {
    fn of(row: &Row, about: &About) -> Self {
        if row.limit.is_left_alone() || row.limit == Limit::NoLaw {
            Self::Left
        } else if !row.is_steered() {
            Self::Waits
        } else if steers(about) {
            Self::Steered
        } else {
            Self::Would
        }
    }
}

fn why(row: &Row) -> String {
    match (&row.seen, row.limit) {
        (Seen::Windowless(_), Limit::Windowless(kind)) => without_window(kind),
        (_, limit) => limit.words().into(),
    }
}

fn without_window(kind: Kind) -> String {
    let advice = match kind.may_be_held() {
        true => "; with udp = \"hold\" it can be slowed down",
        false => "",
    };
    format!(
        "{}. It has no receive window that could be lowered{advice}",
        kind.about()
    )
}

impl<'a> Summary<'a> {
    /// The summary of an account.
    pub fn of(account: &'a Account, about: &About) -> Self {
        let ways = account.ways.iter().map(|way| WaySummary {
            direction: way.direction,
            label: label(way.direction),
            bytes: way.bytes,
            median_us: way.queue.map(|queue| queue.median_us),
            p95_us: way.queue.map(|queue| queue.p95_us),
            parts: way
                .kinds
                .iter()
                .map(|part| Part {
                    name: part.kind.in_words(),
                    bytes: part.bytes,
                    steered: part.reached,
                    why: reason(part.kind, part.reached, &way.left, about),
                })
                .collect(),
            compared: way.compared.as_ref(),
        });
        Self {
            elapsed_s: account.elapsed_us / 1_000_000,
            ways: ways.collect(),
        }
    }
}

/// Why a kind of traffic is steered, or is not.
fn reason(kind: Kind, reached: bool, left: &[Reason], about: &About) -> String {
    match kind {
        _ if reached && kind.may_be_held() => {
            "held: its leaving packets wait here if its sender reacts to that".into()
        }
        _ if reached => "steered by its receive window".into(),
        Kind::Tcp if about.law.is_none() => "no law is in force".into(),
        Kind::Tcp => "the law in force does not steer what goes this way".into(),
        Kind::TcpLeft if !left.is_empty() => {
            let reasons: Vec<_> = left.iter().map(|reason| reason.about()).collect();
            reasons.join("; ")
        }
        Kind::NoTimestamps | Kind::TcpLeft | Kind::Other => kind.about().into(),
        _ => without_window(kind),
    }
}

#[cfg(test)]
mod tests;
