//! Traffic without TCP, for which the links' effect is known exactly.

mod common;

use common::{assert_near, flow, run, scenario, try_run};

/// An interval out of step with everything else.
const PING: &str = "{ name = 'ping', does = { ping = { interval_ms = 9.87 } } }";

#[test]
fn an_idle_link_costs_propagation_and_transmission() {
    let run = run(&scenario(20.0, 10.0, 100, PING));
    let rtt = flow(&run, "ping").rtt_ms;
    // 84 bytes at 20 and at 5 Mbit/s.
    let expected = 40.0 + 84.0 * 8.0 / 20e3 + 84.0 * 8.0 / 5e3;
    for ms in [rtt.mean, rtt.p50, rtt.p99, rtt.max] {
        assert_near(ms, expected, 1e-3);
    }
    assert_eq!(run.link.queue_delay_ms.max, 0.0);
}

#[test]
fn an_overload_is_cut_to_the_capacity_and_fills_the_queue() {
    let flood = "{ name = 'flood', does = { datagrams = { mbps = 30, packet_bytes = 1500 } } }";
    let text = scenario(20.0, 20.0, 100, &format!("{flood}, {PING}")) + "warmup_s = 2\n";
    let run = run(&text);
    assert_near(run.link.delivered_bps, 20e6, 1e-3);
    let ping = flow(&run, "ping").rtt_ms;
    // A hundred packets of 0.6 ms wait before each one that is admitted; a few of these are pings.
    let queue = run.link.queue_delay_ms;
    assert_near(queue.p50, 100.0 * 0.6, 0.05);
    assert_near(ping.p50, 40.0 + queue.p50, 0.02);
    // The rest of the link after the pings, without 28 bytes of headers in each 1500.
    assert_near(
        flow(&run, "flood").goodput_bps,
        20e6 * 1472.0 / 1500.0,
        0.005,
    );
}

#[test]
fn cross_traffic_may_take_a_part_of_the_way() {
    let hops = "
        [[hop]]
        name = 'core'
        link = { rate = { constant_mbps = 50 }, delay_ms = 5, queue = { packets = 10 } }
        [[hop]]
        name = 'home'
        side = 'client'
        link = { rate = { constant_mbps = 100 }, delay_ms = 1 }";
    let workloads = "
        { name = 'ping', does = { ping = { interval_ms = 10 } } },
        { name = 'cross', links = ['core'], does = { datagrams = { mbps = 40 } } }";
    let run = run(&(scenario(20.0, 10.0, 100, workloads) + hops));
    assert_near(
        flow(&run, "cross").goodput_bps,
        40e6 * 1172.0 / 1200.0,
        0.005,
    );
    let [core, home] = &run.hops[..] else {
        panic!("{:?}", run.hops)
    };
    assert_eq!((core.name.as_str(), home.name.as_str()), ("core", "home"));
    assert!(core.link.delivered_bps > 40e6 && home.link.delivered_bps < 0.1e6);
    assert!(run.link.delivered_bps < 0.1e6);
    // Three links down, one up; the echo waits for one packet of the cross traffic at most.
    let rtt = flow(&run, "ping").rtt_ms;
    let idle = 46.0 + 84.0 * 8.0 * (1.0 / 20e3 + 1.0 / 5e3 + 1.0 / 50e3 + 1.0 / 100e3);
    assert!(rtt.p50 >= idle - 0.01 && rtt.max <= idle + 0.2, "{rtt:?}");
}

#[test]
fn a_workload_needs_a_link_each_way() {
    let workload = "{ name = 'there', links = ['down'], does = { ping = { interval_ms = 10 } } }";
    let error = try_run(&scenario(20.0, 1.0, 10, workload), false).unwrap_err();
    let error = format!("{error:#}");
    assert!(
        error.contains("\"there\": it crosses no link up"),
        "{error}"
    );
}

#[test]
fn losses_are_those_of_the_link() {
    let flood = "{ name = 'flood', does = { datagrams = { mbps = 10 } } }";
    let text = scenario(20.0, 100.0, 100, flood).replace(
        "queue = { packets = 100 }",
        "loss = { random = 0.05 }, queue = { packets = 100 }",
    );
    let run = run(&text);
    let sent: f64 = 10e6 * 100.0 / 9600.0;
    // Five standard deviations of a binomial distribution.
    let spread = 5.0 * (sent * 0.05 * 0.95).sqrt() / (sent * 0.05);
    assert_near(run.link.losses as f64, sent * 0.05, spread);
    assert_eq!(run.link.drops, 0);
}

#[test]
fn a_command_is_refused() {
    let text = scenario(
        20.0,
        1.0,
        10,
        "{ name = 'iperf', does = { command = { run = ['iperf3'] } } }",
    );
    let error = format!("{:#}", try_run(&text, false).unwrap_err());
    assert!(
        error.contains("iperf") && error.contains("only the laboratory"),
        "{error}"
    );
}
