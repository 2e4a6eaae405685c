//! The receiver: counts arrivals in each tick, and forecasts.

use super::belief::Belief;
use super::{Data, Forecast, HORIZON, PACKET_BYTES, TICK, forecast};
use std::collections::BTreeMap;
use tidegate_basics::time::Instant;

/// Weight of the latest tick in Sprout-EWMA's mean.
const GAIN: f64 = 1.0 / 8.0;

/// Packets a tick with which Sprout-EWMA begins.
const FIRST: f64 = 1.0;

/// The estimate of the link's rate.
#[derive(Clone, Debug)]
pub enum Estimate {
    /// Sprout: a belief.
    Belief(Box<Belief>),
    /// Sprout-EWMA: packets a tick, an exponentially weighted mean.
    Mean(f64),
}

impl Estimate {
    /// Sprout's estimate before anything has arrived.
    pub fn cautious() -> Self {
        Self::Belief(Box::new(Belief::uniform()))
    }

    /// Sprout-EWMA's initial estimate.
    pub const fn steady() -> Self {
        Self::Mean(FIRST)
    }

    /// A tick has passed, in which that many packets arrived; none: the sender sent nothing.
    fn tick(&mut self, packets: Option<f64>) {
        match self {
            Self::Belief(belief) => {
                belief.evolve();
                if let Some(packets) = packets {
                    belief.observe(whole(packets));
                }
            }
            Self::Mean(mean) => {
                if let Some(packets) = packets {
                    let packets = if packets > 0.0 { packets.max(1.0) } else { 0.0 };
                    *mean = (1.0 - GAIN) * *mean + GAIN * packets;
                }
            }
        }
    }

    /// Packets until the end of each of the next ticks.
    pub fn forecast(&self) -> [u32; HORIZON] {
        match self {
            Self::Belief(belief) => forecast::cautious(belief),
            Self::Mean(mean) => forecast::steady(*mean),
        }
    }
}

/// Rounds to whole packets, and any arrival up to at least one.
fn whole(packets: f64) -> u32 {
    let least = if packets > 0.0 { 1 } else { 0 };
    ((packets + 0.5) as u32).max(least)
}

/// The receiving end.
#[derive(Debug)]
pub struct Receiver {
    estimate: Estimate,
    /// When this tick began.
    tick: Instant,
    /// Bytes that have arrived in it.
    bytes: u64,
    /// The sender has announced that it sends nothing until then.
    silent_until: Instant,
    /// All bytes before this number have arrived or are lost.
    settled: u64,
    /// Packets that arrived beyond that number: their bytes by sequence number.
    beyond: BTreeMap<u64, u64>,
    newest: Option<Instant>,
}

impl Receiver {
    /// A receiver that begins now.
    pub const fn new(estimate: Estimate, now: Instant) -> Self {
        Self {
            estimate,
            tick: now,
            bytes: 0,
            silent_until: now,
            settled: 0,
            beyond: BTreeMap::new(),
            newest: None,
        }
    }

    /// When this tick ends; call [`Self::advance`] then.
    pub fn tick_ends(&self) -> Instant {
        self.tick + TICK
    }

    /// Ends the ticks that are over. A tick in which the sender announced silence and nothing came teaches nothing.
    pub fn advance(&mut self, now: Instant) {
        while self.tick_ends() <= now {
            let packets = self.bytes as f64 / PACKET_BYTES as f64;
            let seen = self.bytes > 0 || self.tick >= self.silent_until;
            self.estimate.tick(seen.then_some(packets));
            self.bytes = 0;
            self.tick = self.tick_ends();
        }
    }

    /// A packet has arrived.
    pub fn receive(&mut self, now: Instant, data: &Data) {
        self.advance(now);
        self.bytes += data.bytes;
        self.silent_until = self.silent_until.max(self.tick + data.time_to_next);
        self.newest = self.newest.max(Some(data.sent));
        self.settled = self.settled.max(data.settled);
        self.beyond.insert(data.sequence, data.bytes);
        self.beyond = self.beyond.split_off(&self.settled);
    }

    /// The forecast to send.
    pub fn forecast(&self) -> Forecast {
        Forecast {
            cumulative: self.estimate.forecast(),
            received_or_lost: self.settled + self.beyond.values().sum::<u64>(),
            newest: self.newest,
        }
    }
}
