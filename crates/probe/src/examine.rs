//! The tests, one after another, over emulated links; the same as over sockets.

use crate::analysis::buffer::{Buffer, buffer};
use crate::analysis::bursts::backlogged;
use crate::analysis::flights::Flights;
use crate::analysis::rate::summary;
use crate::analysis::period::{Period, period};
use crate::analysis::policy::{DropPolicy, overflow};
use crate::emulated::{Emulated, Experiment, Observed, Side};
use crate::{Arrival, Pace, TrainConfig};
use std::time::Duration;

/// Sizes of packets, largest first: the thesis's range, 200 to 1420 bytes, and one between that shares
/// only the time of 20 bytes with both ([`crate::analysis::period`]).
pub const SIZES: [u16; 3] = [1420, 560, 200];

/// Where a train begins that knows nothing of the link, in bit/s.
const START_BPS: f64 = 200e3;

/// What no train exceeds unless somebody says so, in bit/s.
const MAX_BPS: f64 = 200e6;

/// What a train may cost at most, in bytes, and how long it may fill.
const MAX_BYTES: u64 = 100_000_000;
const MAX_TIME: Duration = Duration::from_secs(300);

/// Long enough for the bursts of a slow link.
const BURSTS_TIME: Duration = Duration::from_secs(3);

/// Seconds for which a link is kept busy while something else is measured.
pub const OVERFLOW_SECONDS: u64 = 30;

/// What trains that fill the queue say of a direction.
#[derive(Clone, Debug, Default)]
pub struct Overflows {
    /// What arrived of each.
    pub trains: Vec<Vec<Arrival>>,
    /// The buffer, if it overflowed.
    pub buffer: Option<Buffer>,
    /// The interval of bursts, if there is one.
    pub period: Option<Period>,
    /// Bytes sent in all.
    pub bytes: u64,
}

/// A train that fills the queue with packets of that size.
pub fn overflow_train(flow: u8, bytes: u16) -> TrainConfig {
    TrainConfig {
        flow,
        bytes,
        pace: Pace::Overflow,
        start_bps: START_BPS,
        max_bps: MAX_BPS,
        max_bytes: MAX_BYTES,
        max_time: MAX_TIME,
    }
}

/// Whether the queue keeps waits short, whatever its length.
fn bounds_time(train: &Flights) -> bool {
    overflow(train).is_some_and(|o| o.policy == DropPolicy::Aqm)
}

/// Fills the queue behind `from` with packets of each size, one train after the other.
pub fn overflows(link: &mut Emulated, from: Side) -> Overflows {
    let mut found = Overflows::default();
    let mut filled = Vec::new();
    let mut start_bps = START_BPS;
    for (flow, &bytes) in (0..).zip(&SIZES) {
        let mut train = overflow_train(flow, bytes);
        train.start_bps = start_bps;
        let enough = filled.len() == 2 && filled.iter().all(bounds_time);
        if enough {
            // The size of such a queue does not depend on the packets': they are wanted for the bursts only.
            train.max_time = BURSTS_TIME;
        }
        let experiment = Experiment {
            trains: vec![(from, train)],
            ..Experiment::default()
        };
        let Observed {
            mut trains,
            sent_bytes,
            ..
        } = link.perform(&experiment);
        found.bytes += sent_bytes[0];
        found.trains.append(&mut trains);
        let arrivals = &found.trains[found.trains.len() - 1];
        let rate = summary(&backlogged(arrivals));
        start_bps = rate.map_or(start_bps, |r| r.median_bps.clamp(START_BPS, MAX_BPS));
        if !enough {
            filled.push(Flights::of(arrivals));
        }
    }
    found.buffer = buffer(&filled);
    let arrivals: Vec<&[Arrival]> = found.trains.iter().map(Vec::as_slice).collect();
    found.period = period(&arrivals);
    found
}
