//! A stepped run equals the run as a whole, and obeys the caller's actions.

mod common;

use common::{assert_near, scenario};
use std::path::Path;
use std::time::Duration;
use tidegate_scenario::{LinkInputs, RunResult, Scenario};
use tidegate_sim::{Manual, Options, Session, run_one};

const MS: Duration = Duration::from_millis(1);

fn read(text: &str) -> (Scenario, LinkInputs) {
    let path = Path::new("test.toml");
    let scenario = Scenario::parse(&format!("name = \"test\"\n{text}"), path).unwrap();
    let inputs = scenario.link_inputs(path).unwrap();
    (scenario, inputs)
}

fn session(text: &str) -> Session {
    let (scenario, inputs) = read(text);
    Session::new(&scenario, &inputs, &scenario.runs[0], &Options::default()).unwrap()
}

fn json(result: &RunResult) -> String {
    serde_json::to_string(result).unwrap()
}

/// A run with many features: laws, losses, a cell, pages, videos, pings, curves.
const MIXED: &str = r#"
duration_s = 12
warmup_s = 2
down = { rate = { generate = { kind = "lte" } }, delay_ms = 25, queue = { packets = 500 }, loss = { random = 0.0005 } }
up = { rate = { constant_mbps = 5 }, delay_ms = 25 }
run = [{ name = "linux" }, { name = "tide", law = "tide" }, { name = "bbr", congestion_control = "bbr" }]
workload = [
    { name = "bulk", does = { bulk = {} } },
    { name = "up", start_s = 3, does = { bulk = { direction = "up" } } },
    { name = "web", does = { web = { object_bytes = [3000, 200000], pause_s = 0.3 } } },
    { name = "video", does = { video = { mbps = 2 } } },
    { name = "ping", does = { ping = { interval_ms = 50 } } },
]
"#;

#[test]
fn stepped_and_whole_the_bytes_are_the_same() {
    let (scenario, inputs) = read(MIXED);
    for series in [false, true] {
        let options = Options {
            series,
            ..Options::default()
        };
        for run in &scenario.runs {
            let whole = run_one(&scenario, &inputs, run, &options).unwrap().unwrap();
            for step in [Duration::from_micros(700), 10 * MS, 333 * MS, 20_000 * MS] {
                let mut session = Session::new(&scenario, &inputs, run, &options).unwrap();
                while !session.is_over() {
                    session.advance(step);
                    // Observing changes nothing.
                    for number in 0..session.flows() {
                        session.flow(number).unwrap();
                    }
                    session.link(0).unwrap();
                    session.capacity_bytes(0, step);
                }
                assert_eq!(session.now(), session.duration());
                assert_eq!(
                    json(&session.finish()),
                    json(&whole),
                    "{}, {step:?}",
                    run.name
                );
            }
        }
    }
}

#[test]
fn what_is_seen_is_what_is_counted() {
    let mut session = session(&scenario(
        20.0,
        5.0,
        100,
        r#"{ name = "bulk", does = { bulk = {} } }"#,
    ));
    assert_eq!(session.flow_name(0), Some("bulk"));
    assert_eq!((session.flows(), session.links()), (1, 2));
    assert_eq!(session.flow(1), None);
    assert!(session.link(2).is_none());
    assert!(!session.flow(0).unwrap().established);
    session.advance(4_000 * MS);
    let (flow, link) = (session.flow(0).unwrap(), session.link(0).unwrap());
    assert!(flow.established);
    assert_eq!(flow.segment_bytes, 1448);
    assert!(flow.srtt.unwrap() > 40 * MS && flow.min_rtt.unwrap() >= 40 * MS);
    assert!(link.queued_packets <= 100 && link.queue_delay <= 65 * MS);
    assert_near(flow.received_bytes as f64 * 8.0, 18e6 * 4.0, 0.1);
    assert_near(session.capacity_bytes(0, 1_000 * MS) as f64, 2.5e6, 0.001);
    session.advance(10_000 * MS);
    let end = session.flow(0).unwrap();
    let result = session.finish();
    assert_eq!(result.flows[0].retransmits, end.retransmits);
    assert_near(
        result.flows[0].goodput_bps,
        end.received_bytes as f64 * 8.0 / 5.0,
        0.02,
    );
}

#[test]
fn a_window_that_is_asked_for_is_kept_and_given_back() {
    for direction in ["down", "up"] {
        let text = scenario(
            5.0,
            12.0,
            1000,
            &format!(r#"{{ name = "bulk", does = {{ bulk = {{ direction = "{direction}" }} }} }}"#),
        );
        let mut session = session(&text);
        assert!(!session.set_window(0, Some(30_000)), "nobody is connected");
        assert!(
            !session.set_window(1, Some(30_000)),
            "there is no such flow"
        );
        session.advance(1_000 * MS);
        assert!(session.set_window(0, Some(30_000)));
        session.advance(5_000 * MS);
        let flow = session.flow(0).unwrap();
        assert!(
            (20_000..=31_000).contains(&flow.window_bytes),
            "{direction}: {flow:?}"
        );
        let link = usize::from(direction == "up");
        assert!(
            session.link(link).unwrap().queued_packets < 25,
            "{direction}"
        );
        assert!(session.set_window(0, None));
        session.advance(5_000 * MS);
        assert!(
            session.flow(0).unwrap().window_bytes > 100_000,
            "{direction}"
        );
        assert!(
            session.link(link).unwrap().queued_packets > 100,
            "{direction}"
        );
    }
}

#[test]
fn a_law_gives_way_to_what_is_asked_for() {
    let text = scenario(
        20.0,
        10.0,
        1000,
        r#"{ name = "bulk", does = { bulk = {} } }"#,
    );
    let mut session = session(&text.replace(r#"name = "linux""#, r#"name = "tide", law = "tide""#));
    session.advance(4_000 * MS);
    session.set_window(0, Some(20_000));
    session.advance(4_000 * MS);
    assert!(session.flow(0).unwrap().window_bytes <= 20_480);
}

#[test]
fn a_sender_sends_at_the_rate_that_it_is_told() {
    for (mbps, lost) in [(8.0, false), (30.0, true)] {
        let mut session = session(&scenario(
            20.0,
            10.0,
            50,
            r#"{ name = "bulk", does = { bulk = {} } }"#,
        ));
        session.advance(500 * MS);
        let rate = (mbps * 1e6 / 8.0) as u64;
        let told = Manual {
            cwnd: None,
            pacing_rate: Some(rate),
        };
        assert!(session.set_sender(0, told));
        session.advance(2_000 * MS);
        let before = (session.link(0).unwrap(), session.flow(0).unwrap());
        session.advance(5_000 * MS);
        let after = (session.link(0).unwrap(), session.flow(0).unwrap());
        let arrived = (after.0.arrived_packets - before.0.arrived_packets) as f64 * 12_000.0 / 5.0;
        assert_near(arrived, mbps * 1e6, 0.06);
        assert_eq!(
            after.0.dropped_packets > before.0.dropped_packets,
            lost,
            "{mbps}"
        );
        let goodput = (after.1.received_bytes - before.1.received_bytes) as f64 * 8.0 / 5.0;
        assert_near(goodput, mbps.min(20.0) * 0.96e6, 0.06);
        assert_eq!(after.1.pacing_rate, Some(rate));
    }
}

#[test]
fn a_sender_keeps_the_window_that_it_is_told() {
    let mut session = session(&scenario(
        20.0,
        10.0,
        1000,
        r#"{ name = "bulk", does = { bulk = {} } }"#,
    ));
    session.advance(2_000 * MS);
    let told = Manual {
        cwnd: Some(20),
        pacing_rate: None,
    };
    assert!(session.set_sender(0, told));
    session.advance(3_000 * MS);
    let flow = session.flow(0).unwrap();
    assert_eq!(flow.cwnd_segments, 20);
    assert!(flow.in_flight_segments <= 20);
    assert!(session.link(0).unwrap().queued_packets == 0);
}

#[test]
fn the_same_actions_have_the_same_result() {
    let text = scenario(20.0, 6.0, 200, r#"{ name = "bulk", does = { bulk = {} } }"#);
    let play = || {
        let mut session = session(&text);
        for step in 0.. {
            if session.is_over() {
                break;
            }
            session.advance(10 * MS);
            session.set_window(0, Some(20_000 + step % 7 * 20_000));
        }
        json(&session.finish())
    };
    assert_eq!(play(), play());
}
