//! Shares of flows over several bottlenecks.
//!
//! Every link has a queue for each flow and serves them in turn (FQ-CoDel with a target that is never met), and every
//! flow has a window larger than its share can use. The excess waits in the flow's own queue at its bottleneck. So no
//! flow can gain except from one that has less already: shares are max-min fair (D. Bertsekas, R. Gallager, "Data
//! Networks", 1992, section 6.5.2; for windows and fair queues E. Hahne, "Round-robin scheduling for max-min fairness
//! in data networks", JSAC 9(7), 1991).

mod common;

use common::{flow, run};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

const MSS: f64 = 1448.0;
const PACKET: f64 = 1500.0;
/// In segments. The largest share, 20 Mbit/s, uses 30 of them in the round trip of an empty path, of 15 ms at most.
const WINDOW: f64 = 60.0;
const WARMUP_S: f64 = 15.0;
const COUNTED_S: f64 = 25.0;

/// Links with their rates, and flows with the links that each crosses.
#[derive(Debug)]
struct Network {
    mbps: Vec<f64>,
    flows: Vec<Vec<usize>>,
}

impl Network {
    /// Three to five links of 4 to 20 Mbit/s, and six to nine flows that each cross some of them.
    fn random(seed: u64) -> Self {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let links: usize = rng.random_range(3..=5);
        let mbps = (0..links).map(|_| f64::from(rng.random_range(40..=200)) / 10.0);
        let mbps = mbps.collect();
        let flows = rng.random_range(6..=9);
        let mut way = || loop {
            let way: Vec<_> = (0..links).filter(|_| rng.random_bool(0.4)).collect();
            if !way.is_empty() {
                return way;
            }
        };
        let flows = (0..flows).map(|_| way()).collect();
        Self { mbps, flows }
    }

    /// Max-min shares in Mbit/s, by water-filling: all shares grow together until a link is full; its flows then keep
    /// theirs.
    fn shares(&self) -> Vec<f64> {
        let mut shares = vec![None; self.flows.len()];
        while shares.contains(&None) {
            let level = |link: usize| {
                let crossing = self.flows.iter().zip(&shares);
                let crossing = crossing.filter(|(way, _)| way.contains(&link));
                let (fixed, growing): (Vec<_>, Vec<_>) =
                    crossing.map(|(_, s)| *s).partition(Option::is_some);
                let taken: f64 = fixed.into_iter().flatten().sum();
                (!growing.is_empty()).then(|| (self.mbps[link] - taken) / growing.len() as f64)
            };
            let levels = (0..self.mbps.len()).filter_map(|link| Some((level(link)?, link)));
            let (lowest, full) = levels
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .expect("some link fills");
            for (way, share) in self.flows.iter().zip(&mut shares) {
                if way.contains(&full) && share.is_none() {
                    *share = Some(lowest);
                }
            }
        }
        shares.into_iter().flatten().collect()
    }

    fn scenario(&self) -> String {
        let policy = "policy = 'fq-codel', codel_target_ms = 60000, fq_flows = 65536";
        let queue = format!("queue = {{ packets = 100000, {policy} }}");
        let hop = |(n, mbps): (usize, &f64)| {
            format!(
                "[[hop]]
                 name = 'l{n}'
                 link = {{ rate = {{ constant_mbps = {mbps} }}, delay_ms = 2, {queue} }}\n"
            )
        };
        let workload = |(n, way): (usize, &Vec<usize>)| {
            let links = way.iter().map(|link| format!("'l{link}', "));
            let links: String = links.collect();
            format!(
                "[[workload]]
                 name = 'f{n}'
                 links = [{links}'up']
                 does = {{ bulk = {{}} }}\n"
            )
        };
        format!(
            "duration_s = {}
             warmup_s = {WARMUP_S}
             down = {{ rate = {{ constant_mbps = 1000 }}, delay_ms = 1 }}
             up = {{ rate = {{ constant_mbps = 1000 }}, delay_ms = 2 }}
             run = [{{ name = 'fixed', window = {} }}]\n{}{}",
            WARMUP_S + COUNTED_S,
            WINDOW * MSS,
            self.mbps.iter().enumerate().map(hop).collect::<String>(),
            self.flows
                .iter()
                .enumerate()
                .map(workload)
                .collect::<String>()
        )
    }

    /// Within one round of turns, of a packet each: the counted time begins and ends anywhere in a round.
    fn assert_shares(&self, what: &str) {
        let result = run(&self.scenario());
        for (n, expected) in self.shares().into_iter().enumerate() {
            let goodput = flow(&result, &format!("f{n}")).goodput_bps;
            let extra = (goodput / MSS - expected * 1e6 / PACKET) / 8.0 * COUNTED_S;
            assert!(
                extra.abs() <= self.flows.len() as f64,
                "{what}: flow {n} has {extra} packets too many, expected {expected} Mbit/s, in {self:?}"
            );
        }
    }
}

/// One flow crosses all links, and each link has another flow: the long flow has half of the smallest link, each other
/// flow the rest of its link.
#[test]
fn in_a_parking_lot_the_long_flow_has_half_of_the_smallest_link() {
    for mbps in [vec![10.0, 10.0, 10.0], vec![16.0, 6.0, 12.0, 20.0]] {
        let short = (0..mbps.len()).map(|link| vec![link]);
        let flows = std::iter::once((0..mbps.len()).collect()).chain(short);
        let network = Network {
            flows: flows.collect(),
            mbps,
        };
        let half = network.mbps.iter().copied().fold(f64::MAX, f64::min) / 2.0;
        assert_eq!(network.shares()[0], half);
        network.assert_shares("parking lot");
    }
}

#[test]
fn random_networks_have_the_shares_of_water_filling() {
    for seed in 1..=12 {
        Network::random(seed).assert_shares(&format!("seed {seed}"));
    }
}
