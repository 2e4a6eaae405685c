//! Runs the tests of a session, one after another.

mod both;
mod devices;
mod minutes;

use super::args::{ProbeRunArgs, ProbeTest};
use super::predict::{Known, predict};
use anyhow::Result;
use std::convert::Infallible;
use std::net::IpAddr;
use std::time::Duration;
use tidegate_probe::analysis::bursts::backlogged;
use tidegate_probe::analysis::opportunities::mahimahi;
use tidegate_probe::analysis::responsiveness::Responsiveness;
use tidegate_probe::examine::{Overflows, overflows_by};
use tidegate_probe::net::{Client, Direction, Failure};
use tidegate_probe::results::{Results, Trains, Way, base_rtt_ms};
use tidegate_probe::{Arrival, Echo};
use tidegate_scenario::Direction as Towards;
use tidegate_terminal::warn;

/// Time between two echoes, and how long the idle link is measured.
const EVERY: Duration = Duration::from_millis(100);
const IDLE: Duration = Duration::from_secs(3);

/// The results, and the data for pictures.
#[derive(Default)]
pub struct Measured {
    /// The results in numbers.
    pub results: Results,
    /// The trains of each direction.
    pub ways: Vec<(&'static str, Overflows)>,
    /// Answered echoes, in order of time.
    pub echoes: Vec<Echo>,
    /// The downlink's trace, in Mahimahi's format.
    pub trace: Option<String>,
    /// Why the measurement ended early, if it did.
    pub failure: Option<Failure>,
    /// Answered echoes on the idle link.
    pub idle: Vec<Echo>,
    /// The trains of the test of both directions.
    pub trains: Option<Trains>,
}

/// Runs the wanted tests; `open` opens another device's session from that address, late, since a server soon forgets an
/// idle one. If a test fails, we return the results so far, and which are missing.
///
/// # Errors
/// If there are no results at all.
pub fn measure(
    client: &mut Client,
    open: impl Fn(IpAddr) -> Result<Client, Failure>,
    args: &ProbeRunArgs,
) -> Result<Measured> {
    let wanted = Wanted::of(args, client.budget());
    if wanted.tests.contains(&ProbeTest::Devices) {
        // Check the devices first: an error is better found now than after the other tests.
        args.beside
            .iter()
            .try_for_each(|&near| open(near).map(drop))?;
    }
    warn(format_args!("idle link, {} s", IDLE.as_secs()));
    let idle = client.ping(EVERY, IDLE)?;
    let mut measured = Measured {
        echoes: idle.clone(),
        idle,
        ..Measured::default()
    };
    measured.results.server.clone_from(&args.host);
    measured.results.base_rtt_ms = base_rtt_ms(&measured.idle);
    let mut left = wanted.tests.iter();
    for &test in left.by_ref() {
        if let Err(failure) = measured.perform(test, client, &open, args, &wanted) {
            measured.note_failure(test, failure);
            break;
        }
    }
    for test in left {
        let name = name(*test);
        let missing = &mut measured.results.missing;
        missing.push(format!("{name}: not measured, as the session was over"));
    }
    if measured.failure.is_none() {
        match client.ping(EVERY, IDLE) {
            Ok(echoes) => measured.echoes.extend(echoes),
            Err(failure) => measured.failure = Some(failure),
        }
    }
    let trains = measured.trains.take();
    measured
        .results
        .conclude(&measured.echoes, &measured.idle, trains.as_ref());
    predict_gains(&mut measured);
    Ok(measured)
}

/// The tests, and the data that each may use.
struct Wanted {
    tests: Vec<ProbeTest>,
    /// Bytes for each test.
    each: u64,
    /// The same for data from the server, whose session budget also limits it.
    each_down: u64,
}

impl Wanted {
    fn of(args: &ProbeRunArgs, budget: u64) -> Self {
        use ProbeTest::{Both, Devices, Down, Rate, Responsiveness, Up};
        let is_wanted = |test: &ProbeTest| match test {
            // It takes minutes, so it only runs if requested.
            Rate => args.tests.contains(&Rate),
            Devices if args.beside.is_empty() => false,
            test => args.tests.is_empty() || args.tests.contains(test),
        };
        let mut tests = vec![Down, Up, Both, Responsiveness, Devices, Rate];
        tests.retain(is_wanted);
        let each = args.max_data / (tests.len() as u64).max(1);
        let downloads = tests.iter().filter(|test| **test != Up).count() as u64;
        Self {
            each_down: each.min(budget / downloads.max(1)),
            each,
            tests,
        }
    }
}

/// The test's name on the command line.
fn name(test: ProbeTest) -> &'static str {
    match test {
        ProbeTest::Down => "down",
        ProbeTest::Up => "up",
        ProbeTest::Both => "both",
        ProbeTest::Devices => "devices",
        ProbeTest::Responsiveness => "responsiveness",
        ProbeTest::Rate => "rate",
    }
}

impl Measured {
    fn note_failure(&mut self, test: ProbeTest, failure: Failure) {
        let missing = &mut self.results.missing;
        missing.push(format!(
            "{}: not measured to its end: {failure}",
            name(test)
        ));
        self.failure = Some(failure);
    }

    /// Runs a test. If it fails, we keep those of its results that are valid by themselves.
    fn perform(
        &mut self,
        test: ProbeTest,
        client: &mut Client,
        open: impl Fn(IpAddr) -> Result<Client, Failure>,
        args: &ProbeRunArgs,
        wanted: &Wanted,
    ) -> Result<(), Failure> {
        let (each, each_down) = (wanted.each, wanted.each_down);
        match test {
            ProbeTest::Down => self.way(client, Direction::Down, each_down),
            ProbeTest::Up => self.way(client, Direction::Up, each),
            ProbeTest::Both => {
                let (trains, bytes) = both::both(client, &self.results, each, each_down)?;
                self.results.bytes += bytes;
                self.echoes.extend(&trains.echoes);
                self.trains = Some(trains);
                Ok(())
            }
            ProbeTest::Responsiveness => self.under_load(client, each / 2, each_down / 2),
            ProbeTest::Devices => {
                let others = args.beside.iter().map(|&near| open(near));
                let mut others: Vec<Client> = others.collect::<Result<_, _>>()?;
                let mut all: Vec<&mut Client> =
                    std::iter::once(client).chain(&mut others).collect();
                let (found, bytes) = devices::devices(&mut all, &self.results, each_down)?;
                self.results.devices = Some(found);
                self.results.bytes += bytes;
                Ok(())
            }
            ProbeTest::Rate => {
                let lasting = Duration::from_secs_f64(args.minutes * 60.0);
                let (found, bytes, failure) =
                    minutes::minutes(client, &self.results, lasting, each_down);
                self.results.minutes = Some(found);
                self.results.bytes += bytes;
                failure.map_or(Ok(()), Err)
            }
        }
    }

    fn way(
        &mut self,
        client: &mut Client,
        direction: Direction,
        bytes: u64,
    ) -> Result<(), Failure> {
        let (found, busy, failure) = fill(client, direction, bytes);
        let to_client = direction == Direction::Down;
        let way = Way::of(&found, &self.idle, &busy, to_client);
        if to_client {
            self.trace = recorded(&found);
        }
        // An unfinished train shows nothing.
        let is_known = found.trains.iter().any(|train| !train.is_empty());
        let place = match direction {
            Direction::Down => &mut self.results.down,
            Direction::Up => &mut self.results.up,
        };
        *place = is_known.then_some(way);
        self.results.bytes += found.bytes;
        self.echoes.extend(&busy);
        self.ways.push((way_name(direction), found));
        failure.map_or(Ok(()), Err)
    }

    /// Measures responsiveness towards the client and away from it.
    fn under_load(
        &mut self,
        client: &mut Client,
        bytes: u64,
        down_bytes: u64,
    ) -> Result<(), Failure> {
        let mut both = <[Responsiveness; 2]>::default();
        let directions = [(Direction::Down, down_bytes), (Direction::Up, bytes)];
        let mut failure = None;
        for (found, (direction, bytes)) in both.iter_mut().zip(directions) {
            if failure.is_some() {
                found.missing.push("not measured".into());
                continue;
            }
            warn(format_args!(
                "responsiveness: TCP connections {}",
                way_name(direction)
            ));
            let under = client.responsiveness(direction, bytes);
            *found = under.found;
            self.results.bytes += under.bytes;
            // Drain the queue before the next test.
            let settle = || client.settle(&self.idle, IDLE).err();
            failure = under.failure.or_else(settle);
        }
        self.results.responsiveness = Some(both);
        failure.map_or(Ok(()), Err)
    }
}

fn way_name(direction: Direction) -> &'static str {
    match direction {
        Direction::Down => "down",
        Direction::Up => "up",
    }
}

/// Predicts the gain in each direction that was filled.
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

/// Sends trains of all sizes in one direction, and echoes meanwhile. If a train fails, there are no results of it and
/// the later ones.
fn fill(
    client: &mut Client,
    direction: Direction,
    bytes: u64,
) -> (Overflows, Vec<Echo>, Option<Failure>) {
    let (mut busy, mut failure) = (Vec::new(), None);
    let trains = overflows_by(bytes, |train| {
        if failure.is_some() {
            return Ok::<_, Infallible>((Vec::new(), 0));
        }
        warn(format_args!(
            "{}: filling the queue with packets of {} bytes",
            way_name(direction),
            train.bytes
        ));
        // Flow numbers of the two directions are different.
        let flow = train.flow + 8 * direction as u8;
        let train = tidegate_probe::TrainConfig { flow, ..train };
        match client.train(direction, train, Some(EVERY)) {
            Ok((arrivals, echoes)) => {
                busy.extend(echoes);
                let sent = sent_bytes(&arrivals);
                Ok((arrivals, sent))
            }
            Err(failed) => {
                failure = Some(failed);
                Ok((Vec::new(), 0))
            }
        }
    });
    let Ok(mut found) = trains;
    if failure.is_some() {
        // Both results compare trains of all sizes.
        (found.buffer, found.period) = (None, None);
    }
    (found, busy, failure)
}

/// Bytes that a train sent up to its last packet that arrived.
fn sent_bytes(train: &[Arrival]) -> u64 {
    let last = train.iter().max_by_key(|a| a.sequence);
    last.map_or(0, |a| (u64::from(a.sequence) + 1) * u64::from(a.bytes))
}

/// The trace of a direction, in Mahimahi's format; none if it is too short.
fn recorded(found: &Overflows) -> Option<String> {
    largest(found).and_then(|train| mahimahi(&backlogged(train)))
}

/// The train that carried most bytes while the link was busy.
fn largest(found: &Overflows) -> Option<&Vec<Arrival>> {
    let carried = |train: &&Vec<Arrival>| -> u64 {
        let busy = backlogged(train);
        busy.iter().map(|a| u64::from(a.bytes)).sum()
    };
    found.trains.iter().max_by_key(carried)
}
