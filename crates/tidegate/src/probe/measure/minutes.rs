//! The rate over minutes (thesis Fig. 4.6), by short trains: the link is not kept busy in between.

use super::{EVERY, sent_bytes};
use std::time::{Duration, Instant};
use tidegate_probe::examine::{SIZES, overflow_train};
use tidegate_probe::net::{Client, Direction, Failure};
use tidegate_probe::results::Minutes;
use tidegate_probe::{Pace, TrainConfig};

/// A train so often, for so long: its quiet packets, and fifty bursts of 10 ms.
const TRAIN_EVERY: Duration = Duration::from_secs(5);
const TRAIN_TIME: Duration = Duration::from_millis(1300);

/// The first number of its trains: they count on, and come round only after all others are over.
const FLOWS: u8 = 32;

/// The rates, and bytes sent, `bytes` at most.
pub fn minutes(
    client: &mut Client,
    lasting: Duration,
    bytes: u64,
) -> Result<(Minutes, u64), Failure> {
    let trains = (lasting.as_secs_f64() / TRAIN_EVERY.as_secs_f64()).ceil() as u32;
    eprintln!("rate: {trains} short trains, {} s apart", TRAIN_EVERY.as_secs());
    let (mut found, mut sent) = (Minutes::default(), 0);
    let mut start = None;
    let begun = Instant::now();
    for nth in 0..trains {
        let train = overflow_train(FLOWS + (nth % 128) as u8, SIZES[0]);
        let last_bps = found.rates.last().map(|rate| rate.1);
        let (arrivals, _) = client.train(
            Direction::Down,
            TrainConfig {
                pace: Pace::Busy,
                start_bps: last_bps.unwrap_or(train.start_bps),
                max_time: TRAIN_TIME,
                max_bytes: (bytes - sent) / u64::from(trains - nth),
                ..train
            },
            None,
        )?;
        let first = arrivals.first().map(|a| a.arrived);
        start = start.or(first);
        found.note(start.unwrap_or(tidegate_link::Instant::ZERO), &arrivals);
        sent += sent_bytes(&arrivals);
        let next = begun + TRAIN_EVERY * (nth + 1);
        client.ping(EVERY, next.saturating_duration_since(Instant::now()))?;
    }
    Ok((found, sent))
}
