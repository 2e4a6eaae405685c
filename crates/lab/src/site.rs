//! The hosts of a run, and the routes between them.
//!
//! One client and one server run all workloads that a law sees, whichever links their packets cross: the server has an
//! address for each choice of links, and a packet is routed by its addresses. Workloads that no law sees run on two
//! other hosts. Each workload that uses several paths at once has its own hosts.

mod multipath;
mod plan;

pub use plan::Home;

use crate::address::{IpVersion, address, proxy_address, server_address};
use crate::emulator::{Route, Topology, Ways};
use crate::hosts::{Host, Settings};
use crate::port::Port;
use anyhow::Result;
use plan::Plan;
use std::collections::BTreeMap;
use std::net::IpAddr;
use tidegate_scenario::{Scenario, Side, Workload, WorkloadKind};

/// A host's place in a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The client or the server.
    Side(Side),
    /// A proxy.
    Proxy(usize),
}

/// A client, a server, and proxies between them.
pub struct Site {
    /// The host that connects.
    pub client: Host,
    /// The host that listens.
    pub server: Host,
    /// The proxies of an mPath transfer.
    pub proxies: Vec<Host>,
    /// Whether their TCP is the kernel's MPTCP.
    pub multipath: bool,
    plan: Plan,
}

impl Site {
    fn new(plan: Plan, scenario: &Scenario, settings: &Settings) -> Result<Self> {
        let (proxies, addresses) = match plan.sole_resident(scenario).map(|w| &w.does) {
            Some(WorkloadKind::Mpath(transfer)) => (transfer.proxies.len(), 0),
            Some(WorkloadKind::Mptcp { paths }) => (0, paths.len()),
            _ => (0, 0),
        };
        let host = |side| Host::new(side, settings, plan.ways.len());
        let site = Self {
            client: host(Side::Client)?,
            server: host(Side::Server)?,
            proxies: (0..proxies)
                .map(|n| Host::proxy(n, settings))
                .collect::<Result<_>>()?,
            multipath: addresses > 0,
            plan,
        };
        if site.multipath {
            multipath::configure(&site, addresses)?;
        }
        Ok(site)
    }

    /// The host on that side.
    pub fn host(&self, side: Side) -> &Host {
        match side {
            Side::Client => &self.client,
            Side::Server => &self.server,
        }
    }

    /// The host at that place.
    pub fn at(&self, place: Place) -> &Host {
        match place {
            Place::Side(side) => self.host(side),
            Place::Proxy(n) => &self.proxies[n],
        }
    }

    /// Client and server.
    pub fn ends(&self) -> [&Host; 2] {
        [&self.client, &self.server]
    }

    /// The server's addresses, and the links that packets of each cross.
    pub fn ways(&self) -> BTreeMap<IpAddr, Ways> {
        let addresses = self.plan.ways.iter().enumerate().flat_map(|(n, ways)| {
            IpVersion::ALL.map(|version| (server_address(n, version), ways.clone()))
        });
        addresses.collect()
    }

    /// All hosts.
    pub fn hosts(&self) -> impl Iterator<Item = &Host> {
        self.ends().into_iter().chain(&self.proxies)
    }
}

/// Every site of a run, first the one with a law, and the home of each workload.
///
/// # Errors
/// Without root or a TUN driver, or when the kernel lacks the congestion control.
pub fn build(scenario: &Scenario, settings: &Settings) -> Result<(Vec<Site>, Vec<Home>)> {
    let (plans, homes) = plan::plan(scenario);
    let site = |plan| Site::new(plan, scenario, settings);
    let sites = plans.into_iter().map(site).collect::<Result<_>>()?;
    Ok((sites, homes))
}

/// The ports of all hosts, and the routes between them.
pub fn connect<'a>(scenario: &Scenario, sites: &'a [Site]) -> (Vec<&'a Port>, Topology) {
    let mut topology = Topology::default();
    let mut ports = Vec::new();
    for site in sites {
        let [client, server] = site.ends().map(|host| {
            ports.push(host.port());
            topology.add_port()
        });
        let ends = Ends { client, server };
        connect_ends(&site.plan, ends, &mut topology);
        let Some(workload) = site.plan.sole_resident(scenario) else {
            continue;
        };
        if site.multipath {
            connect_addresses(workload, scenario, ends, &mut topology);
            continue;
        }
        connect_proxies(workload, scenario, ends, &mut topology);
        ports.extend(site.proxies.iter().map(Host::port));
    }
    (ports, topology)
}

/// Adds routes between the client and each of the server's addresses.
fn connect_ends(plan: &Plan, Ends { client, server }: Ends, topology: &mut Topology) {
    for (n, Ways { down, up }) in plan.ways.iter().enumerate() {
        for (from, to, links) in [(server, client, down), (client, server, up)] {
            let links = links.clone();
            let way = Some(topology.add_route(Route { links, to }));
            let exits = &mut topology.exits[from];
            if n == 0 {
                exits.usual = way;
                continue;
            }
            let addresses = IpVersion::ALL.map(|version| server_address(n, version));
            exits.others.extend(addresses.map(|address| (address, way)));
        }
    }
}

/// The ports of a site's client and server.
#[derive(Clone, Copy)]
struct Ends {
    client: usize,
    server: usize,
}

/// Adds routes from the server to each further address of the client.
fn connect_addresses(
    workload: &Workload,
    scenario: &Scenario,
    Ends { client, server }: Ends,
    topology: &mut Topology,
) {
    for (n, links) in scenario.further_ways(workload).into_iter().enumerate() {
        let way = topology.add_route(Route { links, to: client });
        topology.exits[server]
            .others
            .push((proxy_address(n).into(), Some(way)));
    }
}

/// Adds routes from the sender to its proxies, over all links of each one's path, and from there to the receiver.
/// Proxies and receiver reach the registry, which is at the server, without any link.
fn connect_proxies(
    workload: &Workload,
    scenario: &Scenario,
    Ends { client, server }: Ends,
    topology: &mut Topology,
) {
    let (sender, receiver) = match &workload.does {
        WorkloadKind::Mpath(transfer) if transfer.receiver() == Side::Server => (client, server),
        _ => (server, client),
    };
    let at_once = |topology: &mut Topology, to| {
        let links = Vec::new();
        topology.add_route(Route { links, to })
    };
    for (n, links) in scenario.further_ways(workload).into_iter().enumerate() {
        let proxy = topology.add_port();
        let to_registry = at_once(topology, server);
        let onwards = at_once(topology, receiver);
        topology.exits[proxy].usual = Some(onwards);
        let registry = address(Side::Server, IpVersion::V4);
        if receiver != server {
            topology.exits[proxy]
                .others
                .push((registry, Some(to_registry)));
        }
        // A proxy that does not answer is listed in the registry, but has no route.
        let way = (!links.is_empty()).then(|| topology.add_route(Route { links, to: proxy }));
        topology.exits[sender]
            .others
            .push((proxy_address(n).into(), way));
        if sender != server {
            let back = at_once(topology, proxy);
            topology.exits[server]
                .others
                .push((proxy_address(n).into(), Some(back)));
        }
    }
}
