//! A mix under construction: the access link, the paths to other hosts, and the hosts' workloads.

use crate::tide::links::queue;
use crate::workloads::bulk;
use tidegate_scenario::{
    Direction, Hop, LinkSpec, QueuePolicy, QueueSpec, RateSpec, Run, Scenario, Side, Workload,
    WorkloadKind,
};

/// Packets that the access link's buffers hold, as in the other figures.
const DOWNLINK_PACKETS: usize = 2000;
const UPLINK_PACKETS: usize = 1000;

/// One-way delay of the access link in milliseconds; the path's other links make up the rest of a base RTT.
const ACCESS_MS: f64 = 1.0;

/// Rate in Mbit/s of a link that is no bottleneck, and room for any burst.
const WIDE_MBPS: f64 = 10_000.0;
const WIDE_PACKETS: usize = 100_000;

/// Smallest buffer of a bottleneck, in packets.
const LEAST_PACKETS: f64 = 64.0;

/// Bits of a full packet.
const PACKET_BITS: f64 = 12_000.0;

/// From the last start until numbers count, in seconds.
const SETTLE_S: f64 = 10.0;

/// How long numbers count: that many seconds, or round trips of the longest path if these are longer.
const COUNTED_S: f64 = 50.0;
const ROUNDS: f64 = 200.0;

/// On fast links they count for less: until about that many packets have come, but at least for this many seconds and
/// round trips.
const PACKETS: f64 = 300_000.0;
const LEAST_S: f64 = 10.0;
const LEAST_ROUNDS: f64 = 60.0;

/// Names of the links that a flow's packets cross.
pub type Way = Vec<String>;

/// A bottleneck elsewhere: its rate, and its buffer in seconds of that rate.
#[derive(Clone, Copy, Debug)]
pub struct Narrow {
    /// In Mbit/s.
    pub mbps: f64,
    /// The buffer, in seconds.
    pub buffer_s: f64,
}

/// A mix under construction.
pub struct Draft {
    down: LinkSpec,
    up: LinkSpec,
    hops: Vec<Hop>,
    workloads: Vec<Workload>,
    longest_rtt_ms: f64,
    /// Upper bound of all traffic, in Mbit/s.
    carried_mbps: f64,
}

impl Draft {
    /// An access link with that downlink and an uplink of `up_mbps` Mbit/s, with `carried_mbps` as the upper bound of
    /// all traffic.
    pub fn new(down: RateSpec, up_mbps: f64, carried_mbps: f64) -> Self {
        let access = |rate, packets| LinkSpec {
            queue: queue(packets, QueuePolicy::DropTail),
            ..LinkSpec::new(rate, ACCESS_MS)
        };
        Self {
            down: access(down, DOWNLINK_PACKETS),
            up: access(RateSpec::ConstantMbps(up_mbps), UPLINK_PACKETS),
            hops: Vec::new(),
            workloads: Vec::new(),
            longest_rtt_ms: 0.0,
            carried_mbps,
        }
    }

    /// A path through the access link to a host at that base RTT, wide or with a bottleneck of its own.
    pub fn way(
        &mut self,
        name: &str,
        direction: Direction,
        rtt_ms: f64,
        narrow: Option<Narrow>,
    ) -> Way {
        self.beyond(Side::Server, name, direction, rtt_ms, narrow)
    }

    /// A path to a subscriber, whose own link lies between the access link and the flow's receiver.
    pub fn subscriber(&mut self, name: &str, rtt_ms: f64, narrow: Narrow) -> Way {
        self.beyond(Side::Client, name, Direction::Down, rtt_ms, Some(narrow))
    }

    fn beyond(
        &mut self,
        side: Side,
        name: &str,
        direction: Direction,
        rtt_ms: f64,
        narrow: Option<Narrow>,
    ) -> Way {
        let delay_ms = (rtt_ms - 2.0 * ACCESS_MS).max(0.0);
        self.hop(side, name, direction, delay_ms, narrow);
        self.longest_rtt_ms = self.longest_rtt_ms.max(rtt_ms);
        ["down", "up", name].map(String::from).into()
    }

    /// A path that does not cross the access link, to a host in the same LAN.
    pub fn lan(&mut self, rtt_ms: f64, narrow: Narrow) -> Way {
        self.carried_mbps += narrow.mbps;
        let there = [("LAN down", Direction::Down), ("LAN up", Direction::Up)];
        for (name, direction) in there {
            self.hop(Side::Server, name, direction, rtt_ms / 2.0, Some(narrow));
        }
        there.map(|(name, _)| name.to_owned()).into()
    }

    fn hop(
        &mut self,
        side: Side,
        name: &str,
        direction: Direction,
        delay_ms: f64,
        narrow: Option<Narrow>,
    ) {
        let (mbps, packets) = match narrow {
            Some(narrow) => (narrow.mbps, narrow.packets()),
            None => (WIDE_MBPS, WIDE_PACKETS),
        };
        self.hops.push(Hop {
            name: name.into(),
            direction,
            side,
            link: LinkSpec {
                queue: QueueSpec {
                    packets: Some(packets),
                    ..QueueSpec::default()
                },
                ..LinkSpec::new(RateSpec::ConstantMbps(mbps), delay_ms)
            },
        });
    }

    /// Adds a workload over that path, from `start_s` on.
    pub fn does(&mut self, name: &str, way: &Way, start_s: f64, does: WorkloadKind) {
        self.workloads.push(Workload {
            start_s,
            links: Some(way.clone()),
            ..Workload::new(name, does)
        });
    }

    /// Adds a bulk flow.
    pub fn bulk(&mut self, name: &str, way: &Way, direction: Direction, start_s: f64) {
        self.does(name, way, start_s, bulk(name, direction, None, 1).does);
    }

    /// Upper bound of all traffic, in Mbit/s.
    pub fn carried_mbps(&self) -> f64 {
        self.carried_mbps
    }

    /// The scenario, for one run.
    pub fn scenario(self, name: &str, run: Run) -> Scenario {
        let starts = self.workloads.iter().map(|workload| workload.start_s);
        let warmup_s = starts.fold(0.0, f64::max) + SETTLE_S;
        let duration_s = (warmup_s + self.counted_s()).ceil();
        let links = [self.down, self.up];
        Scenario {
            warmup_s,
            hops: self.hops,
            ..Scenario::new(name, duration_s, links, self.workloads, vec![run])
        }
    }

    fn counted_s(&self) -> f64 {
        let rtt_s = self.longest_rtt_ms / 1e3;
        let wanted = COUNTED_S.max(ROUNDS * rtt_s);
        let least = LEAST_S.max(LEAST_ROUNDS * rtt_s);
        let affordable = PACKETS * PACKET_BITS / (self.carried_mbps * 1e6);
        affordable.clamp(least, wanted)
    }
}

impl Narrow {
    fn packets(self) -> usize {
        (self.mbps * 1e6 * self.buffer_s / PACKET_BITS).max(LEAST_PACKETS) as usize
    }
}
