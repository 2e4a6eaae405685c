//! A download beside a saturating upload, and in which direction its packets wait (thesis Figs. 4.14 to 4.16).

use super::{full_time, while_full};
use crate::analysis::clock::ClockEstimate;
use crate::analysis::latency::{self, Grade, LoadedLatency};
use crate::analysis::rate::{RateSummary, summary};
use crate::analysis::{bursts, median, queues};
use crate::{Arrival, Echo, HEADERS, Stage};
use serde::{Deserialize, Serialize};

/// The results for the download, and for round trips.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct BothWays {
    /// The download without the upload, in bit/s.
    pub alone_bps: f64,
    /// Beside it, while the uplink's queue is at least half as long as its longest.
    pub beside_bps: f64,
    /// The upload.
    pub upload: Option<RateSummary>,
    /// Round trips at the same time.
    pub latency: Option<LoadedLatency>,
    /// One way, from the client.
    pub up: Option<OneWay>,
    /// One way, to the client.
    pub down: Option<OneWay>,
}

/// How long packets take one way, on the idle link and beside the upload.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct OneWay {
    /// Median, idle, in milliseconds.
    pub idle_ms: f64,
    /// Median, busy, in milliseconds.
    pub busy_ms: f64,
    /// The grade of its increase, as if the other direction's delay had not grown.
    pub grade: Grade,
}

/// The observations.
#[derive(Clone, Debug, Default)]
pub struct Trains {
    /// The download alone.
    pub alone: Vec<Arrival>,
    /// The download beside the upload.
    pub down: Vec<Arrival>,
    /// The upload.
    pub up: Vec<Arrival>,
    /// Pongs beside them.
    pub echoes: Vec<Echo>,
}

impl BothWays {
    /// From the trains, round trips of the idle link, and the clocks' estimate; none if too little arrived.
    pub fn of(trains: &Trains, idle: &[Echo], clock: &ClockEstimate) -> Option<Self> {
        let (from, to) = full_time(&trains.up, false)?;
        let busy = while_full(&trains.up, &trains.echoes, false);
        let filling: Vec<Arrival> = (trains.alone.iter())
            .filter(|a| a.stage == Stage::Fill)
            .copied()
            .collect();
        let (first, last) = (filling.first()?.arrived, filling.last()?.arrived);
        let carried = |flow: &[Arrival], from, to| queues::shares_bps(&[flow], from, to)[0];
        Some(Self {
            alone_bps: carried(&filling, first, last),
            beside_bps: carried(&trains.down, from, to),
            upload: summary(&bursts::backlogged(&trains.up)),
            latency: latency::loaded(idle, &busy),
            up: OneWay::of(0, idle, &busy, clock),
            down: OneWay::of(1, idle, &busy, clock),
        })
    }
}

impl OneWay {
    fn of(side: usize, idle: &[Echo], busy: &[Echo], clock: &ClockEstimate) -> Option<Self> {
        let middle_ms = |echoes: &[Echo]| {
            let ways = echoes.iter().map(|e| clock.one_way_s(e)[side] * 1e3);
            (!echoes.is_empty()).then(|| median(ways.collect()))
        };
        let (idle_ms, busy_ms) = middle_ms(idle).zip(middle_ms(busy))?;
        Some(Self {
            idle_ms,
            busy_ms,
            grade: Grade::of(busy_ms - idle_ms),
        })
    }
}

/// How much longer a ping takes to be sent up than its pong down, in seconds, at these rates in bit/s.
pub fn longer_up_s(up_bps: f64, down_bps: f64) -> f64 {
    let bits = ((HEADERS + crate::wire::CONTROL) * 8) as f64;
    bits / up_bps - bits / down_bps
}
