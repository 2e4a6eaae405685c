//! Packets that arrive together (thesis §4.2.1).

use crate::{Arrival, Stage};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// Arrivals further apart than this belong to different bursts.
pub const GAP: Duration = Duration::from_millis(1);

/// Packets that arrived together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Burst {
    /// When the first of them arrived.
    pub first: Instant,
    /// When the last of them arrived.
    pub last: Instant,
    /// Packets.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u64,
}

/// Arrivals while packets stood in the queue: the link determines their times, not the sender. From the first packet
/// after the quiet ones that waited, to the end of the overload.
pub fn backlogged(arrivals: &[Arrival]) -> Vec<Arrival> {
    let busy = arrivals.iter().filter(|a| a.stage == Stage::Fill);
    let least = arrivals.iter().map(Arrival::one_way_ns).min().unwrap_or(0);
    busy.skip_while(|a| a.one_way_ns().saturating_sub(least) < WAITED_NS)
        .copied()
        .collect()
}

/// A packet that waited longer has others ahead, or waits for the scheduler's next turn.
const WAITED_NS: i64 = 5_000_000;

/// Splits arrivals into bursts, wherever more than `gap` lies between two.
pub fn split(arrivals: &[Arrival], gap: Duration) -> Vec<Burst> {
    let mut bursts: Vec<Burst> = Vec::new();
    for arrival in arrivals {
        match bursts.last_mut() {
            Some(burst) if arrival.arrived - burst.last <= gap => {
                burst.last = arrival.arrived;
                burst.packets += 1;
                burst.bytes += u64::from(arrival.bytes);
            }
            _ => bursts.push(Burst {
                first: arrival.arrived,
                last: arrival.arrived,
                packets: 1,
                bytes: arrival.bytes.into(),
            }),
        }
    }
    bursts
}

/// Bursts if there are any: a fast smooth link has no gaps, and then every packet is a burst.
pub fn split_or_packets(arrivals: &[Arrival]) -> Vec<Burst> {
    let bursts = split(arrivals, GAP);
    if bursts.len() * MANY < arrivals.len() {
        return split(arrivals, Duration::ZERO);
    }
    bursts
}

/// With more packets than this in a burst, on average, the bursts are not a scheduler's.
const MANY: usize = 200;

/// Times between arrivals, in milliseconds.
pub fn inter_arrival_ms(arrivals: &[Arrival]) -> Vec<f64> {
    arrivals
        .windows(2)
        .map(|pair| (pair[1].arrived - pair[0].arrived).as_secs_f64() * 1e3)
        .collect()
}
