//! Measures a link: the test's name stands before the colon of the case's name.

use super::links::{AHEAD_S, DRIFT_PPM, Kind};
use anyhow::{Result, bail};
use std::time::Duration;
use tidegate_link::{CellConfig, Config, Instant, Scheduler};
use tidegate_probe::analysis::buffer::{Buffer, Unit};
use tidegate_probe::analysis::bursts::{backlogged, inter_arrival_ms, split, split_or_packets};
use tidegate_probe::analysis::clock::clock;
use tidegate_probe::analysis::flights::Flights;
use tidegate_probe::analysis::policy::DropPolicy;
use tidegate_probe::analysis::queues::{Queues, jain, queues, shares_bps};
use tidegate_probe::analysis::{bursts, rate};
use tidegate_probe::emulated::{Clock, Emulated, Experiment, Side};
use tidegate_probe::examine::{OVERFLOW_SECONDS, overflow_train, overflows};
use tidegate_probe::{Arrival, Echo, Message, Pace, Ping, TrainConfig};
use tidegate_scenario::{LinkInputs, RunResult, Scenario, Series};

/// Runs the test.
pub fn perform(scenario: &Scenario, inputs: &LinkInputs) -> Result<RunResult> {
    let link = || Emulated::new(inputs.down.clone(), inputs.up.clone(), CLOCK, scenario.seed);
    let test = scenario.name.split(':').next().unwrap_or_default();
    let series = match test {
        "buffer" | "held out" | "aqm" | "recorded" => buffer(&mut link()),
        "bursts" => arrivals(&mut link()),
        "minutes" => minutes(&mut link()),
        "one queue" => quiet_beside_busy(&mut link()),
        "own queues" => quiet_beside_busy(&mut cell(&inputs.down, &inputs.up, 2, scenario.seed)),
        "three devices" => three(&mut cell(&inputs.down, &inputs.up, 3, scenario.seed)),
        "both ways" => both_ways(&mut swapped(inputs, scenario.seed)),
        other => bail!("there is no test \"{other}\""),
    };
    Ok(RunResult {
        name: scenario.name.clone(),
        series,
        ..RunResult::default()
    })
}

const CLOCK: Clock = Clock {
    ahead: Duration::from_secs(AHEAD_S),
    drift_ppm: DRIFT_PPM,
};

fn curve(quantity: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
    let (t_s, value) = points.into_iter().unzip();
    Series {
        quantity: quantity.into(),
        flow: String::new(),
        t_s,
        value,
    }
}

fn number(quantity: &str, value: f64) -> Series {
    curve(quantity, [(0.0, value)])
}

/// Trains of three sizes: the buffer, and bursts.
fn buffer(link: &mut Emulated) -> Vec<Series> {
    let found = overflows(link, Side::Server);
    let mut series = vec![
        number("period_ms", found.period.map_or(0.0, |p| p.ms)),
        number("megabytes", found.bytes as f64 / 1e6),
    ];
    if let Some(buffer) = found.buffer {
        series.push(number("size", buffer.size));
        series.push(number("kind", code(&buffer)));
    }
    for (train, quantity) in found.trains.iter().zip(IN_FLIGHT) {
        series.push(curve(quantity, in_flight(train)));
    }
    series
}

/// Curves of the packets in flight, for packets of each size.
pub const IN_FLIGHT: [&str; 3] = ["in_flight_1420", "in_flight_560", "in_flight_200"];

/// Its index in [`Kind::ALL`]; 4 if it is none of them.
fn code(buffer: &Buffer) -> f64 {
    let kind = match (buffer.unit, buffer.policy) {
        (Unit::Packets, DropPolicy::Tail) => Kind::PacketsTail,
        (Unit::Packets, DropPolicy::Head) => Kind::PacketsHead,
        (Unit::Bytes, DropPolicy::Tail) => Kind::BytesTail,
        (Unit::Time, DropPolicy::Aqm) => Kind::TimeAqm,
        _ => return Kind::ALL.len() as f64,
    };
    Kind::ALL
        .iter()
        .position(|&k| k == kind)
        .unwrap_or_default() as f64
}

/// Packets in flight ahead of each, in at most 500 points.
fn in_flight(train: &[Arrival]) -> Vec<(f64, f64)> {
    let flights = Flights::of(train);
    let start_s = flights.packets.first().map_or(0.0, |p| p.sent_s);
    let every = flights.packets.len().div_ceil(500).max(1);
    let points = flights.packets.iter().step_by(every);
    points
        .map(|p| (p.sent_s - start_s, p.ahead.into()))
        .collect()
}

/// Arrivals over a busy link.
fn arrivals(link: &mut Emulated) -> Vec<Series> {
    let found = overflows(link, Side::Server);
    let busy = backlogged(&found.trains[0]);
    let parts = split_or_packets(&busy);
    let n: Vec<usize> = (1..=10).map(|n| 1 << n).chain([rate::BURSTS]).collect();
    let mut accuracy = rate::accuracy(&parts, &n);
    accuracy.sort_by_key(|a| a.bursts);
    let start = busy.first().map_or(Instant::ZERO, |a| a.arrived);
    let gaps = busy.windows(2).take(400).map(|pair| {
        let gap = pair[1].arrived - pair[0].arrived;
        (
            (pair[1].arrived - start).as_secs_f64(),
            gap.as_secs_f64() * 1e3,
        )
    });
    let by_bursts = |read: fn(&rate::Accuracy) -> f64| {
        let points = accuracy.iter().map(move |a| (a.bursts as f64, read(a)));
        points.collect::<Vec<_>>()
    };
    let steps = inter_arrival_ms(&busy)
        .into_iter()
        .step_by(busy.len() / 500 + 1);
    let sizes = split(&busy, bursts::GAP);
    vec![
        number("period_ms", found.period.map_or(0.0, |p| p.ms)),
        number(
            "rate_mbps",
            rate::summary(&busy).map_or(0.0, |r| r.median_bps / 1e6),
        ),
        curve("gap_ms", gaps),
        curve("gaps_ms", steps.map(|ms| (0.0, ms))),
        curve(
            "burst_packets",
            sizes.iter().take(500).map(|b| (0.0, b.packets.into())),
        ),
        curve("error", by_bursts(|a| 100.0 * a.error)),
        curve("deviation", by_bursts(|a| 100.0 * a.deviation)),
    ]
}

/// A flow that keeps the link busy for ten minutes (Fig. 4.6).
fn minutes(link: &mut Emulated) -> Vec<Series> {
    let train = TrainConfig {
        pace: Pace::Window(BUSY_WINDOW),
        max_bytes: u64::MAX,
        max_time: Duration::from_secs(600),
        ..overflow_train(0, 1420)
    };
    let observed = link.perform(&Experiment {
        trains: vec![(Side::Server, train)],
        ..Experiment::default()
    });
    let busy = backlogged(&observed.trains[0]);
    let rates = rate::rates(&split_or_packets(&busy), rate::BURSTS);
    let start_s = rates.first().map_or(0.0, |r| r.0);
    let every = rates.len() / 1000 + 1;
    let values = || rates.iter().map(|r| r.1);
    vec![
        number("least_mbps", values().fold(f64::INFINITY, f64::min) / 1e6),
        number("most_mbps", values().fold(0.0, f64::max) / 1e6),
        curve(
            "rate_mbps",
            rates
                .iter()
                .step_by(every)
                .map(|r| (r.0 - start_s, r.1 / 1e6)),
        ),
    ]
}

/// A thousand packets, as the thesis kept in flight.
const BUSY_WINDOW: u64 = 1_420_000;

/// Devices with a queue each, one served after the other.
fn cell(down: &Config, up: &Config, users: usize, seed: u64) -> Emulated {
    let config = CellConfig {
        scheduler: Scheduler::RoundRobin,
        tti: Duration::from_millis(2),
        users: vec![down.clone(); users],
    };
    Emulated::in_cell(config, up.clone(), CLOCK, seed)
}

/// Fig. 4.12: 80 bytes (the thesis: 50) every 10 ms to one device, and a full queue for the other.
fn quiet_beside_busy(link: &mut Emulated) -> Vec<Series> {
    let quiet = TrainConfig {
        flow: 0,
        bytes: 80,
        pace: Pace::Constant(80.0 * 8.0 / 0.01),
        max_time: Duration::from_secs(40),
        ..overflow_train(0, 80)
    };
    let busy = TrainConfig {
        flow: 1,
        pace: Pace::Window(BUSY_WINDOW),
        max_time: Duration::from_secs(20),
        ..overflow_train(1, 1420)
    };
    let observed = link.perform(&Experiment {
        trains: vec![(Side::Server, quiet), (Side::Server, busy)],
        delays: vec![Duration::ZERO, Duration::from_secs(10)],
        ..Experiment::default()
    });
    let [quiet, busy] = [&observed.trains[0], &observed.trains[1]];
    let verdict = match queues(quiet, busy) {
        Some(Queues::Own) => 1.0,
        Some(Queues::Shared) => 0.0,
        None => f64::NAN,
    };
    let least = quiet.iter().map(Arrival::one_way_ns).min().unwrap_or(0);
    let start = quiet.first().map_or(Instant::ZERO, |a| a.arrived);
    let waits = quiet.iter().step_by(10).map(|a| {
        let ms = (a.one_way_ns() - least) as f64 / 1e6;
        ((a.arrived - start).as_secs_f64(), ms)
    });
    vec![number("own", verdict), curve("wait_ms", waits)]
}

/// Fig. 4.13: 1420 KB in flight to one device, 64 KB to each of two others.
fn three(link: &mut Emulated) -> Vec<Series> {
    let windows = [BUSY_WINDOW, 64_000, 64_000];
    let trains = (0u8..).zip(windows).map(|(flow, window)| {
        let train = TrainConfig {
            pace: Pace::Window(window),
            max_time: Duration::from_secs(60),
            ..overflow_train(flow, 1420)
        };
        (Side::Server, train)
    });
    let observed = link.perform(&Experiment {
        trains: trains.collect(),
        ..Experiment::default()
    });
    let first = observed
        .trains
        .iter()
        .filter_map(|t| t.first())
        .map(|a| a.arrived)
        .max();
    let from = first.unwrap_or(Instant::ZERO) + Duration::from_secs(10);
    let shares = shares_bps(&observed.trains, from, from + Duration::from_secs(40));
    vec![
        number("jain", jain(&shares)),
        curve(
            "share_mbps",
            (0..).zip(&shares).map(|(n, bps)| (f64::from(n), bps / 1e6)),
        ),
    ]
}

/// The link under study as the uplink.
fn swapped(inputs: &LinkInputs, seed: u64) -> Emulated {
    Emulated::new(inputs.up.clone(), inputs.down.clone(), CLOCK, seed)
}

/// Fig. 4.16: questions for the time on an idle link, beside an upload and a download that keep it busy, and on the idle
/// link again.
fn both_ways(link: &mut Emulated) -> Vec<Series> {
    let ping_every = Some(Duration::from_millis(50));
    let idle = || Experiment {
        ping_every,
        ping_for: Duration::from_secs(10),
        ..Experiment::default()
    };
    let busy = |flow| TrainConfig {
        pace: Pace::Busy,
        max_time: Duration::from_secs(OVERFLOW_SECONDS),
        ..overflow_train(flow, 1420)
    };
    let mut echoes = link.perform(&idle()).echoes;
    let beside = link.perform(&Experiment {
        trains: vec![
            (Side::Client, busy(0)),
            (
                Side::Server,
                TrainConfig {
                    pace: Pace::Constant(1e6),
                    ..busy(1)
                },
            ),
        ],
        ping_every,
        ..Experiment::default()
    });
    echoes.extend(beside.echoes);
    echoes.extend(link.perform(&idle()).echoes);
    let uplink =
        rate::summary(&backlogged(&beside.trains[0])).map_or(f64::INFINITY, |r| r.median_bps);
    let asked = Message::Ping(Ping {
        sequence: 0,
        sent: Instant::ZERO,
    });
    let Some(estimate) = clock(&echoes) else {
        return Vec::new();
    };
    let estimate = estimate.longer_up(asked.bytes() as f64 * 8.0 / uplink);
    let errors = echoes.iter().flat_map(|echo| {
        let [up, down] = estimate.one_way_s(echo);
        let [true_up, true_down] = true_ways_s(echo);
        [(up - true_up).abs() * 1e3, (down - true_down).abs() * 1e3]
    });
    let way = |side: usize| {
        let start = echoes[0].asked;
        let points = echoes.iter().step_by(2).map(move |echo| {
            (
                (echo.asked - start).as_secs_f64(),
                estimate.one_way_s(echo)[side],
            )
        });
        points.collect::<Vec<_>>()
    };
    let ways = [way(0), way(1)];
    let most = |side: usize| ways[side].iter().map(|p| p.1).fold(0.0, f64::max);
    vec![
        number("error_ms", errors.fold(0.0, f64::max)),
        number("skew_ppm", estimate.skew_ppm),
        number("ahead_s", estimate.ahead_ms / 1e3),
        number("ratio", most(0) / most(1)),
        curve("up_s", ways[0].iter().copied()),
        curve("down_s", ways[1].iter().copied()),
    ]
}

fn true_ways_s(echo: &Echo) -> [f64; 2] {
    let asked_s = echo.asked.as_secs_f64() - CLOCK.ahead_s(echo.asked);
    let heard_s = echo.heard.as_secs_f64() - CLOCK.ahead_s(echo.heard);
    let answered_s = echo.answered.as_secs_f64();
    [answered_s - asked_s, heard_s - answered_s]
}
