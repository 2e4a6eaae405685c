//! Which links a packet passes, by its source and destination.

use std::net::IpAddr;
use tidegate_scenario::{DOWN, UP};

/// A route from one port to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// Numbers of the links, in the order in which they are passed.
    pub links: Vec<usize>,
    /// Number of the port at its end.
    pub to: usize,
}

/// Numbers of the links between a client and a server, in the order in which they are passed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    /// To the client.
    pub down: Vec<usize>,
    /// From it.
    pub up: Vec<usize>,
}

/// Routes out of a port.
#[derive(Clone, Debug, Default)]
pub struct Exits {
    /// The default route.
    pub usual: Option<u32>,
    /// Routes for packets with that address at either end; without a route they are dropped.
    pub others: Vec<(IpAddr, Option<u32>)>,
}

impl Exits {
    /// The number of a packet's route; none if it has none.
    pub fn route(&self, packet: &[u8]) -> Option<u32> {
        if self.others.is_empty() {
            return self.usual;
        }
        let ends = ends(packet)?;
        let other = self.others.iter().find(|(at, _)| ends.contains(at));
        other.map_or(self.usual, |&(_, route)| route)
    }
}

/// Routes between ports over links. A packet without a route is dropped.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// All routes.
    pub routes: Vec<Route>,
    /// The exits of each port.
    pub exits: Vec<Exits>,
}

impl Topology {
    /// A client, which is port 0, and a server, which is port 1, with a link each way.
    pub fn pair() -> Self {
        let mut topology = Self::default();
        let [client, server] = [0; 2].map(|_| topology.add_port());
        let up = Route {
            links: vec![UP],
            to: server,
        };
        topology.exits[client].usual = Some(topology.add_route(up));
        let down = Route {
            links: vec![DOWN],
            to: client,
        };
        topology.exits[server].usual = Some(topology.add_route(down));
        topology
    }

    /// Adds a port, without a route out of it. Returns its number.
    pub fn add_port(&mut self) -> usize {
        self.exits.push(Exits::default());
        self.exits.len() - 1
    }

    /// Adds a route. Returns its number.
    pub fn add_route(&mut self, route: Route) -> u32 {
        self.routes.push(route);
        self.routes.len() as u32 - 1
    }
}

/// The source and destination of an IP packet; none if it is cut short.
fn ends(packet: &[u8]) -> Option<[IpAddr; 2]> {
    match packet.first()? >> 4 {
        4 => {
            let (ends, _) = packet.get(12..20)?.as_chunks::<4>();
            Some([ends[0].into(), ends[1].into()])
        }
        6 => {
            let (ends, _) = packet.get(8..40)?.as_chunks::<16>();
            Some([ends[0].into(), ends[1].into()])
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
