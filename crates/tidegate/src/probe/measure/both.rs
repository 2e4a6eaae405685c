//! A download alone, then beside an upload that saturates the uplink (thesis §4.4).

use super::{EVERY, sent_bytes};
use std::time::Duration;
use tidegate_probe::examine::{SIZES, overflow_train};
use tidegate_probe::net::{Client, Direction, Failure};
use tidegate_probe::results::{Results, Trains};
use tidegate_probe::{Pace, TrainConfig};
use tidegate_terminal::warn;

/// Length of each part.
const TIME: Duration = Duration::from_secs(10);

/// The download's window in flight. Its reports return over the full uplink as TCP's acknowledgements would. The value
/// is that of the thesis, Fig. 4.13.
pub const WINDOW: u64 = 64_000;

/// Flow numbers of its trains; those that fill queues have others.
const FLOWS: [u8; 3] = [16, 17, 18];

/// Returns the trains, and the bytes sent: at most `bytes` in all, and `down_bytes` towards the client. The upload
/// starts at the uplink's rate in `known`.
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
    warn(format_args!("both: a download"));
    let (alone, _) = client.train(Direction::Down, download(alone), None)?;
    warn(format_args!("both: the same beside an upload"));
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
