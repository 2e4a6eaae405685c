//! Who is where: the hosts of a run, and the ways between them.
//!
//! Workloads that choose their links have hosts of their own, as cross traffic has; all others share one
//! client and one server.

use crate::emulator::{Route, Topology};
use crate::hosts::{Host, Settings};
use crate::port::Port;
use anyhow::Result;
use tidegate_scenario::{Direction, Scenario, Side};

/// A client and a server.
pub struct Site {
    /// Who connects.
    pub client: Host,
    /// Who listens.
    pub server: Host,
}

impl Site {
    fn new(settings: &Settings) -> Result<Self> {
        Ok(Self {
            client: Host::new(Side::Client, settings)?,
            server: Host::new(Side::Server, settings)?,
        })
    }

    /// The host on that side.
    pub fn host(&self, side: Side) -> &Host {
        match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    /// Both hosts.
    pub fn hosts(&self) -> [&Host; 2] {
        [&self.client, &self.server]
    }
}

/// Whether the workloads of a scenario have hosts of their own.
pub fn is_shared_by_strangers(scenario: &Scenario) -> bool {
    scenario.workloads.iter().any(|w| w.links.is_some())
}

/// Every site of a run: one for each workload where some choose their links, or else one for all.
///
/// # Errors
/// Without root or a TUN driver, or when the kernel lacks the congestion control.
pub fn build(scenario: &Scenario, settings: &Settings) -> Result<Vec<Site>> {
    let sites = match is_shared_by_strangers(scenario) {
        true => scenario.workloads.len(),
        false => 1,
    };
    (0..sites).map(|_| Site::new(settings)).collect()
}

/// The ports of all hosts, and the ways between them.
pub fn connect<'a>(scenario: &Scenario, sites: &'a [Site]) -> (Vec<&'a Port>, Topology) {
    let mut topology = Topology::default();
    let mut ports = Vec::new();
    for (n, site) in sites.iter().enumerate() {
        let chosen = scenario.workloads.get(n).and_then(|w| w.links.as_deref());
        let [client, server] = site.hosts().map(|host| {
            ports.push(host.port());
            topology.add_port()
        });
        for (from, to, direction) in [
            (server, client, Direction::Down),
            (client, server, Direction::Up),
        ] {
            let links = scenario.way(chosen, direction);
            let route = topology.add_route(Route { links, to });
            topology.exits[from].usual = Some(route);
        }
    }
    (ports, topology)
}
