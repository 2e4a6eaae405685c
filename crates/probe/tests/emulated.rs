//! The tests over emulated links whose properties are all known.

use std::time::Duration;
use tidegate_link::{Config, Loss, Policy, QueueConfig, Rate, RateSeries, ScheduledSeries};
use tidegate_probe::analysis::buffer::Unit;
use tidegate_probe::analysis::bursts::backlogged;
use tidegate_probe::analysis::clock::clock;
use tidegate_probe::analysis::latency::{Grade, loaded};
use tidegate_probe::analysis::opportunities::mahimahi;
use tidegate_probe::analysis::policy::DropPolicy;
use tidegate_probe::analysis::rate;
use tidegate_probe::emulated::{Clock, Emulated, Experiment, Side};
use tidegate_probe::examine::{Overflows, overflow_train, overflows};
use tidegate_probe::{Pace, TrainConfig};

const CLOCK: Clock = Clock {
    ahead: Duration::from_secs(10),
    drift_ppm: 50.0,
};

fn config(rate: Rate, queue: QueueConfig, rtt_ms: u64) -> Config {
    Config {
        rate,
        queue,
        loss: Some(Loss::Random(0.001)),
        delay: Duration::from_micros(rtt_ms * 500).into(),
        ..Config::default()
    }
}

fn link(rate: Rate, queue: QueueConfig, rtt_ms: u64) -> Emulated {
    let up = config(Rate::constant(20e6), QueueConfig::default(), rtt_ms);
    Emulated::new(config(rate, queue, rtt_ms), up, CLOCK, 7)
}

fn queue(packets: Option<usize>, bytes: Option<usize>, policy: Policy) -> QueueConfig {
    QueueConfig {
        packets,
        bytes,
        policy,
        ..QueueConfig::default()
    }
}

fn turns(bps: f64, ms: u64) -> Rate {
    let steady = RateSeries::steps(&[(Duration::ZERO, bps)]).unwrap();
    Rate::from(ScheduledSeries::new(steady, Duration::from_millis(ms)))
}

fn found(rate: Rate, queue: QueueConfig) -> Overflows {
    overflows(&mut link(rate, queue, 40), Side::Server)
}

#[test]
fn unit_size_and_policy_of_a_buffer_are_found() {
    let target = Duration::from_millis(800);
    let interval = Duration::from_millis(100);
    let codel = Policy::Codel { target, interval };
    let cases = [
        (
            queue(Some(600), None, Policy::DropTail),
            Unit::Packets,
            DropPolicy::Tail,
            600.0,
        ),
        (
            queue(None, Some(64_000), Policy::DropTail),
            Unit::Bytes,
            DropPolicy::Tail,
            64e3,
        ),
        (
            queue(Some(400), None, Policy::DropHead),
            Unit::Packets,
            DropPolicy::Head,
            400.0,
        ),
        (queue(None, None, codel), Unit::Time, DropPolicy::Aqm, 0.8),
    ];
    for (queue, unit, policy, size) in cases {
        for rate in [Rate::constant(2e6), turns(6e6, 10)] {
            let buffer = found(rate, queue).buffer.expect("an overflow");
            assert_eq!((buffer.unit, buffer.policy), (unit, policy));
            assert!((buffer.size / size - 1.0).abs() < 0.1, "{buffer:?}");
        }
    }
}

#[test]
fn a_link_that_loses_by_chance_and_never_overflows_has_no_buffer_to_be_told() {
    let train = TrainConfig {
        max_time: Duration::from_secs(4),
        max_bps: 5e6,
        ..overflow_train(0, 1420)
    };
    let mut link = link(
        Rate::constant(50e6),
        queue(Some(600), None, Policy::DropTail),
        40,
    );
    let observed = link.perform(&Experiment {
        trains: vec![(Side::Server, train)],
        ..Experiment::default()
    });
    assert!(observed.trains[0].len() > 500);
    assert!(!observed.overflowed[0]);
}

#[test]
fn bursts_have_their_interval_and_smooth_links_have_none() {
    let buffer = queue(Some(600), None, Policy::DropTail);
    for (ms, bps) in [(4, 7.2e6), (10, 3e6), (10, 0.5e6)] {
        let period = found(turns(bps, ms), buffer).period.expect("bursts");
        assert!((period.ms - ms as f64).abs() < 0.1, "{period:?}");
    }
    // At 1.136 Mbit/s a packet of 1420 bytes takes 10 ms.
    for rate in [
        Rate::constant(0.5e6),
        Rate::constant(1.136e6),
        Rate::constant(20e6),
        turns(12e6, 1),
    ] {
        assert_eq!(found(rate.clone(), buffer).period, None, "{rate:?}");
    }
}

#[test]
fn fifty_bursts_tell_the_rate_and_more_tell_it_better() {
    let buffer = queue(Some(600), None, Policy::DropTail);
    for rate in [turns(7.2e6, 10), Rate::constant(7.2e6)] {
        let found = found(rate, buffer);
        let busy = backlogged(&found.trains[0]);
        let summary = rate::summary(&busy).expect("bursts");
        assert!(
            (summary.median_bps / 7.2e6 - 1.0).abs() < 0.1,
            "{summary:?}"
        );
    }
    let found = found(turns(7.2e6, 10), buffer);
    let bursts = rate::accuracy(
        &tidegate_probe::analysis::bursts::split_or_packets(&backlogged(&found.trains[0])),
        &[2, 50],
    );
    assert!(bursts[1].error < bursts[0].error, "{bursts:?}");
}

#[test]
fn what_was_recorded_carries_what_the_link_did() {
    let found = found(turns(6e6, 4), queue(Some(600), None, Policy::DropTail));
    let text = mahimahi(&backlogged(&found.trains[0])).expect("a trace");
    let trace = tidegate_link::Trace::parse(&text).expect("Mahimahi's format");
    // A thousandth is lost by chance.
    assert!(
        (trace.mean_bps() / 6e6 - 1.0).abs() < 0.02,
        "{}",
        trace.mean_bps()
    );
}

#[test]
fn one_way_delays_need_no_clocks_that_agree() {
    let slow = config(
        Rate::constant(1e6),
        queue(Some(100), None, Policy::DropTail),
        60,
    );
    let fast = config(Rate::constant(20e6), QueueConfig::default(), 60);
    let mut link = Emulated::new(fast, slow, CLOCK, 3);
    let every = Some(Duration::from_millis(50));
    let idle = Experiment {
        ping_every: every,
        ping_for: Duration::from_secs(10),
        ..Experiment::default()
    };
    let upload = TrainConfig {
        pace: Pace::Busy,
        max_time: Duration::from_secs(30),
        ..overflow_train(0, 1420)
    };
    let before = link.perform(&idle).echoes;
    let beside = link.perform(&Experiment {
        trains: vec![(Side::Client, upload)],
        ping_every: every,
        ..Experiment::default()
    });
    let after = link.perform(&idle).echoes;
    let latency = loaded(&before, &beside.echoes).expect("answers");
    assert_eq!(latency.grade, Grade::F, "{latency:?}");
    let all = [before, beside.echoes, after].concat();
    let estimate = clock(&all).expect("answers");
    assert!((estimate.skew_ppm - 50.0).abs() < 5.0, "{estimate:?}");
    let longest = all
        .iter()
        .map(|e| estimate.one_way_s(e))
        .fold([0.0, 0.0], |most: [f64; 2], way| {
            [most[0].max(way[0]), most[1].max(way[1])]
        });
    assert!(longest[0] > 0.8 && longest[1] < 0.04, "{longest:?}");
    for echo in &all {
        let down =
            echo.heard.as_secs_f64() - CLOCK.ahead_s(echo.heard) - echo.answered.as_secs_f64();
        assert!(
            (estimate.one_way_s(echo)[1] - down).abs() < 2e-3,
            "{estimate:?}"
        );
    }
}
