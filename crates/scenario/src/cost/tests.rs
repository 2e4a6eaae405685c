use crate::Scenario;
use std::path::Path;

/// What is said of a run of that many seconds over 100/20 Mbit/s with that workload.
fn said(duration_s: f64, down: &str, does: &str) -> Result<(), String> {
    let text = format!(
        "name = \"cost\"\nduration_s = {duration_s}\n[down]\n{down}\n[up]\nrate = {{ constant_mbps = 20 }}\ndelay_ms = 20\n\
         [[workload]]\nname = \"load\"\ndoes = {{ {does} }}\n[[run]]\nname = \"linux\"\n"
    );
    let scenario = Scenario::parse(&text, Path::new("c.toml"));
    scenario.map(drop).map_err(|error| error.to_string())
}

const DOWN: &str = "rate = { constant_mbps = 100 }\ndelay_ms = 20\nqueue = { packets = 2000 }";

#[test]
fn what_people_run_is_let_through() {
    for (duration_s, down, does) in [
        (60.0, DOWN, "bulk = { flows = 10000 }"),
        (86_400.0, DOWN, "bulk = {}"),
        (
            60.0,
            "rate = { constant_mbps = 10000 }\ndelay_ms = 20\nqueue = { packets = 20000 }",
            "bulk = { flows = 100 }",
        ),
        (
            3600.0,
            "rate = { constant_mbps = 1000 }\ndelay_ms = 300\nqueue = { packets = 100000 }",
            "bulk = { flows = 1000 }",
        ),
        (86_400.0, DOWN, "ping = { interval_ms = 1 }"),
        (86_400.0, DOWN, "web = { object_bytes = [1000] }"),
        (
            3600.0,
            "rate = { trace = \"ride.down\" }\ndelay_ms = 20",
            "bulk = {}",
        ),
        (
            3600.0,
            "rate = { constant_mbps = 50 }\ndelay_ms = 20\ncell = { users = 20, load_mbps = 4 }",
            "bulk = {}",
        ),
    ] {
        assert_eq!(
            said(duration_s, down, does),
            Ok(()),
            "{duration_s} s of {does}"
        );
    }
}

#[test]
fn what_nobody_waits_for_is_refused_with_its_line() {
    for (duration_s, down, does, complaint) in [
        (
            1e6,
            DOWN,
            "ping = { interval_ms = 0.01 }",
            "c.toml:12: workload \"load\": up to 2e11 packets in a run of 1000000 s with those of the other workloads, expected 1e11 at \
             most: a day's computing",
        ),
        (
            3600.0,
            DOWN,
            "datagrams = { mbps = 100000, packet_bytes = 29 }",
            "packets in a run of 3600 s",
        ),
        (
            60.0,
            "rate = { constant_mbps = 100 }\ndelay_ms = 60000\nqueue = { policy = \"codel\" }",
            "datagrams = { mbps = 100000 }",
            "packets wait or are on their way at once",
        ),
        (
            1e6,
            "rate = { constant_mbps = 50 }\ndelay_ms = 20\ncell = { users = 1000, load_mbps = 4, tti_ms = 0.1 }",
            "bulk = {}",
            "c.toml:2: in duration_s = 1000000 the other users of cells take 1e12 turns",
        ),
        (
            60.0,
            "rate = { constant_mbps = 100 }\ndelay_ms = 20\ndisorder = { duplicate = 1 }",
            "datagrams = { mbps = 100000, packet_bytes = 29 }",
            "packets wait",
        ),
    ] {
        let refusal = said(duration_s, down, does).expect_err(does);
        assert!(refusal.contains(complaint), "{refusal}");
    }
    // Each is allowed, all of them are not.
    let two = "bulk = { flows = 60000 } }\n[[workload]]\nname = \"other\"\ndoes = { bulk = { flows = 60000 }";
    let refusal = said(1.0, DOWN, two).unwrap_err();
    assert!(
        refusal.contains(
            "120000 connections with those of the other workloads, expected 100000 at most"
        ),
        "{refusal}"
    );
}
