//! Which links a packet passes, by where it comes from and where it goes.

use std::net::IpAddr;
use tidegate_scenario::{DOWN, UP};

/// A way from one port to another.
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

/// Ways out of a port.
#[derive(Clone, Debug, Default)]
pub struct Exits {
    /// For packets to everybody else.
    pub usual: Option<u32>,
    /// For packets that have that address at either end; they may lead nowhere.
    pub others: Vec<(IpAddr, Option<u32>)>,
}

impl Exits {
    /// The number of the route of a packet; none if it leads nowhere.
    pub fn route(&self, packet: &[u8]) -> Option<u32> {
        if self.others.is_empty() {
            return self.usual;
        }
        let ends = ends(packet)?;
        let other = self.others.iter().find(|(at, _)| ends.contains(at));
        other.map_or(self.usual, |&(_, route)| route)
    }
}

/// Ways between ports over links. A packet that has none is dropped.
#[derive(Clone, Debug, Default)]
pub struct Topology {
    /// All ways.
    pub routes: Vec<Route>,
    /// Of each port.
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

    /// One more port, without a way out; its number.
    pub fn add_port(&mut self) -> usize {
        self.exits.push(Exits::default());
        self.exits.len() - 1
    }

    /// One more way; its number.
    pub fn add_route(&mut self, route: Route) -> u32 {
        self.routes.push(route);
        self.routes.len() as u32 - 1
    }
}

/// Where an IP packet comes from and where it goes; none if it is cut short.
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
