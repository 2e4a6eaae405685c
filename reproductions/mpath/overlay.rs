//! An Internet-like overlay: autonomous systems on a globe, core links between them, hosts and proxies
//! behind access links.
//!
//! **Systems.** 60 of them, in six regions with shares of systems as in PlanetLab. A system's place is drawn around
//! its region's middle; the delay is the great circle at 200 km/ms, times 1.5 for detours of cables, plus 2 ms.
//!
//! **Core.** Each pair of systems has a core link in each direction. Its rate is what other users leave: log-normal,
//! and smaller over long distances, as measured bottlenecks are (Akella, Seshan, Shaikh 2003 found half of them in the
//! core, between systems as often as within). Median and spread are chosen such that TCP has its bottleneck in the
//! core for about half of the pairs. The two directions of a pair have different rates.
//!
//! **Hosts.** The access link of a host is 5, 10, 20 or 50 Mbit/s. Those of proxies are, too, where many transfer
//! at the same time; for a single pair they are wider than what the core leaves. One proxy in nine does not answer: of the thesis's 450 about 400 did.
//!
//! **Queues.** As on Emulab, a quarter of 60 ms of each link's rate, 15 packets at least.

use super::network::{self, MPATH, Network, TCP, over};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use tidegate_basics::random::{log_normal, normal};
use tidegate_scenario::{
    Direction, Hop, LinkSpec, MpathSpec, ProxySpec, Side, Workload, WorkloadKind,
};
use tidegate_study::Case;

/// Systems, and proxies as in the thesis.
const SYSTEMS: usize = 60;
pub const PROXIES: usize = 450;

/// Regions: latitude and longitude in degrees, and how many of a hundred systems are there.
const REGIONS: [(f64, f64, usize); 6] = [
    (40.0, -75.0, 25),
    (37.0, -120.0, 15),
    (49.0, 8.0, 30),
    (35.0, 130.0, 15),
    (1.0, 104.0, 8),
    (-23.0, -47.0, 7),
];

/// Standard deviation of a system's latitude and longitude from its region's middle, in degrees.
const SCATTER: f64 = 6.0;

/// Kilometres that light in glass travels in a millisecond, factor of cable lengths over great circles, and fixed
/// delay in ms.
const KM_PER_MS: f64 = 200.0;
const DETOUR: f64 = 1.5;
const LEAST_MS: f64 = 2.0;

/// Rates that are left on core links: the median in Mbit/s at short distance, its decrease for each 100 ms of delay,
/// and the deviation of the logarithm.
const CORE_MEDIAN: f64 = 14.0;
const CORE_DISTANCE: f64 = 0.5;
const CORE_SPREAD: f64 = 0.9;

/// Rates of access links in Mbit/s, all equally frequent.
const ACCESS: [f64; 4] = [5.0, 10.0, 20.0, 50.0];

/// One proxy in this many does not answer.
const DEAD: u64 = 9;

/// A host.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Its system.
    pub system: usize,
    /// Rate of its access link, in either direction.
    pub access_mbps: f64,
}

/// Parameters of a transfer.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Number of proxies that it is told of.
    pub proxies: usize,
    /// τ in round trips.
    pub patience: f64,
    /// New paths after a loss, as a share of the direct path's window.
    pub beta: f64,
}

impl Terms {
    /// The thesis's (section 3.3.7).
    pub const THESIS: Self = Self {
        proxies: PROXIES,
        patience: 2.0,
        beta: 0.25,
    };

    /// A transfer with these parameters, over those paths. Its buffers are unlimited.
    pub fn transfer(self, proxies: Vec<ProxySpec>) -> WorkloadKind {
        WorkloadKind::Mpath(MpathSpec {
            proxies,
            beta: self.beta,
            patience: self.patience,
            buffer_bytes: 1 << 30,
            ..MpathSpec::default()
        })
    }
}

/// The overlay.
pub struct Overlay {
    /// Latitude and longitude in radians.
    systems: Vec<(f64, f64)>,
    /// Rates from system to system.
    cores: Vec<Vec<f64>>,
    proxies: Vec<Host>,
    /// Sender and receiver.
    pairs: Vec<(Host, Host)>,
}

impl Overlay {
    /// The overlay with that many pairs of hosts; always the same.
    pub fn new(pairs: usize) -> Self {
        let mut random = Pcg64Mcg::seed_from_u64(3);
        let systems = systems(&mut random);
        let cores = cores(&systems, &mut random);
        let proxies: Vec<usize> = (0..PROXIES)
            .map(|_| random.random_range(0..SYSTEMS))
            .collect();
        let mut host = || Host {
            system: random.random_range(0..SYSTEMS),
            access_mbps: ACCESS[random.random_range(0..ACCESS.len())],
        };
        let pairs = (0..pairs).map(|_| (host(), host())).collect();
        let mut access = Pcg64Mcg::seed_from_u64(4);
        let proxy = |system| Host {
            system,
            access_mbps: ACCESS[access.random_range(0..ACCESS.len())],
        };
        Self {
            systems,
            cores,
            proxies: proxies.into_iter().map(proxy).collect(),
            pairs,
        }
    }

    /// How many pairs there are.
    pub fn pairs(&self) -> usize {
        self.pairs.len()
    }

    /// Round trip of a pair's direct path without queues, in ms.
    pub fn round_trip_ms(&self, pair: usize) -> f64 {
        let (from, to) = self.pairs[pair];
        2.0 * self.delay_ms(from.system, to.system)
    }

    /// Whether a pair's direct path has its bottleneck in the core.
    #[cfg(test)]
    pub fn is_core_bound(&self, pair: usize) -> bool {
        let (from, to) = self.pairs[pair];
        self.cores[from.system][to.system] < from.access_mbps.min(to.access_mbps)
    }

    /// How many systems there are.
    pub fn systems(&self) -> usize {
        self.systems.len()
    }

    /// The proxies.
    pub fn proxies(&self) -> &[Host] {
        &self.proxies
    }

    /// Sender and receiver.
    pub fn hosts(&self, pair: usize) -> (Host, Host) {
        self.pairs[pair]
    }

    /// The core link from one system to another, Mbit/s.
    pub fn core_mbps(&self, from: usize, to: usize) -> f64 {
        self.cores[from][to]
    }

    /// One-way delay from system to system, in ms.
    pub fn delay_ms(&self, from: usize, to: usize) -> f64 {
        delay_ms(self.systems[from], self.systems[to])
    }

    /// TCP between a pair, for that many seconds.
    pub fn tcp(&self, pair: usize, seconds: f64) -> Case {
        let flow = crate::workloads::bulk(TCP, Direction::Down, None, 1);
        self.case(format!("pair {pair}, TCP"), pair, seconds, 0, flow)
    }

    /// mPath between a pair.
    pub fn mpath(&self, pair: usize, seconds: f64, terms: Terms) -> Case {
        let ways = (0..terms.proxies).map(|n| self.way(pair, n)).collect();
        let workload = Workload::new(MPATH, terms.transfer(ways));
        let name = mpath_name(pair, terms);
        self.case(name, pair, seconds, terms.proxies, workload)
    }

    /// The path of a pair through a proxy. It begins at the sender's access link, which is the first hop.
    fn way(&self, pair: usize, n: usize) -> ProxySpec {
        let (from, to) = self.pairs[pair];
        let proxy = self.proxies[n].system;
        let links = match is_dead(n) {
            true => Vec::new(),
            false => vec![
                "sender".into(),
                core_name(from.system, proxy),
                core_name(proxy, to.system),
                "down".into(),
            ],
        };
        ProxySpec {
            name: proxy_name(n),
            links,
        }
    }

    fn case(
        &self,
        name: String,
        pair: usize,
        seconds: f64,
        proxies: usize,
        workload: Workload,
    ) -> Case {
        let (from, to) = self.pairs[pair];
        let mut hops = vec![hop("sender".into(), from.access_mbps, 0.0)];
        let mut add = |a: usize, b: usize| {
            let name = core_name(a, b);
            if !hops.iter().any(|hop| hop.name == name) {
                hops.push(hop(name, self.cores[a][b], self.delay_ms(a, b)));
            }
        };
        add(from.system, to.system);
        for proxy in &self.proxies[..proxies] {
            add(from.system, proxy.system);
            add(proxy.system, to.system);
        }
        let direct = core_name(from.system, to.system);
        let network = Network {
            down: link(to.access_mbps, 0.0),
            up: network::wide(self.delay_ms(from.system, to.system)),
            hops,
        };
        let workload = over(&["sender", &direct, "down", "up"], workload);
        Case {
            once: true,
            ..network.case(name, seconds, vec!["goodput_bps"], vec![workload])
        }
    }
}

/// The name of the case of mPath between a pair.
pub fn mpath_name(pair: usize, terms: Terms) -> String {
    let Terms {
        proxies,
        patience,
        beta,
    } = terms;
    format!("pair {pair}, mPath, {proxies} proxies, patience {patience}, beta {beta}")
}

/// Whether the proxy does not answer.
pub fn is_dead(proxy: usize) -> bool {
    (proxy as u64).is_multiple_of(DEAD)
}

/// The name of a core link.
pub fn core_name(from: usize, to: usize) -> String {
    format!("{from}-{to}")
}

/// The name of a proxy.
pub fn proxy_name(n: usize) -> String {
    format!("proxy {n}")
}

/// A link towards the receiver, before the link under study.
pub fn hop(name: String, mbps: f64, delay_ms: f64) -> Hop {
    network::hop(name, Side::Server, link(mbps, delay_ms))
}

fn link(mbps: f64, delay_ms: f64) -> LinkSpec {
    const QUEUE_S: f64 = 0.015;
    let packets = (mbps * 1e6 * QUEUE_S / 12_000.0) as usize;
    network::link(mbps, delay_ms, packets.max(15))
}

fn systems(random: &mut Pcg64Mcg) -> Vec<(f64, f64)> {
    let hundred: Vec<(f64, f64)> = REGIONS
        .iter()
        .flat_map(|&(latitude, longitude, count)| std::iter::repeat_n((latitude, longitude), count))
        .collect();
    let place = |_| {
        let (latitude, longitude) = hundred[random.random_range(0..hundred.len())];
        let mut around = |degrees: f64| (degrees + SCATTER * normal(random)).to_radians();
        (around(latitude), around(longitude))
    };
    (0..SYSTEMS).map(place).collect()
}

fn cores(systems: &[(f64, f64)], random: &mut Pcg64Mcg) -> Vec<Vec<f64>> {
    let mut rate = |a: (f64, f64), b: (f64, f64)| {
        let median = CORE_MEDIAN * libm::pow(CORE_DISTANCE, delay_ms(a, b) / 100.0);
        // To a hundredth.
        let rate = median * log_normal(random, CORE_SPREAD);
        ((rate * 100.0).round() / 100.0).clamp(0.5, 200.0)
    };
    let row = |&a: &(f64, f64)| systems.iter().map(|&b| rate(a, b)).collect();
    systems.iter().map(row).collect()
}

/// Delay from one place to another, to a tenth of a millisecond.
fn delay_ms((lat_a, lon_a): (f64, f64), (lat_b, lon_b): (f64, f64)) -> f64 {
    const EARTH_KM: f64 = 6371.0;
    let [(sin_a, cos_a), (sin_b, cos_b)] = [lat_a, lat_b].map(libm::sincos);
    let cosine = sin_a * sin_b + cos_a * cos_b * libm::cos(lon_a - lon_b);
    let km = EARTH_KM * libm::acos(cosine.clamp(-1.0, 1.0));
    let ms = LEAST_MS + km / KM_PER_MS * DETOUR;
    (ms * 10.0).round() / 10.0
}
