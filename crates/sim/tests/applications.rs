//! Applications against their expected behaviour.

mod common;

use common::{assert_near, flow, run, scenario, try_run};
use tidegate_scenario::Direction;

/// Round trip of 20 Mbit/s down, 5 up and 20 ms each way, for small packets.
const RTT_MS: f64 = 40.1;

/// Milliseconds that a payload of `bytes` takes at 20 Mbit/s.
fn transmission_ms(bytes: f64) -> f64 {
    bytes / 1448.0 * 1500.0 * 8.0 / 20e3
}

#[test]
fn an_object_takes_the_round_trips_of_slow_start() {
    let sizes = [1000, 14_000, 40_000, 100_000];
    let does = format!(
        "{{ name = 'web', does = {{ web = {{ object_bytes = {sizes:?}, pause_s = 0.5 }} }} }}"
    );
    let run = run(&scenario(20.0, 30.0, 1000, &does));
    // Handshake and request, and one more round trip each time that 10 or 30 segments are not enough.
    for (bytes, round_trips) in [(1000, 2), (14_000, 2), (40_000, 3), (100_000, 4)] {
        let fetch = run.fetches.iter().find(|f| f.bytes == bytes).unwrap();
        assert!(fetch.count > 8, "{fetch:?}");
        let least = f64::from(round_trips) * RTT_MS;
        let most = least + transmission_ms(bytes as f64) + 2.0;
        assert!(
            (least..most).contains(&fetch.time_ms.p50),
            "{bytes} bytes: {:?}, expected {least} to {most}",
            fetch.time_ms
        );
    }
    assert!(run.flows.is_empty());
}

/// At once, one after the other, overlapping, and with a pause between them.
#[test]
fn flows_together_bring_no_more_than_the_link_carries() {
    for terms in [
        [(0, 12), (0, 12), (0, 12)],
        [(0, 4), (4, 8), (8, 12)],
        [(0, 9), (3, 6), (5, 12)],
        [(0, 2), (7, 10), (9, 12)],
    ] {
        let flow = |(n, (start, stop)): (usize, &(u32, u32))| {
            format!(
                "{{ name = '{n}', start_s = {start}, stop_s = {stop}, does = {{ bulk = {{}} }} }}"
            )
        };
        let flows: Vec<String> = terms.iter().enumerate().map(flow).collect();
        let run = run(&scenario(20.0, 12.0, 100, &flows.join(", ")));
        let mbps = run.goodput_bps(Direction::Down).unwrap() / 1e6;
        let payload = 20.0 * 1448.0 / 1500.0;
        // Slow start and the pauses of senders cost a flow of two seconds more than a long one.
        assert!(mbps > 0.8 * payload && mbps <= payload, "{terms:?}: {mbps}");
        let met = terms.iter().map(|t| t.0).max() < terms.iter().map(|t| t.1).min();
        assert_eq!(run.flows_met(Direction::Down), met, "{terms:?}");
    }
}

#[test]
fn a_page_is_faster_over_more_connections() {
    let page = |connections: u32| {
        let does = format!(
            "{{ name = 'page', does = {{ page = {{ object_bytes = [10000, {}], connections = {connections}, \
             pause_s = 1 }} }} }}",
            ["5000"; 24].join(", ")
        );
        let run = run(&scenario(20.0, 60.0, 1000, &does));
        assert_eq!(run.fetches.len(), 1);
        assert_eq!(run.fetches[0].bytes, 10_000 + 24 * 5000);
        run.fetches[0].time_ms.p50
    };
    let [one, six] = [1, 6].map(page);
    // The first object takes two round trips, and so does the first on each further connection; every
    // other takes one.
    assert!((26.0 * RTT_MS..29.0 * RTT_MS).contains(&one), "{one}");
    assert!((7.0 * RTT_MS..9.0 * RTT_MS).contains(&six), "{six}");
}

/// Each request is one packet up, headers of 52 bytes included.
#[test]
fn a_pages_requests_have_a_size() {
    let uplink_bytes = |request: u32| {
        let does = format!(
            "{{ name = 'page', does = {{ page = {{ object_bytes = [1000, 1000, 1000], connections = 1, \
             request_bytes = {request}, pause_s = 100 }} }} }}"
        );
        let run = run(&scenario(20.0, 10.0, 1000, &does));
        assert_eq!(run.fetches[0].count, 1);
        (run.uplink.delivered_bps * 10.0 / 8.0).round()
    };
    assert_eq!(uplink_bytes(716) - uplink_bytes(16), 3.0 * 700.0);
}

/// Vegas keeps the queue short, CUBIC fills it.
#[test]
fn a_workload_may_have_a_congestion_control_of_its_own() {
    let queued_ms = |own: &str| {
        let does = format!("{{ name = 'download', does = {{ bulk = {{}} }}{own} }}");
        run(&scenario(20.0, 20.0, 1000, &does))
            .link
            .queue_delay_ms
            .p50
    };
    let [cubic, vegas] = ["", ", congestion_control = 'vegas'"].map(queued_ms);
    assert!(vegas * 10.0 < cubic, "{vegas}, {cubic}");
    let unknown = "{ name = 'download', does = { bulk = {} }, congestion_control = 'none' }";
    let refused = try_run(&scenario(20.0, 1.0, 1000, unknown), false).unwrap_err();
    assert!(format!("{refused:#}").contains("\"none\""), "{refused:#}");
}

#[test]
fn a_source_of_constant_rate_is_heard_at_its_rate() {
    let does = "{ name = 'call', does = { constant_rate = { mbps = 2 } } },
                { name = 'up', does = { constant_rate = { mbps = 1, direction = 'up' } } }";
    let run = run(&(scenario(20.0, 20.0, 1000, does) + "warmup_s = 2\n"));
    assert_near(flow(&run, "call").goodput_bps, 2e6, 0.002);
    assert_near(flow(&run, "up").goodput_bps, 1e6, 0.005);
    // A segment now and then finds the link idle.
    assert!(run.link.queue_delay_ms.p50 < 0.1, "{:?}", run.link);
}

#[test]
fn chunks_arrive_whole_and_in_time() {
    let does = "{ name = 'video', does = { chunks = { chunk_bytes = 500000, period_s = 1 } } }";
    let run = run(&(scenario(20.0, 20.5, 1000, does) + "warmup_s = 4.5\n"));
    let fetch = &run.fetches[0];
    assert_eq!((fetch.bytes, fetch.count), (500_000, 16));
    let least = 20.0 + transmission_ms(500_000.0);
    assert!(
        (least..least + 200.0).contains(&fetch.time_ms.p50),
        "{fetch:?}"
    );
}

#[test]
fn a_bulk_transfer_of_some_bytes_completes() {
    let does = "{ name = 'file', does = { bulk = { bytes = 2000000 } } },
                { name = 'upload', start_s = 5, does = { bulk = { bytes = 500000, direction = 'up' } } }";
    let run = run(&scenario(20.0, 20.0, 1000, does));
    for (name, bytes, mbps) in [("file", 2e6, 20.0), ("upload", 5e5, 5.0)] {
        let took = flow(&run, name).completion_s.unwrap();
        let least = bytes / 1448.0 * 1500.0 * 8.0 / mbps / 1e6;
        assert!(
            (least..least + 0.5).contains(&took),
            "{name}: {took} s, least {least} s"
        );
        assert_near(flow(&run, name).goodput_bps, bytes * 8.0 / took, 1e-6);
    }
}

#[test]
fn a_slow_reader_sets_the_pace() {
    for (reads, mbps) in [
        ("{ constant = { mbps = 3 } }", 3.0),
        ("{ on_off = { mbps = 6, on_s = 1, off_s = 1 } }", 3.0),
        (
            "{ sinusoid = { mean_mbps = 4, swing_mbps = 4, period_s = 2 } }",
            4.0,
        ),
    ] {
        let does = format!("{{ name = 'reader', does = {{ reader = {{ reads = {reads} }} }} }}");
        let text = scenario(20.0, 30.0, 1000, &does) + "warmup_s = 10\n";
        let run = run(&text.replace("name = \"linux\"", "name = \"small\", rmem_max = 500000"));
        assert_near(flow(&run, "reader").goodput_bps, mbps * 1e6, 0.02);
        assert_eq!(flow(&run, "reader").retransmits, 0, "{reads}");
    }
}

#[test]
fn a_video_plays_if_the_link_is_faster_and_stalls_if_it_is_not() {
    let does = "{ name = 'video', does = { video = { mbps = 4, chunk_s = 2, buffer_s = 20, startup_s = 4 } } }";
    let fast = run(&scenario(20.0, 100.0, 1000, does));
    let video = &fast.videos[0];
    assert_eq!((video.stalls, video.stalled_s), (0, 0.0));
    // Two chunks of 8 Mbit at 20 Mbit/s, and slow start.
    assert!((0.8..1.5).contains(&video.startup_s.unwrap()), "{video:?}");
    assert_near(video.played_s, 100.0 - video.startup_s.unwrap(), 1e-6);
    // It never runs further ahead than its buffer: 4 Mbit/s, and the buffer filled once.
    assert_near(flow(&fast, "video").goodput_bps, 4e6 * 1.2, 0.05);
    let slow = run(&scenario(3.0, 100.0, 1000, does));
    let video = &slow.videos[0];
    assert!(video.stalls > 3, "{video:?}");
    assert_near(video.played_s, 100.0 * 3.0 / 4.0 * 1448.0 / 1500.0, 0.07);
    let all = video.played_s + video.stalled_s + video.startup_s.unwrap();
    assert_near(all, 100.0, 1e-6);
}

#[test]
fn a_term_ends_when_it_says() {
    let does = "{ name = 'first', stop_s = 10, does = { bulk = {} } },
                { name = 'second', start_s = 10, does = { bulk = {} } }";
    let run = run(&scenario(20.0, 20.0, 100, does));
    for name in ["first", "second"] {
        let goodput = flow(&run, name).goodput_bps;
        assert!(
            goodput > 15e6 && flow(&run, name).completion_s.is_none(),
            "{name}: {goodput}"
        );
    }
}

/// Foreground before background: with a weight of 4 it has four times the other's share.
#[test]
fn a_weighted_download_has_so_many_times_the_others_share() {
    let workloads = "{ name = 'front', weight = 4, does = { bulk = {} } },
                     { name = 'back', does = { bulk = {} } }";
    let text = scenario(20.0, 20.0, 1000, workloads).replace("\"linux\"", "'r', law = 'tide'");
    let run = try_run(&text, false).unwrap().runs.remove(0);
    let [front, back] = ["front", "back"].map(|name| flow(&run, name).goodput_bps);
    assert!((3.5..4.5).contains(&(front / back)), "{front} and {back}");
    assert!(run.link.utilisation > 0.97 && run.link.queue_delay_ms.mean < 10.0);
}

/// The law sees the client's own flow, but not the flow of another host behind the same link.
#[test]
fn what_is_not_steered_is_as_without_a_law() {
    let workloads = |ours: bool| {
        format!(
            "{{ name = 'ours', steered = {ours}, does = {{ bulk = {{}} }} }},
             {{ name = 'other', steered = false, start_s = 2, does = {{ bulk = {{}} }} }}"
        )
    };
    let run = |law: &str, ours: bool| {
        let text = scenario(20.0, 20.0, 1000, &workloads(ours));
        let text = text.replace("\"linux\"", &format!("'r', law = '{law}'"));
        try_run(&text, true).unwrap().runs.remove(0)
    };
    let untouched = run("none", true);
    let blind = run("tide", false);
    assert_eq!(
        untouched.link.queue_delay_ms.mean,
        blind.link.queue_delay_ms.mean
    );
    assert_eq!(
        flow(&untouched, "ours").goodput_bps,
        flow(&blind, "ours").goodput_bps
    );
    let steered = run("tide", true);
    let seen = steered
        .series
        .iter()
        .filter(|s| s.quantity == "agent_rtt_ms");
    assert_eq!(seen.map(|s| s.flow.as_str()).collect::<Vec<_>>(), ["ours"]);
}
