//! Measures the rate over minutes (thesis Fig. 4.6) with short trains, so that the link is idle in between.

use super::{EVERY, sent_bytes};
use std::time::{Duration, Instant};
use tidegate_probe::TrainConfig;
use tidegate_probe::examine::{SIZES, overflow_train};
use tidegate_probe::net::{Client, Direction, Failure};
use tidegate_probe::results::{Minutes, Results};
use tidegate_terminal::warn;

/// Time between trains, and a train's length: its quiet packets, then time to find a doubled rate and to see fifty
/// bursts of 10 ms.
const TRAIN_EVERY: Duration = Duration::from_secs(5);
const TRAIN_TIME: Duration = Duration::from_millis(1200);

/// Length of the first train, which knows nothing of the rate.
const FIRST_TIME: Duration = Duration::from_secs(4);

/// The first flow number of its trains. Numbers count up, and are reused only after all other trains are over.
const FLOWS: u8 = 32;

/// Returns the rates, the bytes sent (at most `bytes`), and why it ended early if it did.
pub fn minutes(
    client: &mut Client,
    known: &Results,
    lasting: Duration,
    bytes: u64,
) -> (Minutes, u64, Option<Failure>) {
    let trains = (lasting.as_secs_f64() / TRAIN_EVERY.as_secs_f64()).ceil() as u32;
    warn(format_args!(
        "rate: {trains} short trains, {} s apart",
        TRAIN_EVERY.as_secs()
    ));
    let (mut found, mut sent) = (Minutes::default(), 0);
    let mut start = None;
    let begun = Instant::now();
    for nth in 0..trains {
        let train = overflow_train(FLOWS + (nth % 128) as u8, SIZES[0]);
        let known_bps = known.down.as_ref().and_then(|way| way.rate);
        let last_bps = found.rates.last().map(|rate| rate.1);
        let last_bps = last_bps.or(known_bps.map(|rate| rate.median_bps));
        let train = TrainConfig {
            start_bps: last_bps.unwrap_or(train.start_bps),
            max_time: last_bps.map_or(FIRST_TIME, |_| TRAIN_TIME),
            max_bytes: (bytes - sent) / u64::from(trains - nth),
            ..train
        };
        let arrivals = match client.train(Direction::Down, train, None) {
            Ok((arrivals, _)) => arrivals,
            Err(failure) => return (found, sent, Some(failure)),
        };
        let first = arrivals.first().map(|a| a.arrived);
        start = start.or(first);
        found.note(start.unwrap_or(tidegate_link::Instant::ZERO), &arrivals);
        sent += sent_bytes(&arrivals);
        let next = begun + TRAIN_EVERY * (nth + 1);
        let rest = next.saturating_duration_since(Instant::now());
        if let Err(failure) = client.ping(EVERY, rest) {
            return (found, sent, Some(failure));
        }
    }
    (found, sent, None)
}
