//! Who is where: the hosts of a run, and the ways between them.
//!
//! Workloads that choose their links have hosts of their own, as cross traffic has; all others share one
//! client and one server.

mod multipath;

use crate::address::{IpVersion, address, proxy_address};
use crate::emulator::{Route, Topology};
use crate::hosts::{Host, Settings};
use crate::port::Port;
use anyhow::Result;
use tidegate_scenario::{Direction, Scenario, Side, Workload, WorkloadKind};

/// Which of a site's hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The client or the server.
    Side(Side),
    /// A proxy.
    Proxy(usize),
}

/// A client, a server, and proxies between them.
pub struct Site {
    /// Who connects.
    pub client: Host,
    /// Who listens.
    pub server: Host,
    /// Those of an mPath transfer.
    pub proxies: Vec<Host>,
    /// Whether their TCP is the kernel's MPTCP.
    pub multipath: bool,
}

impl Site {
    /// The hosts of a workload, or of all.
    fn new(does: Option<&WorkloadKind>, settings: &Settings) -> Result<Self> {
        let (proxies, addresses) = match does {
            Some(WorkloadKind::Mpath(transfer)) => (transfer.proxies.len(), 0),
            Some(WorkloadKind::Mptcp { paths }) => (0, paths.len()),
            _ => (0, 0),
        };
        let site = Self {
            client: Host::new(Side::Client, settings)?,
            server: Host::new(Side::Server, settings)?,
            proxies: (0..proxies)
                .map(|n| Host::proxy(n, settings))
                .collect::<Result<_>>()?,
            multipath: addresses > 0,
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

    /// All hosts.
    pub fn hosts(&self) -> impl Iterator<Item = &Host> {
        self.ends().into_iter().chain(&self.proxies)
    }
}

/// Whether the workloads of a scenario have hosts of their own.
pub fn is_shared_by_strangers(scenario: &Scenario) -> bool {
    let workloads = &scenario.workloads;
    let is_stranger = |w: &Workload| w.links.is_some() || !w.does.further_ways().1.is_empty();
    workloads.iter().any(is_stranger)
}

/// Every site of a run: one for each workload where some choose their links, or else one for all.
///
/// # Errors
/// Without root or a TUN driver, or when the kernel lacks the congestion control.
pub fn build(scenario: &Scenario, settings: &Settings) -> Result<Vec<Site>> {
    if !is_shared_by_strangers(scenario) {
        return Ok(vec![Site::new(None, settings)?]);
    }
    let site = |workload: &Workload| Site::new(Some(&workload.does), settings);
    scenario.workloads.iter().map(site).collect()
}

/// The ports of all hosts, and the ways between them.
pub fn connect<'a>(scenario: &Scenario, sites: &'a [Site]) -> (Vec<&'a Port>, Topology) {
    let mut topology = Topology::default();
    let mut ports = Vec::new();
    for (n, site) in sites.iter().enumerate() {
        let workload = &scenario.workloads[n];
        let chosen = workload.links.as_deref();
        let [client, server] = site.ends().map(|host| {
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
        let ends = Ends { client, server };
        if site.multipath {
            connect_addresses(workload, scenario, ends, &mut topology);
            continue;
        }
        connect_proxies(workload, scenario, ends, &mut topology);
        ports.extend(site.proxies.iter().map(Host::port));
    }
    (ports, topology)
}

/// The ports of a site's client and server.
#[derive(Clone, Copy)]
struct Ends {
    client: usize,
    server: usize,
}

/// Ways from the server to each further address of the client's.
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

/// Ways from the sender to its proxies, over all links on the way through each, and on to the receiver. To
/// the registry, which is at the server, they and the receiver go at once.
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
        // One that does not answer has no way to it, but for what the registry says.
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
