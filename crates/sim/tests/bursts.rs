//! Links that release many packets at one instant: the receive window grows over them as over any other.

mod common;

use common::flow;
use std::fmt::Write;
use tidegate_scenario::Scenario;
use tidegate_sim::{Options, run_scenario};

/// A link of that many Mbit/s that releases its gathered packets every `burst_ms`, in either direction; with a buffer
/// of twice what a round trip or a burst holds.
struct Link {
    mbps: u64,
    burst_ms: u64,
    rtt_ms: u64,
}

impl Link {
    /// Opportunities of 1500 B in a burst.
    fn burst(&self) -> u64 {
        (self.mbps * 1000 * self.burst_ms / 8 / 1500).max(1)
    }

    /// Rate of the trace in bit/s, in whole packets.
    fn bps(&self) -> f64 {
        (self.burst() * 1500 * 8 * 1000) as f64 / self.burst_ms as f64
    }

    /// A trace in Mahimahi's format.
    fn trace(&self) -> String {
        let mut trace = String::new();
        for _ in 0..self.burst() {
            writeln!(trace, "{}", self.burst_ms).expect("a string takes all");
        }
        trace
    }

    /// One transfer in that direction, from that sender and under that law.
    fn scenario(&self, direction: &str, sender: &str, law: &str) -> String {
        let Self {
            rtt_ms, burst_ms, ..
        } = self;
        let held = self.bps() * (2 * rtt_ms.max(burst_ms)) as f64 / 8e3;
        let bursty = format!(
            "{{ rate = {{ trace = 'burst.trace' }}, delay_ms = {}, queue = {{ bytes = {} }} }}",
            *rtt_ms as f64 / 2.0,
            held.max(300_000.0) as u64,
        );
        let steady = format!(
            "{{ rate = {{ constant_mbps = {} }}, delay_ms = {} }}",
            self.mbps.max(5),
            *rtt_ms as f64 / 2.0
        );
        let (down, up) = match direction {
            "down" => (bursty, steady),
            _ => (steady, bursty),
        };
        format!(
            "name = 'bursts'
             duration_s = 16
             warmup_s = 8
             down = {down}
             up = {up}
             hosts = {{ congestion_control = '{sender}' }}
             workload = [{{ name = 'bulk', does = {{ bulk = {{ direction = '{direction}' }} }} }}]
             run = [{{ name = 'run', law = '{law}' }}]"
        )
    }

    /// The transfer's share of the link after its start.
    fn used(&self, direction: &str, sender: &str, law: &str) -> f64 {
        let folder = tempfile::tempdir().expect("a folder");
        let trace = folder.path().join("burst.trace");
        std::fs::write(&trace, self.trace()).expect("a file");
        let text = self.scenario(direction, sender, law);
        let path = folder.path().join("bursts.toml");
        let scenario = Scenario::parse(&text, &path).expect("a scenario");
        let inputs = scenario.link_inputs(&path).expect("its trace");
        let set = run_scenario(&scenario, &inputs, &Options::default()).expect("a run");
        flow(&set.runs[0], "bulk").goodput_bps / (self.bps() * 1448.0 / 1500.0)
    }
}

/// Rates of 10 to 1000 Mbit/s, bursts of 1 to 200 ms, round trips of 10 to 200 ms.
fn links() -> Vec<Link> {
    let link = |(mbps, burst_ms, rtt_ms)| Link {
        mbps,
        burst_ms,
        rtt_ms,
    };
    [
        (10, 1, 40),
        (10, 200, 100),
        (12, 100, 40),
        (50, 10, 10),
        (100, 10, 40),
        (30, 200, 100),
        (300, 4, 40),
        (300, 50, 100),
        (720, 1, 80),
        (1000, 1, 20),
        (1000, 10, 200),
    ]
    .map(link)
    .into()
}

/// The largest window, in bytes, for which Linux's receive buffer suffices: 32 MiB, with a segment's payload as
/// 160/256 of it.
const LARGEST_WINDOW: f64 = 32.0 * 1024.0 * 1024.0 * 160.0 / 256.0;

#[test]
fn a_window_grows_though_all_of_it_comes_at_one_instant() {
    for link in links() {
        let Link {
            mbps,
            burst_ms,
            rtt_ms,
        } = link;
        let limit = (LARGEST_WINDOW * 8e3 / rtt_ms as f64 / link.bps()).min(1.0);
        let runs = [
            ("cubic", "none", 0.9),
            ("reno", "none", 0.8),
            ("cubic", "tide", 0.75),
        ];
        for direction in ["down", "up"] {
            for (sender, law, least) in runs {
                let used = link.used(direction, sender, law);
                let what = format!(
                    "{mbps} Mbit/s {direction} in bursts of {burst_ms} ms, round trip {rtt_ms} ms, {sender}, {law}: {used:.3}"
                );
                println!("{what}");
                assert!(used > least * limit, "{what}");
            }
        }
    }
}
