//! Packets a second through a link, for each kind of rate and queue.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::time::Duration;
use tidegate_link::{
    Arq, BlockError, CellKind, CellModel, Config, CrossTraffic, Disorder, FqCodelPolicy, Instant,
    Link, Loss, Middlebox, Packet, Policy, QueueConfig, Rate, RateSeries, RedPolicy, Scheduler,
    Sharing, TokenBucket, Trace,
};

/// A packet that is full-sized on the wire and empty in memory.
struct Full;

impl Packet for Full {
    fn wire_bytes(&self) -> usize {
        1500
    }
}

/// Packets of one round.
const PACKETS: u64 = 10_000;
/// Offered load: a packet each 100 µs, which is 120 Mbit/s and more than any of the links carries.
const SPACING: Duration = Duration::from_micros(100);

/// Overloads the link with packets, polling before each, and returns how many it delivered.
fn overload(config: &Config) -> u64 {
    let mut link = Link::new(config.clone(), 1);
    let mut now = Instant::ZERO;
    for _ in 0..PACKETS {
        link.push(now, Full);
        now += SPACING;
        while link.poll(now).is_some() {}
        black_box(link.next_event());
    }
    link.stats().delivered_packets
}

fn configs() -> Vec<(&'static str, Config)> {
    let of = |rate| Config {
        rate,
        delay: Duration::from_millis(20).into(),
        ..Config::default()
    };
    let every_ms: String = (1..=1000).map(|ms| format!("{ms}\n")).collect();
    let steps = "0,100e6\n0.01,50e6\n0.02,80e6\n";
    let codel = QueueConfig {
        policy: Policy::Codel {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
        },
        ..QueueConfig::default()
    };
    let bursty = Loss::Bursty {
        probability: 0.01,
        mean_length: 3.0,
    };
    let trace = Trace::parse(&every_ms).expect("a valid trace");
    let series = RateSeries::parse(steps).expect("a valid series");
    vec![
        ("constant", of(Rate::constant(100e6))),
        ("trace", of(Rate::from(trace))),
        ("series", of(Rate::from(series))),
        (
            "cell",
            of(Rate::from(CellModel::new(CellKind::Lte, Some(100e6), 1))),
        ),
        (
            "constant+codel+loss",
            Config {
                queue: codel,
                loss: Some(bursty),
                ..of(Rate::constant(100e6))
            },
        ),
    ]
}

/// The other disciplines and stages, each before, on or behind a constant rate.
fn stages() -> Vec<(&'static str, Config)> {
    let base = || Config {
        rate: Rate::constant(100e6),
        delay: Duration::from_millis(20).into(),
        ..Config::default()
    };
    let policy = |policy| Config {
        queue: QueueConfig {
            policy,
            ..QueueConfig::default()
        },
        ..base()
    };
    let red = RedPolicy {
        min_packets: 50.0,
        max_packets: 150.0,
        max_probability: 0.1,
        weight: 0.002,
        packet_time: Duration::from_micros(120),
    };
    let pie = Policy::Pie {
        target: Duration::from_millis(15),
    };
    let shaper = TokenBucket {
        rate_bps: 110e6,
        burst_bytes: 15_000,
        queue_packets: 1000,
    };
    let arq = Arq {
        error: BlockError::Constant(0.1),
        retry: Duration::from_millis(8),
        tries: 8,
    };
    let disorder = Disorder {
        reorder: 0.01,
        late_by: Duration::from_millis(5),
        duplicate: 0.01,
    };
    let middlebox = Middlebox {
        patience: Duration::from_millis(500),
    };
    let sharing = Sharing {
        scheduler: Scheduler::ProportionalFair {
            time_constant: Duration::from_millis(1670),
        },
        users: 3,
        tti: Duration::from_millis(1),
        traffic: CrossTraffic {
            mean_bps: 20e6,
            on: Duration::from_secs(1),
            off: Duration::from_secs(1),
        },
        seed: 1,
    };
    vec![
        ("red", policy(Policy::Red(red))),
        ("pie", policy(pie)),
        (
            "fq-codel",
            policy(Policy::FqCodel(FqCodelPolicy::default())),
        ),
        (
            "shaper",
            Config {
                shaper: Some(shaper),
                ..base()
            },
        ),
        (
            "arq",
            Config {
                arq: Some(arq),
                ..base()
            },
        ),
        (
            "disorder",
            Config {
                disorder: Some(disorder),
                ..base()
            },
        ),
        (
            "middlebox",
            Config {
                middlebox: Some(middlebox),
                ..base()
            },
        ),
        (
            "shared cell",
            Config {
                sharing: Some(sharing),
                ..base()
            },
        ),
    ]
}

fn packets(c: &mut Criterion) {
    let mut group = c.benchmark_group("packets");
    group.throughput(Throughput::Elements(PACKETS));
    for (name, config) in configs().into_iter().chain(stages()) {
        group.bench_function(name, |b| b.iter(|| overload(&config)));
    }
    group.finish();
}

/// An hour of a generated cell, opportunity after opportunity.
fn cell_hour(c: &mut Criterion) {
    let model = CellModel::new(CellKind::Lte, None, 1);
    c.bench_function("LTE cell, one hour", |b| {
        b.iter(|| {
            let mut capacity = tidegate_link::Capacity::new(&Rate::from(model));
            capacity.bytes(Instant::ZERO, Instant::from_millis(3_600_000))
        });
    });
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .sample_size(10)
        .without_plots();
    targets = packets, cell_hour
}
criterion_main!(benches);
