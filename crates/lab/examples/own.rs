//! A law and a sender of one's own over the laboratory's link, beside what Linux does:
//!
//! ```sh
//! cargo run --release -p tidegate-lab --example own     # as root
//! ```

use anyhow::Result;
use std::path::Path;
use std::time::Duration;
use tidegate_lab::{Options, run_scenario};
use tidegate_scenario::Scenario;
use tidegate_tcp::cc::{CongestionControl, Factory, Flight, Window};
use tidegate_tcp::steer::{Arrival, LawFactory, OwnLaw};

/// A receiver's law: one and a half times what has arrived in the last round trip.
#[derive(Debug, Default)]
struct Follow {
    began: Duration,
    before: u64,
    window: Option<u32>,
}

impl OwnLaw for Follow {
    fn arrives(&mut self, arrival: &Arrival) -> Option<u32> {
        let round = arrival
            .rtt_min
            .filter(|&rtt| arrival.now - self.began >= rtt);
        if let Some(rtt) = round {
            let rounds = (arrival.now - self.began).as_secs_f64() / rtt.as_secs_f64();
            let arrived = (arrival.in_order_bytes - self.before) as f64 / rounds;
            self.window = Some((arrived * 1.5) as u32);
            (self.began, self.before) = (arrival.now, arrival.in_order_bytes);
        }
        self.window
    }
}

/// A sender: this many segments, whatever is lost.
#[derive(Debug)]
struct Fixed(u32);

impl CongestionControl for Fixed {
    fn init(&mut self, window: &mut Window, _flight: &Flight) {
        window.cwnd = self.0;
    }

    fn ssthresh(&mut self, _window: &Window, _flight: &Flight) -> u32 {
        self.0
    }

    fn cong_avoid(&mut self, window: &mut Window, _flight: &Flight, _acked: u32) {
        window.cwnd = self.0;
    }
}

/// A download from Linux's CUBIC, from the sender, and under the law; the host in the run's `own_tcp` has the TCP that
/// takes them, the other one Linux's.
const SCENARIO: &str = r#"
name = "own"
duration_s = 12
warmup_s = 4
down = { rate = { constant_mbps = 20 }, delay_ms = 20, queue = { packets = 1000 } }
up = { rate = { constant_mbps = 5 }, delay_ms = 20 }
workload = [{ name = "download", does = { bulk = {} } }]
run = [{ name = "linux" }, { name = "sender", own_tcp = ["server"] }, { name = "law", own_tcp = ["client"] }]
"#;

fn main() -> Result<()> {
    println!(
        "{:8} {:>6} {:>22} {:>8}",
        "run", "Mbit/s", "queueing delay, ms: mean", "p95"
    );
    let scenario = Scenario::parse(SCENARIO, Path::new("own.toml"))?;
    for run in &scenario.runs {
        let of_run = Scenario {
            runs: vec![run.clone()],
            ..scenario.clone()
        };
        let inputs = of_run.link_inputs(Path::new("own.toml"))?;
        let options = Options {
            senders: (run.name == "sender")
                .then_some(&|_| Some(Factory::new(|_seed| Box::new(Fixed(80))))),
            laws: (run.name == "law")
                .then_some(&|_| Some(LawFactory::new("follow", || Box::<Follow>::default()))),
            ..Options::default()
        };
        for result in run_scenario(&of_run, &inputs, &options)?.runs {
            let queue = &result.link.queue_delay_ms;
            let rate = result.flows[0].goodput_bps / 1e6;
            println!(
                "{:8} {rate:6.2} {:24.1} {:8.1}",
                result.name, queue.mean, queue.p95
            );
        }
    }
    Ok(())
}
