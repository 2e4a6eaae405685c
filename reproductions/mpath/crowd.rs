//! Many pairs of hosts of the overlay that transfer at the same time.
//!
//! The core links are those of the overlay, shared by all pairs whose paths cross them. Each host, proxies included,
//! has an access link in either direction; what a proxy forwards crosses both of its links.

use super::network::{self, MPATH, Network, TCP, over};
use super::overlay::{Host, Overlay, PROXIES, Terms, core_name, hop, is_dead, proxy_name};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeSet;
use std::sync::Arc;
use tidegate_scenario::{Direction, Hop, ProxySpec, Side, Workload};
use tidegate_study::Case;

/// Pairs of hosts that transfer at the same time.
#[derive(Clone)]
pub struct Crowd {
    overlay: Arc<Overlay>,
    /// Identifies the crowd.
    name: String,
    members: Vec<Member>,
}

/// A host: its number, and its properties.
#[derive(Clone)]
struct Member {
    name: String,
    host: Host,
}

impl Crowd {
    /// Pairs of hosts that are not proxies: `pairs` of the overlay's, from the `first` on.
    pub fn apart(overlay: &Arc<Overlay>, first: usize, pairs: usize) -> Self {
        let member = |name: String, host| Member { name, host };
        let pair = |n| {
            let (from, to) = overlay.hosts(n);
            [
                member(format!("sender {n}"), from),
                member(format!("receiver {n}"), to),
            ]
        };
        Self {
            overlay: overlay.clone(),
            name: format!("{pairs} pairs from {first}"),
            members: (first..first + pairs).flat_map(pair).collect(),
        }
    }

    /// Pairs of hosts that are proxies, chosen by `seed`.
    pub fn of_proxies(overlay: &Arc<Overlay>, pairs: usize, seed: u64) -> Self {
        let mut hosts: Vec<usize> = (0..PROXIES).filter(|&n| !is_dead(n)).collect();
        hosts.shuffle(&mut Pcg64Mcg::seed_from_u64(seed));
        let member = |&n: &usize| Member {
            name: proxy_name(n),
            host: overlay.proxies()[n],
        };
        Self {
            overlay: overlay.clone(),
            name: format!("{pairs} pairs of proxies, {seed}"),
            members: hosts[..2 * pairs].iter().map(member).collect(),
        }
    }

    /// Pairs in it.
    pub fn pairs(&self) -> usize {
        self.members.len() / 2
    }

    /// The name of the case with mPath, or with TCP.
    pub fn case_name(&self, protocol: &str) -> String {
        format!("{}, {protocol}", self.name)
    }

    /// The name of a pair's flow.
    pub fn flow_name(pair: usize) -> String {
        format!("transfer {pair}")
    }

    /// All pairs transfer with mPath, for that many seconds.
    pub fn mpath(&self, seconds: f64) -> Case {
        self.case(MPATH, seconds, |from, to| {
            let proxies = 0..PROXIES;
            let ways = proxies
                .filter(|&n| self.is_free(n, from, to))
                .map(|n| self.way(n, from, to));
            Workload::new("", Terms::THESIS.transfer(ways.collect()))
        })
    }

    /// All pairs transfer with TCP.
    pub fn tcp(&self, seconds: f64) -> Case {
        self.case(TCP, seconds, |_, _| {
            crate::workloads::bulk("", Direction::Down, None, 1)
        })
    }

    fn is_free(&self, proxy: usize, from: &Member, to: &Member) -> bool {
        let name = proxy_name(proxy);
        name != from.name && name != to.name
    }

    fn way(&self, proxy: usize, from: &Member, to: &Member) -> ProxySpec {
        let name = proxy_name(proxy);
        let system = self.overlay.proxies()[proxy].system;
        let links = match is_dead(proxy) {
            true => Vec::new(),
            false => vec![
                out(&from.name),
                core_name(from.host.system, system),
                into(&name),
                out(&name),
                core_name(system, to.host.system),
                into(&to.name),
            ],
        };
        ProxySpec { name, links }
    }

    fn couples(&self) -> impl Iterator<Item = (&Member, &Member)> {
        self.members
            .chunks(2)
            .map(|couple| (&couple[0], &couple[1]))
    }

    fn case(
        &self,
        protocol: &str,
        seconds: f64,
        transfer: impl Fn(&Member, &Member) -> Workload,
    ) -> Case {
        let workload = |(n, (from, to)): (usize, (&Member, &Member))| {
            let core = core_name(from.host.system, to.host.system);
            let links = [out(&from.name), core, into(&to.name), back(n)];
            Workload {
                name: Self::flow_name(n),
                ..over(&links.each_ref().map(String::as_str), transfer(from, to))
            }
        };
        let network = Network {
            down: network::wide(0.0),
            up: network::wide(0.0),
            hops: self.hops(),
        };
        let workloads = self.couples().enumerate().map(workload).collect();
        Case {
            once: true,
            ..network.case(self.case_name(protocol), seconds, Vec::new(), workloads)
        }
    }

    /// All links: out of hosts, through the core, into hosts, and a return path without a bottleneck.
    fn hops(&self) -> Vec<Hop> {
        let proxies = (0..PROXIES).map(|n| (proxy_name(n), self.overlay.proxies()[n]));
        let members = self.members.iter().map(|m| (m.name.clone(), m.host));
        let mut known = BTreeSet::new();
        let hosts: Vec<(String, Host)> = proxies
            .chain(members)
            .filter(|(name, _)| known.insert(name.clone()))
            .collect();
        let access = |name: fn(&str) -> String| {
            hosts
                .iter()
                .map(move |(host, Host { access_mbps, .. })| hop(name(host), *access_mbps, 0.0))
        };
        let backs = self.couples().enumerate().map(|(n, (from, to))| Hop {
            direction: Direction::Up,
            ..network::hop(
                back(n),
                Side::Server,
                network::wide(self.overlay.delay_ms(to.host.system, from.host.system)),
            )
        });
        access(out)
            .chain(self.cores())
            .chain(access(into))
            .chain(backs)
            .collect()
    }

    fn cores(&self) -> impl Iterator<Item = Hop> {
        let systems = self.overlay.systems();
        let pairs = (0..systems).flat_map(move |a| (0..systems).map(move |b| (a, b)));
        pairs.map(|(a, b)| {
            let rate = self.overlay.core_mbps(a, b);
            hop(core_name(a, b), rate, self.overlay.delay_ms(a, b))
        })
    }
}

fn out(host: &str) -> String {
    format!("{host} out")
}

fn into(host: &str) -> String {
    format!("{host} in")
}

fn back(pair: usize) -> String {
    format!("back {pair}")
}
