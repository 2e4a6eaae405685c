//! A download alone, then beside an upload that saturates the uplink (thesis §4.4).

use super::{EVERY, sent_bytes};
use crate::say;
use std::time::Duration;
use tidegate_probe::examine::{SIZES, overflow_train};
use tidegate_probe::net::{Client, Direction, Failure};
use tidegate_probe::results::{Results, Trains};
use tidegate_probe::{Pace, TrainConfig};

/// How long each lasts.
const TIME: Duration = Duration::from_secs(10);

/// In flight of the download, whose reports come back over the full uplink as a TCP's acknowledgements would: the
/// thesis's window of Fig. 4.13.
pub const WINDOW: u64 = 64_000;

/// Numbers of its trains, apart from those that fill queues.
const FLOWS: [u8; 3] = [16, 17, 18];

/// The trains, and bytes sent; `bytes` at most in all, `down_bytes` of them to the client. What `known` has of the
/// uplink's rate is where the upload begins.
pub fn both(
    client: &mut Client,
    known: &Results,
    bytes: u64,
    down_bytes: u64,
) -> Result<(Trains, u64), Failure> {
    let [alone, beside, upload] = FLOWS.map(|flow| overflow_train(flow, SIZES[0]));
    let download = |train| TrainConfig {
        pace: Pace::Window(WINDOW),
        max_time: TIME,
        max_bytes: down_bytes.min(bytes / 2) / 2,
        ..train
    };
    let uplink = known.up.as_ref().and_then(|way| way.rate);
    let upload = TrainConfig {
        pace: Pace::Busy,
        max_time: TIME,
        max_bytes: bytes / 2,
        start_bps: uplink.map_or(upload.start_bps, |rate| rate.median_bps),
        ..upload
    };
    say::err(format_args!("both: a download"));
    let (alone, _) = client.train(Direction::Down, download(alone), None)?;
    say::err(format_args!("both: the same beside an upload"));
    let trains = [(Direction::Down, download(beside)), (Direction::Up, upload)];
    let (mut found, echoes) = client.trains(&trains, Some(EVERY))?;
    let up = found.pop().unwrap_or_default();
    let down = found.pop().unwrap_or_default();
    let sent = [&alone, &down, &up]
        .map(|train| sent_bytes(train))
        .iter()
        .sum();
    let trains = Trains {
        alone,
        down,
        up,
        echoes,
    };
    Ok((trains, sent))
}
