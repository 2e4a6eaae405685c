//! The tests over a session, one after another.

mod both;
mod devices;
mod minutes;

use super::args::{ProbeRunArgs, ProbeTest};
use super::predict::{Known, predict};
use crate::say;
use anyhow::Result;
use std::net::IpAddr;
use std::time::Duration;
use tidegate_probe::analysis::bursts::backlogged;
use tidegate_probe::analysis::opportunities::mahimahi;
use tidegate_probe::analysis::responsiveness::Responsiveness;
use tidegate_probe::examine::{Overflows, overflows_by};
use tidegate_probe::net::{Client, Direction, Failure};
use tidegate_probe::results::{Results, Way, base_rtt_ms};
use tidegate_probe::{Arrival, Echo};
use tidegate_scenario::Direction as Towards;

/// How often the time is asked for, and for how long on the idle link.
const EVERY: Duration = Duration::from_millis(100);
const IDLE: Duration = Duration::from_secs(3);

/// What was found, and what pictures are made of.
pub struct Measured {
    /// In numbers.
    pub results: Results,
    /// What the trains of each direction did.
    pub ways: Vec<(&'static str, Overflows)>,
    /// Answers, in order of time.
    pub echoes: Vec<Echo>,
    /// What the downlink carried, in Mahimahi's format.
    pub trace: Option<String>,
}

/// Does them; `open` opens another device's session, from that address: an idle one is soon forgotten.
pub fn measure(
    client: &mut Client,
    open: impl Fn(IpAddr) -> Result<Client, Failure>,
    args: &ProbeRunArgs,
) -> Result<Measured> {
    let wants = |test| args.tests.is_empty() || args.tests.contains(&test);
    let wanted: Vec<(&str, Direction)> = [
        ("down", ProbeTest::Down, Direction::Down),
        ("up", ProbeTest::Up, Direction::Up),
    ]
    .into_iter()
    .filter(|(_, test, _)| wants(*test))
    .map(|(name, _, direction)| (name, direction))
    .collect();
    let both = wants(ProbeTest::Both);
    let responsiveness = wants(ProbeTest::Responsiveness);
    let devices = wants(ProbeTest::Devices) && !args.beside.is_empty();
    // It takes minutes: only where it is asked for.
    let rate = args.tests.contains(&ProbeTest::Rate);
    if devices {
        // What is wrong with them is better known now than after the other tests.
        args.beside
            .iter()
            .try_for_each(|&near| open(near).map(drop))?;
    }
    let further = [both, responsiveness, devices, rate]
        .map(u64::from)
        .iter()
        .sum::<u64>();
    let each = args.max_data / (wanted.len() as u64 + further);
    let downloads = u64::from(wants(ProbeTest::Down)) + further;
    // What the server sends is bounded by its budget as well.
    let each_down = each.min(client.budget() / downloads.max(1));
    let mut measured = Measured {
        results: Results {
            server: args.host.clone(),
            ..Results::default()
        },
        ways: Vec::new(),
        echoes: Vec::new(),
        trace: None,
    };
    say::err(format_args!("idle link, {} s", IDLE.as_secs()));
    let idle = client.ping(EVERY, IDLE)?;
    measured.results.base_rtt_ms = base_rtt_ms(&idle);
    measured.echoes.extend(&idle);
    for (name, direction) in wanted {
        let each = match direction {
            Direction::Down => each_down,
            Direction::Up => each,
        };
        let (found, busy) = fill(client, name, direction, each)?;
        let way = Way::of(&found, &idle, &busy, direction == Direction::Down);
        match direction {
            Direction::Down => {
                measured.results.down = Some(way);
                measured.trace = recorded(&found);
            }
            Direction::Up => measured.results.up = Some(way),
        }
        measured.results.bytes += found.bytes;
        measured.echoes.extend(&busy);
        measured.ways.push((name, found));
    }
    let beside = match both {
        true => Some(both::both(client, &measured.results, each, each_down)?),
        false => None,
    };
    if let Some((trains, bytes)) = &beside {
        measured.results.bytes += bytes;
        measured.echoes.extend(&trains.echoes);
    }
    if responsiveness {
        let (found, bytes) = under_load(client, each / 2, each_down / 2)?;
        measured.results.responsiveness = Some(found);
        measured.results.bytes += bytes;
    }
    if devices {
        let others = args.beside.iter().map(|&near| open(near));
        let mut others: Vec<Client> = others.collect::<Result<_, _>>()?;
        let mut all: Vec<&mut Client> = std::iter::once(&mut *client).chain(&mut others).collect();
        let (found, bytes) = devices::devices(&mut all, &measured.results, each_down)?;
        measured.results.devices = Some(found);
        measured.results.bytes += bytes;
    }
    if rate {
        let lasting = Duration::from_secs_f64(args.minutes * 60.0);
        let (found, bytes) = minutes::minutes(client, &measured.results, lasting, each_down)?;
        measured.results.minutes = Some(found);
        measured.results.bytes += bytes;
    }
    measured.echoes.extend(client.ping(EVERY, IDLE)?);
    let trains = beside.map(|(trains, _)| trains);
    measured
        .results
        .conclude(&measured.echoes, &idle, trains.as_ref());
    predict_gains(&mut measured);
    Ok(measured)
}

/// For each way that was filled.
pub fn predict_gains(measured: &mut Measured) {
    let rate = |way: &Option<Way>| Some(way.as_ref()?.rate?.median_bps);
    let results = &mut measured.results;
    let (down_bps, up_bps) = (rate(&results.down), rate(&results.up));
    for (name, found) in &measured.ways {
        let (way, direction, other_bps) = match *name {
            "down" => (&mut results.down, Towards::Down, up_bps),
            _ => (&mut results.up, Towards::Up, down_bps),
        };
        let (Some(way), Some(trace)) = (way, recorded(found)) else {
            continue;
        };
        way.gain = way.buffer.as_ref().and_then(|buffer| {
            predict(&Known {
                direction,
                trace: &trace,
                buffer,
                base_ms: results.base_rtt_ms,
                other_bps,
            })
        });
    }
}

/// Responsiveness to the client and from it, and bytes sent.
fn under_load(
    client: &mut Client,
    bytes: u64,
    down_bytes: u64,
) -> Result<([Responsiveness; 2], u64), Failure> {
    say::err(format_args!("responsiveness: TCP connections down"));
    let (down, down_cost) = client.responsiveness(Direction::Down, down_bytes)?;
    // What stands in the queue still is not to count as the upload's.
    client.ping(EVERY, IDLE)?;
    say::err(format_args!("responsiveness: TCP connections up"));
    let (up, up_cost) = client.responsiveness(Direction::Up, bytes)?;
    client.ping(EVERY, IDLE)?;
    Ok(([down, up], down_cost + up_cost))
}

/// Trains of every size one way, and the answers that came meanwhile.
fn fill(
    client: &mut Client,
    name: &str,
    direction: Direction,
    bytes: u64,
) -> Result<(Overflows, Vec<Echo>), Failure> {
    let mut busy = Vec::new();
    let found = overflows_by(bytes, |train| {
        say::err(format_args!(
            "{name}: filling the queue with packets of {} bytes",
            train.bytes
        ));
        // Flows of the two directions are numbered apart.
        let flow = train.flow + 8 * direction as u8;
        let (arrivals, echoes) = client.train(
            direction,
            tidegate_probe::TrainConfig { flow, ..train },
            Some(EVERY),
        )?;
        busy.extend(echoes);
        let sent = sent_bytes(&arrivals);
        Ok::<_, Failure>((arrivals, sent))
    })?;
    Ok((found, busy))
}

/// What a train sent until its last packet that arrived.
fn sent_bytes(train: &[Arrival]) -> u64 {
    let last = train.iter().max_by_key(|a| a.sequence);
    last.map_or(0, |a| (u64::from(a.sequence) + 1) * u64::from(a.bytes))
}

/// What a way carried, in Mahimahi's format; none of too little.
fn recorded(found: &Overflows) -> Option<String> {
    largest(found).and_then(|train| mahimahi(&backlogged(train)))
}

/// The train that carried most while the link was busy.
fn largest(found: &Overflows) -> Option<&Vec<Arrival>> {
    let carried = |train: &&Vec<Arrival>| -> u64 {
        let busy = backlogged(train);
        busy.iter().map(|a| u64::from(a.bytes)).sum()
    };
    found.trains.iter().max_by_key(carried)
}
