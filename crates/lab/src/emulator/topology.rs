//! Which links a packet passes, by where it comes from and where it goes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use tidegate_scenario::{DOWN, UP};

/// A way from one port to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// Numbers of the links, in the order in which they are passed.
    pub links: Vec<usize>,
    /// Number of the port at its end.
    pub to: usize,
}

/// Ways out of a port.
#[derive(Clone, Debug, Default)]
pub struct Exits {
    /// For packets to everybody else.
    pub usual: Option<u32>,
    /// For packets to that address; they may lead nowhere.
    pub others: Vec<(IpAddr, Option<u32>)>,
}

impl Exits {
    /// The number of the route of a packet; none if it leads nowhere.
    pub fn route(&self, packet: &[u8]) -> Option<u32> {
        if self.others.is_empty() {
            return self.usual;
        }
        let to = destination(packet)?;
        let other = self.others.iter().find(|(address, _)| *address == to);
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

/// Where an IP packet goes; none if it is cut short.
fn destination(packet: &[u8]) -> Option<IpAddr> {
    match packet.first()? >> 4 {
        4 => {
            let bytes: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
            Some(Ipv4Addr::from(bytes).into())
        }
        6 => {
            let bytes: [u8; 16] = packet.get(24..40)?.try_into().ok()?;
            Some(Ipv6Addr::from(bytes).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
