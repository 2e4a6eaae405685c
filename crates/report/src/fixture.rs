//! Results for the tests: small, and with numbers that are easily recognised.

use tidegate_scenario::{
    FetchResult, FlowDirection, FlowResult, Health, Law, LinkResult, Quantiles, ResultSet,
    RttAccuracy, RunResult, Series,
};

/// A distribution whose numbers are `p95` and known parts of it.
pub(crate) fn quantiles(p95: f64) -> Quantiles {
    Quantiles {
        mean: p95 * 0.5,
        p50: p95 * 0.4,
        p95,
        p99: p95 * 1.2,
        max: p95 * 2.0,
    }
}

/// A flow down.
pub(crate) fn flow(name: &str, mbps: f64, rtt_p95_ms: f64) -> FlowResult {
    FlowResult {
        name: name.into(),
        direction: FlowDirection::Down,
        goodput_bps: mbps * 1e6,
        rtt_ms: quantiles(rtt_p95_ms),
        retransmits: 7,
        ..FlowResult::default()
    }
}

/// A run of one flow down.
pub(crate) fn run(name: &str, mbps: f64, queue_p95_ms: f64) -> RunResult {
    RunResult {
        name: name.into(),
        law: Law::None,
        congestion_control: "cubic".into(),
        flows: vec![flow("bulk", mbps, queue_p95_ms + 40.0)],
        link: LinkResult {
            utilisation: 0.987,
            delivered_bps: mbps * 1e6,
            queue_delay_ms: quantiles(queue_p95_ms),
            drops: 321,
            losses: 0,
            marks: 0,
        },
        ..RunResult::default()
    }
}

/// `linux` with a second of queueing delay, and `tide` with a fiftieth of it at 98 % of the rate.
pub(crate) fn set() -> ResultSet {
    ResultSet {
        scenario: "bloat".into(),
        description: "One download.".into(),
        seed: 1,
        runs: vec![run("linux", 20.0, 1000.0), run("tide", 19.6, 20.0)],
    }
}

/// The same with everything that a laboratory may add.
pub(crate) fn full_set() -> ResultSet {
    let mut set = set();
    for (index, run) in set.runs.iter_mut().enumerate() {
        let scale = 1.0 / (1.0 + 49.0 * index as f64);
        run.fetches = vec![
            fetch("web", 10_000, 2000.0 * scale),
            fetch("web", 1_000_000, 9000.0 * scale),
        ];
        run.health = Health {
            timing_error_ms: quantiles(0.25),
            plumbing_losses: 0,
            emulator_cpu: 0.125,
            machine_cpu: 0.5,
            warnings: Vec::new(),
        };
        run.series = vec![
            series("queue_delay_ms", "", 1000.0 * scale),
            series("queue_delay_max_ms", "", 1500.0 * scale),
            series("rtt_ms", "bulk", 1040.0 * scale),
            series("window_bytes", "bulk", 3e6 * scale),
            series("goodput_bps", "bulk", 20e6),
            series("cwnd_packets", "bulk", 2000.0 * scale),
        ];
    }
    set.runs[1].law = Law::Tide;
    set.runs[1].agent_rtt = Some(RttAccuracy {
        bins: 570,
        median_error_ms: 0.84,
        median_relative_error: 0.014,
        median_truth_ms: 61.25,
    });
    set
}

/// Fetches of one size.
pub(crate) fn fetch(name: &str, bytes: u64, p95: f64) -> FetchResult {
    FetchResult {
        name: name.into(),
        bytes,
        count: 40,
        time_ms: quantiles(p95),
    }
}

/// Twenty seconds of a value that swings by a tenth.
pub(crate) fn series(quantity: &str, flow: &str, value: f64) -> Series {
    let t_s: Vec<f64> = (0..200).map(|i| f64::from(i) * 0.1).collect();
    Series {
        quantity: quantity.into(),
        flow: flow.into(),
        value: t_s
            .iter()
            .map(|t| value * (1.0 + 0.1 * libm::sin(*t)))
            .collect(),
        t_s,
    }
}
