use super::{Options, run_scenario};
use std::path::Path;
use tidegate_scenario::Scenario;

/// The error for a scenario with that workload and run, and with `more`.
fn refusal(workload: &str, run: &str, more: &str) -> String {
    let text = format!(
        "name = 'x'
         duration_s = 1
         down = {{ rate = {{ constant_mbps = 1 }}, delay_ms = 1 }}
         up = {{ rate = {{ constant_mbps = 1 }}, delay_ms = 1 }}
         workload = [{{ name = 'w', {workload} }}]
         run = [{{ name = 'r', {run} }}]
         {more}"
    );
    let path = Path::new("x.toml");
    let scenario = Scenario::parse(&text, path).unwrap();
    let inputs = scenario.link_inputs(path).unwrap();
    let refused = run_scenario(&scenario, &inputs, &Options::default());
    format!("{:#}", refused.unwrap_err())
}

#[test]
fn what_only_the_simulator_has_is_refused_by_name() {
    for (workload, run, more, words) in [
        (
            "does = { page = { object_bytes = [1] } }",
            "",
            "",
            "\"w\" is a page",
        ),
        (
            "does = { video = { mbps = 1 } }",
            "",
            "",
            "\"w\" is a video",
        ),
        ("does = { datagrams = { mbps = 1 } }", "", "", "datagrams"),
        (
            "does = { flows = { arrivals = { poisson = { per_s = 1 } }, sizes = { constant = { bytes = 1 } } } }",
            "",
            "",
            "\"w\" is one of flows that arrive by themselves",
        ),
        (
            "does = { adaptive_video = { algorithm = 'bba' } }",
            "",
            "",
            "\"w\" is a video",
        ),
        (
            "does = { on_off = { mbps = 1, on = { constant = { s = 1 } }, off = { constant = { s = 1 } } } }",
            "",
            "",
            "\"w\" is a source that falls silent",
        ),
        (
            "does = { bulk = {} }, law = 'tide'",
            "",
            "",
            "\"w\" is steered by a law of its own",
        ),
        (
            "does = { bulk = {} }, flow_control = 'linux'",
            "",
            "",
            "flow control of its own",
        ),
        (
            "does = { bulk = {} }, timestamps = false",
            "",
            "",
            "told whether it uses timestamps",
        ),
        (
            "does = { bulk = {} }, ecn = 'classic'",
            "",
            "",
            "told which ECN it uses",
        ),
        (
            "does = { bulk = {} }, weight = 2",
            "",
            "",
            "\"w\" is weighted",
        ),
    ] {
        let refusal = refusal(workload, run, more);
        assert!(refusal.contains(words), "{refusal}");
        assert!(refusal.contains("only the simulator"), "{refusal}");
    }
}

#[test]
fn a_congestion_control_that_a_workloads_hosts_lack_is_refused() {
    let unknown = "does = { bulk = {} }, congestion_control = 'nonesuch'";
    let of_own = refusal(unknown, "own_tcp = ['server']", "");
    for words in ["\"w\"", "unknown congestion control \"nonesuch\""] {
        assert!(of_own.contains(words), "{of_own}");
    }
    // The kernel sends, and has none of ours.
    let ours = "does = { bulk = {} }, congestion_control = 'ledbat'";
    let opposite = refusal(ours, "own_tcp = ['client']", "");
    for words in ["\"w\"", "no congestion control \"ledbat\""] {
        assert!(opposite.contains(words), "{opposite}");
    }
    // The same of the run's, where the kernel sends.
    let upload = "does = { bulk = { direction = 'up' } }";
    let bulk = "does = { bulk = {} }";
    for (workload, own) in [(bulk, "client"), (upload, "server")] {
        let run = format!("congestion_control = 'ledbat', own_tcp = ['{own}']");
        let of_run = self::refusal(workload, &run, "");
        for words in ["\"w\"", "no congestion control \"ledbat\""] {
            assert!(of_run.contains(words), "{of_run}");
        }
    }
    let refusal = self::refusal(unknown, "", "");
    for words in ["\"w\"", "\"nonesuch\"", "it has"] {
        assert!(refusal.contains(words), "{refusal}");
    }
}

/// quinn has CUBIC, NewReno and BBR; workloads over TCP may have the kernel's others.
#[test]
fn quic_has_few_congestion_controls() {
    let refusal = refusal(
        "does = { bulk = {} }, windowless = true, congestion_control = 'vegas'",
        "",
        "",
    );
    for words in ["\"w\"", "QUIC", "\"vegas\"", "cubic, reno, bbr"] {
        assert!(refusal.contains(words), "{refusal}");
    }
}

/// Classic and adaptive flow control need our own TCP.
#[test]
fn a_fixed_window_needs_tcp_of_our_own() {
    let refusal = refusal("does = { bulk = {} }", "window = 9000", "");
    assert!(refusal.contains("\"r\" has a fixed window"), "{refusal}");
    assert!(refusal.contains("own_tcp"), "{refusal}");
}

/// The kernel's network carries mPath, MPTCP and QUIC.
#[test]
fn tcp_of_our_own_has_no_kernel_beside_it() {
    let way = "[{ name = 'other', links = ['down'] }]";
    for workload in [
        format!("does = {{ mpath = {{ proxies = {way} }} }}"),
        format!("does = {{ mptcp = {{ paths = {way} }} }}"),
        "windowless = true, does = { bulk = {} }".into(),
    ] {
        let refusal = refusal(&workload, "own_tcp = ['server']", "");
        assert!(refusal.contains("needs the kernel's network"), "{refusal}");
    }
}

/// Each connection has threads and sockets, and a process cannot have 100,000 of them; the simulator can.
#[test]
fn more_connections_than_sockets_are_refused() {
    let refusal = refusal("does = { bulk = { flows = 301 } }", "", "");
    let expected = "301 connections, expected 300 at most";
    assert!(refusal.contains(expected), "{refusal}");
}
