//! Two or three devices at one server (thesis §4.3): a quiet one beside a busy one, then all of them busy.

use super::{EVERY, both::WINDOW, sent_bytes};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use tidegate_probe::examine::{SIZES, overflow_train};
use tidegate_probe::net::{Client, Direction, Failure};
use tidegate_probe::results::{Devices, Results};
use tidegate_probe::{Arrival, Pace, TrainConfig};
use tidegate_terminal::warn;

/// A quiet flow sends 100 bytes every 10 ms (the thesis: 50).
const QUIET_BYTES: u16 = 100;
const QUIET_BPS: f64 = 100.0 * 8.0 / 0.01;

/// How long the quiet flow runs alone, and how long the busy ones run.
const ALONE: Duration = Duration::from_secs(3);
const BUSY: Duration = Duration::from_secs(10);

/// The first flow number of its trains; other tests have others.
const FLOWS: u8 = 24;

/// Returns what the devices share, and the bytes sent, at most `bytes`. Busy trains start at the downlink's rate in
/// `known`.
pub fn devices(
    clients: &mut [&mut Client],
    known: &Results,
    bytes: u64,
) -> Result<(Devices, u64), Failure> {
    let rate = known.down.as_ref().and_then(|way| way.rate);
    // Two trains at first, then two, then three.
    let trains: usize = 2 + (2..=clients.len()).sum::<usize>();
    let mut flow = FLOWS;
    let mut train = |size, pace| {
        flow += 1;
        let train = overflow_train(flow, size);
        TrainConfig {
            pace,
            max_time: BUSY,
            max_bytes: bytes / trains as u64,
            start_bps: rate.map_or(train.start_bps, |rate| rate.median_bps),
            ..train
        }
    };
    let quiet = TrainConfig {
        max_time: ALONE + BUSY,
        ..train(QUIET_BYTES, Pace::Constant(QUIET_BPS))
    };
    let busy = train(SIZES[0], Pace::Busy);
    warn(format_args!("devices: a quiet one beside a busy one"));
    let pair = together(clients, &[(quiet, Duration::ZERO), (busy, ALONE)])?;
    let mut all = Vec::new();
    for number in 2..=clients.len() {
        warn(format_args!("devices: {number} busy ones"));
        let modest = (1..number).map(|_| train(SIZES[0], Pace::Window(WINDOW)));
        let mut wanted: Vec<_> = modest.map(|train| (train, Duration::ZERO)).collect();
        wanted.push((train(SIZES[0], Pace::Busy), Duration::ZERO));
        all.push(together(clients, &wanted)?);
    }
    let sent = all
        .iter()
        .flatten()
        .chain(&pair)
        .map(|t| sent_bytes(t))
        .sum();
    Ok((Devices::of(&pair[0], &pair[1], &all), sent))
}

/// Sends a train to each of the first clients, with a delay between them; the others stay silent.
fn together(
    clients: &mut [&mut Client],
    trains: &[(TrainConfig, Duration)],
) -> Result<Vec<Vec<Arrival>>, Failure> {
    let under_way = &AtomicUsize::new(trains.len());
    thread::scope(|scope| {
        let threads: Vec<_> = clients
            .iter_mut()
            .enumerate()
            .map(|(nth, client)| {
                let train = trains.get(nth).copied();
                scope.spawn(move || take_part(client, train, under_way))
            })
            .collect();
        let found = threads.into_iter().map(|thread| {
            let found = thread.join();
            found.expect("a train does not panic")
        });
        let mut found = found.collect::<Result<Vec<_>, _>>()?;
        found.truncate(trains.len());
        Ok(found)
    })
}

/// Sends a train after a delay, if there is one for this client. Echoes keep its session alive until the other trains
/// are over.
fn take_part(
    client: &mut Client,
    train: Option<(TrainConfig, Duration)>,
    under_way: &AtomicUsize,
) -> Result<Vec<Arrival>, Failure> {
    let mut found = Ok(Vec::new());
    if let Some((train, later)) = train {
        let waited = client.ping(EVERY, later);
        let arrived = waited.and_then(|_| client.train(Direction::Down, train, None));
        found = arrived.map(|(arrivals, _)| arrivals);
        under_way.fetch_sub(1, Ordering::Relaxed);
    }
    while found.is_ok() && under_way.load(Ordering::Relaxed) > 0 {
        client.ping(EVERY, EVERY)?;
    }
    found
}
