//! The tests, one after another: the same over emulated links and over sockets.

use crate::analysis::buffer::{Buffer, buffer};
use crate::analysis::bursts::backlogged;
use crate::analysis::flights::Flights;
use crate::analysis::period::{Period, period};
use crate::analysis::policy::{DropPolicy, common_bound, overflow};
use crate::analysis::rate::summary;
use crate::emulated::{Emulated, Experiment, Side};
use crate::{Arrival, Pace, TrainConfig};
use std::time::Duration;

/// Sizes of packets, largest first: the thesis's range, 200 to 1420 bytes, and one between, which has only the time of
/// 20 bytes in common with both ([`crate::analysis::period`]).
pub const SIZES: [u16; 3] = [1420, 560, 200];

/// The initial rate of a train that knows nothing about the link, in bit/s.
const START_BPS: f64 = 200e3;

/// The largest rate of a train unless the caller sets another, in bit/s.
const MAX_BPS: f64 = 200e6;

/// The most bytes of a train, and how long it may fill.
const MAX_BYTES: u64 = 150_000_000;
const MAX_TIME: Duration = Duration::from_secs(300);

/// Long enough for the bursts of a slow link.
const BURSTS_TIME: Duration = Duration::from_secs(3);

/// Seconds for which a link is kept busy while something else is measured.
pub const OVERFLOW_SECONDS: u64 = 30;

/// What trains that fill the queue show about a direction.
#[derive(Clone, Debug, Default)]
pub struct Overflows {
    /// The arrivals of each.
    pub trains: Vec<Vec<Arrival>>,
    /// The buffer, if it overflowed.
    pub buffer: Option<Buffer>,
    /// The interval of bursts, if there is one.
    pub period: Option<Period>,
    /// Bytes sent in all.
    pub bytes: u64,
}

/// A train that fills the queue with packets of `bytes` bytes.
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

/// Whether the queue bounds the wait, whatever its length, and the bound is well known.
fn bounds_time(trains: &[Flights]) -> bool {
    let managed = |train| overflow(train).is_some_and(|o| o.policy == DropPolicy::Aqm);
    let bound = common_bound(&trains.iter().collect::<Vec<_>>());
    trains.iter().all(managed) && bound.is_some_and(|b| b.within < WELL_KNOWN * b.value)
}

/// Half of the goal of 10 %.
const WELL_KNOWN: f64 = 0.05;

/// Fills the queue behind `from` with packets of each size, one train after the other.
pub fn overflows(link: &mut Emulated, from: Side) -> Overflows {
    let run = |train: TrainConfig| {
        let mut observed = link.perform(&Experiment {
            trains: vec![(from, train)],
            ..Experiment::default()
        });
        Ok::<_, std::convert::Infallible>((observed.trains.remove(0), observed.sent_bytes[0]))
    };
    match overflows_by(MAX_BYTES * SIZES.len() as u64, run) {
        Ok(found) => found,
    }
}

/// The same, with each train run by `run`, which returns the arrivals and the bytes sent; `bytes` for all of them
/// together.
///
/// # Errors
/// The errors of `run`.
pub fn overflows_by<E>(
    bytes: u64,
    mut run: impl FnMut(TrainConfig) -> Result<(Vec<Arrival>, u64), E>,
) -> Result<Overflows, E> {
    let mut found = Overflows::default();
    let mut filled = Vec::new();
    let mut start_bps = START_BPS;
    for (flow, (&size, share)) in (0..).zip(SIZES.iter().zip(SHARES)) {
        let mut train = overflow_train(flow, size);
        train.start_bps = start_bps;
        train.max_bytes = ((bytes as f64 * share) as u64).min(MAX_BYTES);
        let enough = filled.len() == 2 && bounds_time(&filled);
        if enough {
            // The size of such a queue does not depend on the packets': the other trains are only for the bursts.
            train.max_time = BURSTS_TIME;
        }
        let (arrivals, sent) = run(train)?;
        let rate = summary(&backlogged(&arrivals));
        start_bps = rate.map_or(start_bps, |r| r.median_bps.clamp(START_BPS, MAX_BPS));
        if !enough {
            filled.push(Flights::of(&arrivals));
        }
        found.bytes += sent;
        found.trains.push(arrivals);
    }
    found.buffer = buffer(&filled);
    let arrivals: Vec<&[Arrival]> = found.trains.iter().map(Vec::as_slice).collect();
    found.period = period(&arrivals);
    Ok(found)
}

/// The shares of the bytes for each size: a buffer of packets needs most with the largest, one of bytes the same with
/// all.
const SHARES: [f64; 3] = [0.5, 0.25, 0.25];
