//! Draws random scenarios from all that both the simulator and the laboratory can run.
//!
//! We draw a file's text, not a [`tidegate_scenario::Scenario`]: it can be saved, changed key by key, and read by every
//! other command.

mod links;
mod workloads;

use std::collections::BTreeMap;
use tidegate_basics::random::Draw;
use toml::{Table, Value};

/// Seconds of a run, and how many of the first do not count.
const DURATION_S: f64 = 12.0;
const WARMUP_S: f64 = 2.0;

/// A scenario, with the recordings that its links play.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// The file's keys and values.
    pub table: Table,
    /// Trace files: each line is a packet's delivery time in milliseconds.
    pub traces: BTreeMap<&'static str, String>,
}

/// Draws the scenario of this seed; the same seed gives the same scenario.
pub fn draw(seed: u64) -> Drawn {
    let draw = &mut Draw::new(seed);
    let mbps = draw.between(0.05, 1000.0);
    let rtt_ms = draw.between(2.0, 400.0);
    let mut traces = BTreeMap::new();
    let [down, up] = links::access(draw, mbps, rtt_ms, &mut traces);
    let hop = links::hop(draw, mbps);
    let workloads = workloads::all(draw, mbps, hop.is_some());
    let mut table = Table::new();
    table.insert("name".into(), format!("random {seed}").into());
    table.insert("duration_s".into(), DURATION_S.into());
    table.insert("warmup_s".into(), WARMUP_S.into());
    table.insert("seed".into(), 1.into());
    table.insert("down".into(), down.into());
    table.insert("up".into(), up.into());
    if let Some(hop) = hop {
        table.insert("hop".into(), Value::Array(vec![hop.into()]));
    }
    table.insert("hosts".into(), hosts(draw).into());
    table.insert("workload".into(), workloads.into());
    table.insert("run".into(), Value::Array(vec![run(draw).into()]));
    Drawn { table, traces }
}

/// `{ key = value }`.
fn single(key: &str, value: impl Into<Value>) -> Table {
    Table::from_iter([(key.to_owned(), value.into())])
}

/// Inserts `key = value` with this probability.
fn perhaps<T: Into<Value>>(
    draw: &mut Draw,
    probability: f64,
    table: &mut Table,
    key: &str,
    value: impl FnOnce(&mut Draw) -> T,
) {
    if draw.chance(probability) {
        table.insert(key.into(), value(draw).into());
    }
}

/// A whole number with two significant digits between these, distributed uniformly on a logarithmic scale.
fn whole(draw: &mut Draw, low: f64, high: f64) -> i64 {
    draw.between(low, high).round() as i64
}

fn hosts(draw: &mut Draw) -> Table {
    let algorithm = draw.one_of(&["cubic", "cubic", "reno", "bbr"]);
    let mut hosts = single("congestion_control", algorithm);
    let hosts_ = &mut hosts;
    perhaps(draw, 0.15, hosts_, "timestamps", |_| false);
    perhaps(draw, 0.1, hosts_, "sack", |_| false);
    perhaps(draw, 0.15, hosts_, "rmem_max", |draw| {
        whole(draw, 100_000.0, 32e6)
    });
    perhaps(draw, 0.1, hosts_, "initial_window", |draw| {
        whole(draw, 1.0, 100.0)
    });
    perhaps(draw, 0.1, hosts_, "slow_start_after_idle", |_| false);
    hosts
}

fn run(draw: &mut Draw) -> Table {
    let mut run = single("name", "run");
    let law = draw.one_of(&[
        "none", "none", "none", "drs", "drwa", "tide", "tide", "rledbat",
    ]);
    run.insert("law".into(), law.into());
    if ["drs", "drwa"].contains(&law) {
        perhaps(draw, 0.2, &mut run, "limit", |draw| {
            whole(draw, 20_000.0, 5e6)
        });
    }
    perhaps(draw, 0.2, &mut run, "server_law", |draw| {
        draw.one_of(&["drs", "drwa", "tide", "rledbat", "rsfc"])
    });
    perhaps(draw, 0.15, &mut run, "ecn", |_| "classic");
    run
}

#[cfg(test)]
mod tests;
