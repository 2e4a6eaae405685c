//! Fairness by device: what each device has, however many downloads or uploads it runs.

mod common;

use common::try_run;
use tidegate_scenario::RunResult;

/// Each device's flows, all in that direction, over a link of that rate at that base RTT; devices that stop, when.
fn share(
    fair: &str,
    direction: &str,
    rate: &str,
    rtt_ms: u32,
    flows: &[(u32, Option<u32>)],
) -> RunResult {
    let one_way_ms = f64::from(rtt_ms) / 2.0;
    let workloads: Vec<_> = (0..)
        .zip(flows)
        .map(|(number, (flows, stop_s))| {
            let stop = stop_s.map_or(String::new(), |s| format!("stop_s = {s}, "));
            format!("{{ name = 'd{number}', device = 'd{number}', {stop}does = {{ bulk = {{ flows = {flows}, direction = '{direction}' }} }} }}")
        })
        .collect();
    let link = format!("{{ rate = {{ {rate} }}, delay_ms = {one_way_ms}, queue = {{ packets = 4000 }} }}");
    let text = format!(
        "duration_s = 60
         warmup_s = 20
         down = {link}
         up = {link}
         workload = [{}]
         run = [{{ name = 'tide', law = 'tide', fair = '{fair}' }}]",
        workloads.join(", ")
    );
    try_run(&text, false).expect("it runs").runs.remove(0)
}

/// What each device has got: the sum of its flows' goodput.
fn goodput(run: &RunResult, devices: usize) -> Vec<f64> {
    let of = |device: usize| {
        let name = format!("d{device}");
        let flows = run.flows.iter();
        let mine = flows.filter(|f| f.name.split('#').next() == Some(&name));
        mine.map(|f| f.goodput_bps).sum()
    };
    (0..devices).map(of).collect()
}

/// Jain's index of fairness.
fn jain(of: &[f64]) -> f64 {
    let sum: f64 = of.iter().sum();
    sum * sum / (of.len() as f64 * of.iter().map(|x| x * x).sum::<f64>())
}

const FLOWS: [(u32, Option<u32>); 4] = [(1, None), (1, None), (4, None), (16, None)];

#[test]
fn four_devices_have_a_quarter_each_whatever_they_run() {
    for direction in ["down", "up"] {
        for (rate, rtt_ms) in [
            ("constant_mbps = 100", 40),
            ("constant_mbps = 50", 80),
            ("constant_mbps = 20", 100),
            ("generate = { kind = 'lte', seed = 1, mean_mbps = 40 }", 60),
            ("generate = { kind = 'lte', seed = 2, mean_mbps = 40 }", 60),
            ("generate = { kind = 'lte', seed = 3, mean_mbps = 40 }", 60),
            ("generate = { kind = 'lte', seed = 1, mean_mbps = 100 }", 60),
            ("generate = { kind = 'lte', seed = 2, mean_mbps = 100 }", 60),
        ] {
            let [by_device, by_flow] =
                ["device", "flow"].map(|fair| share(fair, direction, rate, rtt_ms, &FLOWS));
            let [device, flow] = [&by_device, &by_flow].map(|run| goodput(run, 4));
            let link = |run: &RunResult| if direction == "down" { run.link.clone() } else { run.uplink.clone() };
            let [ours, theirs] = [link(&by_device), link(&by_flow)];
            println!(
                "{direction} {rate} {rtt_ms} ms: by device Jain {:.3}, {:?} Mbit/s, {:.1} %, queue {:.1} ms; by flow Jain {:.3}, {:.1} %, {:.1} ms",
                jain(&device), device.iter().map(|x| (x / 1e5).round() / 10.0).collect::<Vec<_>>(),
                ours.utilisation * 100.0, ours.queue_delay_ms.mean, jain(&flow), theirs.utilisation * 100.0, theirs.queue_delay_ms.mean
            );
        }
    }
}
