//! How long a flow would take alone on the idle link. Slowdown is measured against it.
//!
//! ```text
//!  up      down   handshake        data
//!  ├──────▶├──────▶├──────▶├──────▶├───── packets ÷ rate ─────▶│   a download
//!  ├──────▶├──────▶├──────▶├───── packets ÷ rate ─────▶│           an upload
//! ```
//!
//! The client opens the connection: a round trip. The server sends data once the client's acknowledgement of that has
//! come, the client along with that acknowledgement. From then on the slowest link is busy with the flow's packets, at
//! its mean rate, without slow start. Two omissions make real flows a little slower: the transmission time of the
//! handshake's packets, and that of a packet on the other links.

use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_link::{Capacity, Config};
use tidegate_scenario::{Direction, LinkInputs, Scenario, UP, Workload};

/// Payload of a full packet in bytes, then its IP and TCP headers without options.
const FULL: u64 = 1460;
const HEADERS: u64 = 40;

/// Bytes of TCP timestamps, which reduce the payload.
const TIMESTAMPS: u64 = 12;

/// A way without other traffic.
#[derive(Clone, Copy, Debug)]
pub struct IdleWay {
    /// From `connect` to the first byte's arrival, without that byte's transmission time.
    ahead: Duration,
    /// Mean rate of the slowest link in bit/s, from the term's start to its end.
    pub bps: f64,
    /// Bytes of options in each packet.
    options: u64,
}

impl IdleWay {
    /// The path of a workload's data from `from` to `to`.
    pub fn new(
        scenario: &Scenario,
        inputs: &LinkInputs,
        workload: &Workload,
        direction: Direction,
        [from, to]: [Instant; 2],
    ) -> Self {
        let way = |direction| scenario.way(workload.links.as_deref(), direction);
        let links = |direction| way(direction).into_iter().map(|place| link(inputs, place));
        let delay = |direction| {
            let delays = links(direction).map(|link| link.delay.at(from));
            delays.sum::<Duration>()
        };
        let [down, up] = [Direction::Down, Direction::Up].map(delay);
        let rates = links(direction).map(|link| mean_bps(link, from, to));
        let timestamps = workload.timestamps.unwrap_or(scenario.hosts.timestamps);
        Self {
            ahead: match direction {
                Direction::Down => up + down + up + down,
                Direction::Up => up + down + up,
            },
            bps: rates.fold(f64::INFINITY, f64::min),
            options: if timestamps { TIMESTAMPS } else { 0 },
        }
    }

    /// How long a flow of `bytes` would take.
    pub fn completion(&self, bytes: u64) -> Duration {
        let packets = bytes.div_ceil(FULL - self.options);
        let whole = bytes + packets * (HEADERS + self.options);
        self.ahead + Duration::from_secs_f64(whole as f64 * 8.0 / self.bps)
    }
}

fn link(inputs: &LinkInputs, place: usize) -> &Config {
    match place {
        tidegate_scenario::DOWN => &inputs.down,
        UP => &inputs.up,
        hop => &inputs.hops[hop - 2],
    }
}

/// Mean rate of the link, or of a shaper in front of it; at least 1 bit/s.
fn mean_bps(link: &Config, from: Instant, to: Instant) -> f64 {
    let bits = Capacity::new(&link.rate).bytes(from, to) as f64 * 8.0;
    let mean = (bits / (to - from).as_secs_f64()).max(1.0);
    let shaped = link.shaper.map(|shaper| shaper.rate_bps);
    shaped.map_or(mean, |shaped| mean.min(shaped))
}

#[cfg(test)]
mod tests;
