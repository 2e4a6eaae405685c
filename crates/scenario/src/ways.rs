//! Which links the packets of a workload cross, and in which order.

use crate::{Carrier, Direction, Hop, OnOffSpec, Scenario, Side, Workload, WorkloadKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// The downlink's place among a scenario's links, and the uplink's; its hops follow in their order.
pub const DOWN: usize = 0;
/// See [`DOWN`].
pub const UP: usize = 1;

impl Workload {
    /// The host that sends the data of a workload's connections.
    pub fn sender(&self) -> Side {
        let direction = match &self.does {
            WorkloadKind::Bulk { direction, .. }
            | WorkloadKind::Reader { direction, .. }
            | WorkloadKind::ConstantRate { direction, .. } => *direction,
            WorkloadKind::Flows(flows) => flows.direction,
            WorkloadKind::OnOff(source) => source.direction,
            // The server's answers, or no TCP at all.
            WorkloadKind::Web { .. }
            | WorkloadKind::Page { .. }
            | WorkloadKind::Video { .. }
            | WorkloadKind::AdaptiveVideo(_)
            | WorkloadKind::Chunks { .. }
            | WorkloadKind::Datagrams { .. }
            | WorkloadKind::Ping { .. }
            | WorkloadKind::Mpath(_)
            | WorkloadKind::Sprout(_)
            | WorkloadKind::Mptcp { .. }
            | WorkloadKind::Command { .. } => Direction::Down,
        };
        match direction {
            Direction::Down => Side::Server,
            Direction::Up => Side::Client,
        }
    }
}

/// A proxy of an mPath transfer, or what stands for one: a further way of MPTCP's.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ProxySpec {
    /// Its name in the results.
    pub name: String,
    /// Names of the links on the way through it, in the order in which they are passed, in the
    /// direction of the data; without any it does not answer.
    #[schemars(length(max = 100))]
    pub links: Vec<String>,
}

impl Scenario {
    /// Places of the links that packets cross in `direction`, in the order in which they are passed: of
    /// those `chosen` by name, or of all.
    pub fn way(&self, chosen: Option<&[String]>, direction: Direction) -> Vec<usize> {
        let (main, from, to) = match direction {
            Direction::Down => ((DOWN, "down"), Side::Server, Side::Client),
            Direction::Up => ((UP, "up"), Side::Client, Side::Server),
        };
        let hops = |side| {
            let hops = self.hops.iter().enumerate();
            hops.filter(move |(_, hop): &(usize, &Hop)| {
                hop.direction == direction && hop.side == side
            })
            .map(|(place, hop)| (UP + 1 + place, hop.name.as_str()))
        };
        let crosses = |name: &str| chosen.is_none_or(|names| names.iter().any(|n| n == name));
        let links = hops(from).chain([main]).chain(hops(to));
        let crossed = links.filter(|(_, name)| crosses(name));
        crossed.map(|(place, _)| place).collect()
    }

    /// The same of each of a workload's further ways, through proxies for instance, in the direction of its
    /// data.
    pub fn further_ways(&self, workload: &Workload) -> Vec<Vec<usize>> {
        let (direction, further) = workload.does.further_ways();
        let main = match direction {
            Direction::Down => DOWN,
            Direction::Up => UP,
        };
        let hops = self.hops.iter().zip(UP + 1..);
        let mut places: BTreeMap<&str, usize> = hops
            .map(|(hop, place)| (hop.name.as_str(), place))
            .collect();
        places.insert(direction.name(), main);
        let place = |link: &String| places[link.as_str()];
        let way = |proxy: &ProxySpec| proxy.links.iter().map(place).collect();
        further.iter().map(way).collect()
    }

    /// Links that do not lead from one host to the other.
    pub fn ways_complaint(&self, workload: &Workload) -> Option<String> {
        self.missing_way(workload)
            .or_else(|| self.strange_way(workload))
    }

    /// No link at all in a direction in which something is sent: even ACKs count.
    fn missing_way(&self, workload: &Workload) -> Option<String> {
        let needed = |direction: &Direction| match workload.does {
            WorkloadKind::Datagrams {
                direction: only, ..
            }
            | WorkloadKind::OnOff(OnOffSpec {
                direction: only,
                transport: Carrier::Udp,
                ..
            }) => *direction == only,
            _ => true,
        };
        let way = |direction| self.way(workload.links.as_deref(), direction);
        let missing = [Direction::Down, Direction::Up]
            .into_iter()
            .filter(needed)
            .find(|&direction| way(direction).is_empty())?;
        let name = missing.name();
        Some(format!("it crosses no link {name}, expected one at least"))
    }

    /// A further way over links that are unknown or lead elsewhere.
    fn strange_way(&self, workload: &Workload) -> Option<String> {
        let (direction, further) = workload.does.further_ways();
        let way = direction.name();
        let hops = self.hops.iter().filter(|hop| hop.direction == direction);
        let mut known: BTreeSet<&str> = hops.map(|hop| hop.name.as_str()).collect();
        known.insert(way);
        let complaint = |proxy: &ProxySpec| {
            let mut links = proxy.links.iter();
            let unknown = links.find(|link| !known.contains(link.as_str()))?;
            Some(format!(
                "way \"{}\": no link {way} is named \"{unknown}\", expected {way} or a hop in that direction",
                proxy.name
            ))
        };
        further.iter().find_map(complaint)
    }
}
