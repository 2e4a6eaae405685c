//! Two devices at one server (thesis §4.3): a quiet one beside a busy one, then two that both want more.

use super::{EVERY, both::WINDOW, sent_bytes};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use tidegate_probe::examine::{SIZES, overflow_train};
use tidegate_probe::net::{Client, Direction, Failure};
use tidegate_probe::results::{Devices, Results};
use tidegate_probe::{Arrival, Pace, TrainConfig};

/// 100 bytes every 10 ms (the thesis: 50).
const QUIET_BYTES: u16 = 100;
const QUIET_BPS: f64 = 100.0 * 8.0 / 0.01;

/// How long the quiet flow is alone, and how long the busy ones last.
const ALONE: Duration = Duration::from_secs(3);
const BUSY: Duration = Duration::from_secs(10);

/// Numbers of its trains, apart from those of the other tests.
const FLOWS: [u8; 4] = [24, 25, 26, 27];

/// What they share, and bytes sent, `bytes` at most. What `known` has of the downlink's rate is where busy trains begin.
pub fn devices(
    mut clients: [&mut Client; 2],
    known: &Results,
    bytes: u64,
) -> Result<(Option<Devices>, u64), Failure> {
    let rate = known.down.as_ref().and_then(|way| way.rate);
    let train = |nth: usize, size, pace| {
        let train = overflow_train(FLOWS[nth], size);
        TrainConfig {
            pace,
            max_time: BUSY,
            max_bytes: bytes / FLOWS.len() as u64,
            start_bps: rate.map_or(train.start_bps, |rate| rate.median_bps),
            ..train
        }
    };
    let quiet = TrainConfig {
        max_time: ALONE + BUSY,
        ..train(0, QUIET_BYTES, Pace::Constant(QUIET_BPS))
    };
    let busy = train(1, SIZES[0], Pace::Busy);
    eprintln!("devices: a quiet one beside a busy one");
    let first = together(&mut clients, [quiet, busy], ALONE)?;
    eprintln!("devices: both busy");
    let modest = train(2, SIZES[0], Pace::Window(WINDOW));
    let greedy = train(3, SIZES[0], Pace::Busy);
    let both = together(&mut clients, [modest, greedy], Duration::ZERO)?;
    let sent = first
        .iter()
        .chain(&both)
        .map(|train| sent_bytes(train))
        .sum();
    let found = Devices::of([&first[0], &first[1]], [&both[0], &both[1]]);
    Ok((found, sent))
}

/// A train to each at once, the second's so much later.
fn together(
    clients: &mut [&mut Client; 2],
    trains: [TrainConfig; 2],
    later: Duration,
) -> Result<[Vec<Arrival>; 2], Failure> {
    let [one, other] = clients;
    let over = [false; 2].map(AtomicBool::new);
    thread::scope(|scope| {
        let first = scope.spawn(|| take_part(one, trains[0], Duration::ZERO, [&over[0], &over[1]]));
        let second = take_part(other, trains[1], later, [&over[1], &over[0]]);
        let first = first.join().expect("a train does not panic");
        Ok([first?, second?])
    })
}

/// A train after a while; questions keep the session alive until the other one's is over too.
fn take_part(
    client: &mut Client,
    train: TrainConfig,
    later: Duration,
    [mine, others]: [&AtomicBool; 2],
) -> Result<Vec<Arrival>, Failure> {
    let waited = client.ping(EVERY, later);
    let found = waited.and_then(|_| client.train(Direction::Down, train, None));
    mine.store(true, Ordering::Relaxed);
    while found.is_ok() && !others.load(Ordering::Relaxed) {
        client.ping(EVERY, EVERY)?;
    }
    Ok(found?.0)
}
