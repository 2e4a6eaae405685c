//! A page of made-up results, to look at: `cargo run -p tidegate-report --example gallery > g.html`.
//! The table of each set goes to standard error. The numbers come from a fluid model of a queue,
//! good enough to have the shapes of real ones.

use tidegate_scenario::{
    FetchResult, FlowDirection, FlowResult, Health, Law, LinkResult, Provenance, Quantiles,
    ResultSet, RttAccuracy, RunResult, Series,
};

const STEP_S: f64 = 0.01;
const BASE_RTT_S: f64 = 0.04;
const BUFFER_BYTES: f64 = 3.0e6;
const PACKET_BYTES: f64 = 1500.0;

fn main() {
    let names = ["linux", "drwa", "tide"];
    let many = [
        "linux",
        "drwa",
        "tide",
        "bbr",
        "linux-262144",
        "linux-484848",
        "rledbat",
        "vegas",
    ];
    let sets = [
        set(
            "lte-download",
            "One CUBIC download over an LTE link, 2000 packets of buffer.",
            &names,
            1,
        ),
        set(
            "late-comer",
            "A second flow starts after 20 s <late> & finds a queue.",
            &names,
            2,
        ),
        set(
            "static-limits",
            "Eight runs, some with a dashed pen.",
            &many,
            1,
        ),
    ];
    for set in &sets {
        eprintln!("{}", tidegate_report::table(set));
    }
    print!("{}", tidegate_report::page(&sets, &Provenance::default()));
}

fn set(name: &str, description: &str, runs: &[&str], flows: usize) -> ResultSet {
    ResultSet {
        scenario: name.into(),
        description: description.into(),
        seed: 1,
        runs: runs
            .iter()
            .enumerate()
            .map(|(index, run)| simulated(run, index, flows))
            .collect(),
    }
}

/// What a window of `gain` bandwidth-delay products does; without a gain it only grows.
fn gain(index: usize) -> Option<f64> {
    match index {
        0 => None,
        1 => Some(3.0),
        2 => Some(1.15),
        n => Some(1.0 + n as f64 * 0.7),
    }
}

/// The link's rate in bytes per second: a slow swing, a fast one, and a fade.
fn capacity(t: f64) -> f64 {
    let swing = 1.0 + 0.5 * libm::sin(t * 0.31) + 0.25 * libm::sin(t * 2.3) * libm::cos(t * 0.7);
    let fade = if (31.0..33.5).contains(&t) { 0.15 } else { 1.0 };
    2.2e6 * swing * fade
}

#[derive(Default)]
struct Recorder {
    t_s: Vec<f64>,
    delay_ms: Vec<f64>,
    delay_max_ms: Vec<f64>,
    capacity_bps: Vec<f64>,
    flows: Vec<[Vec<f64>; 4]>,
}

fn simulated(name: &str, index: usize, count: usize) -> RunResult {
    let mut record = Recorder {
        flows: vec![Default::default(); count],
        ..Recorder::default()
    };
    let mut windows = vec![10.0 * PACKET_BYTES; count];
    let mut queue = 0.0_f64;
    let mut drops = 0;
    let mut noise = 17_u64 + index as u64;
    for step in 0..6000 {
        let t = f64::from(step) * STEP_S;
        noise = noise
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let jitter = (noise >> 40) as f64 / (1_u64 << 24) as f64;
        let rate = capacity(t) * (0.7 + 0.6 * jitter);
        let rtt = BASE_RTT_S + queue / rate;
        let active = if t < 20.0 { 1 } else { count };
        for (flow, window) in windows.iter_mut().enumerate().take(active) {
            let share = if flow == 0 { 0.6 } else { 0.4 };
            let share = if active == 1 { 1.0 } else { share };
            match gain(index) {
                None => *window += *window * STEP_S / rtt * 0.12,
                Some(gain) => *window += (gain * share * rate * BASE_RTT_S - *window) * 0.05,
            }
        }
        let total: f64 = windows[..active].iter().sum();
        queue = (total - capacity(t) * BASE_RTT_S).max(0.0) * (0.85 + 0.3 * jitter);
        if queue > BUFFER_BYTES {
            drops += 37;
            queue = BUFFER_BYTES;
            windows.iter_mut().for_each(|window| *window *= 0.7);
        }
        if step % 5 == 0 {
            record.step(t, queue, rate, rtt, &windows[..active]);
        }
    }
    result(name, index, &record, drops)
}

impl Recorder {
    fn step(&mut self, t: f64, queue: f64, rate: f64, rtt: f64, windows: &[f64]) {
        self.t_s.push(t);
        self.delay_ms.push(queue / rate * 1e3);
        self.delay_max_ms.push(queue / rate * 1300.0);
        self.capacity_bps.push(rate * 8.0);
        let total: f64 = windows.iter().sum();
        for (flow, window) in windows.iter().enumerate() {
            let goodput = (total / rtt).min(rate) * window / total;
            let values = [
                rtt * 1e3,
                window * 2.0,
                goodput * 8.0,
                window / PACKET_BYTES,
            ];
            for (column, value) in self.flows[flow].iter_mut().zip(values) {
                column.push(value);
            }
        }
    }

    fn series(&self) -> Vec<Series> {
        let of = |quantity: &str, flow: &str, value: &[f64]| Series {
            quantity: quantity.into(),
            flow: flow.into(),
            t_s: self.t_s[self.t_s.len() - value.len()..].to_vec(),
            value: value.to_vec(),
        };
        let truth: Vec<f64> = self
            .delay_ms
            .iter()
            .map(|delay| delay + BASE_RTT_S * 1e3)
            .collect();
        let agent: Vec<f64> = truth
            .iter()
            .enumerate()
            .map(|(i, rtt)| rtt + (i % 7) as f64 * 0.6)
            .collect();
        let mut all = vec![
            of("true_rtt_ms", "", &truth),
            of("rtt_ms", PING, &truth),
            of("agent_rtt_ms", &flow_name(0), &agent),
            of("delivered_bps", "", &self.capacity_bps),
            of("queue_delay_ms", "", &self.delay_ms),
            of("queue_delay_max_ms", "", &self.delay_max_ms),
            of("capacity_bps", "", &self.capacity_bps),
        ];
        for (index, columns) in self.flows.iter().enumerate() {
            let names = ["rtt_ms", "window_bytes", "goodput_bps", "cwnd_packets"];
            let flow = flow_name(index);
            all.extend(
                names
                    .iter()
                    .zip(columns)
                    .map(|(name, values)| of(name, &flow, values)),
            );
        }
        all
    }
}

const PING: &str = "ping";

fn flow_name(index: usize) -> String {
    format!("download#{}", index + 1)
}

fn quantiles(values: &[f64]) -> Quantiles {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize];
    Quantiles {
        mean: values.iter().sum::<f64>() / values.len() as f64,
        p50: at(0.5),
        p95: at(0.95),
        p99: at(0.99),
        max: at(1.0),
    }
}

fn result(name: &str, index: usize, record: &Recorder, drops: u64) -> RunResult {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let flows = record
        .flows
        .iter()
        .enumerate()
        .map(|(flow, columns)| FlowResult {
            name: flow_name(flow),
            direction: FlowDirection::Down,
            goodput_bps: mean(&columns[2]),
            rtt_ms: quantiles(&columns[0]),
            retransmits: drops / 2,
            ..FlowResult::default()
        });
    let echo = FlowResult {
        name: PING.into(),
        direction: FlowDirection::Echo,
        rtt_ms: quantiles(&record.delay_ms),
        ..FlowResult::default()
    };
    let flows: Vec<FlowResult> = flows.chain([echo]).collect();
    let delivered_bps = flows.iter().map(|flow| flow.goodput_bps).sum::<f64>() * 1.04;
    let delay = quantiles(&record.delay_ms);
    let fetch = |bytes: u64, trips: f64| FetchResult {
        name: "web".into(),
        bytes,
        count: 40,
        time_ms: Quantiles {
            p50: (40.0 + delay.p50) * trips,
            p95: (40.0 + delay.p95) * trips,
            p99: (40.0 + delay.p99) * trips,
            max: (40.0 + delay.max) * trips,
            mean: (40.0 + delay.mean) * trips,
        },
    };
    let mut series = record.series();
    series.retain(|series| index > 0 || series.quantity != "agent_rtt_ms");
    RunResult {
        name: name.into(),
        law: if index == 0 { Law::None } else { Law::Tide },
        congestion_control: "cubic".into(),
        fetches: if flows.len() > 2 {
            vec![]
        } else {
            vec![fetch(10_000, 2.0), fetch(1_000_000, 6.5)]
        },
        link: LinkResult {
            utilisation: delivered_bps / mean(&record.capacity_bps),
            delivered_bps,
            queue_delay_ms: delay,
            drops,
            losses: 0,
            marks: 0,
        },
        uplink: LinkResult::default(),
        health: health(index),
        agent_rtt: (index > 0).then_some(RttAccuracy {
            bins: 570,
            median_error_ms: 0.84,
            median_relative_error: 0.012,
            median_truth_ms: delay.p50 + 40.0,
        }),
        series,
        flows,
        ..RunResult::default()
    }
}

fn health(index: usize) -> Health {
    let busy = index == 1;
    Health {
        timing_error_ms: Quantiles {
            mean: 0.03,
            p50: 0.02,
            p95: 0.09,
            p99: 0.21,
            max: 1.7,
        },
        plumbing_losses: 0,
        emulator_cpu: 0.07,
        machine_cpu: if busy { 0.97 } else { 0.21 },
        warnings: if busy {
            vec!["the machine was 97 % busy: packets may have left late".into()]
        } else {
            vec![]
        },
    }
}
