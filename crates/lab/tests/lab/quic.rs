//! Workloads without a window are carried by QUIC: with the same throughput as by TCP, and with the same checks.

use crate::common::{assert_on_schedule, flow, laboratory, lte, points, run};
use tidegate_lab::Options;

#[test]
fn a_download_by_quic_fills_the_link_and_one_that_is_turned_away_comes_by_tcp() {
    let Some(_turn) = laboratory() else { return };
    let text = "duration_s = 7
         warmup_s = 3
         down = { rate = { constant_mbps = 20 }, delay_ms = 20, queue = { packets = 250 } }
         up = { rate = { constant_mbps = 5 }, delay_ms = 20 }
         workload = [{ name = 'bulk', windowless = true, does = { bulk = {} } }]
         run = [{ name = 'quic' }, { name = 'tcp', udp = 'fallback' }]";
    let options = Options {
        series: true,
        ..Options::default()
    };
    let runs = run(text, &options).runs;
    for result in &runs {
        let bulk = flow(result, "bulk");
        let share = bulk.goodput_bps / 20e6;
        // Data that waited for a retransmission at the end of the warm-up count, too: 250 packets are 3 % of 4 s.
        assert!((0.90..1.0).contains(&share), "{share}");
        assert!((0.97..1.001).contains(&result.link.utilisation));
        // The buffer takes 150 ms.
        let queue = result.link.queue_delay_ms;
        assert!((75.0..151.0).contains(&queue.p95), "{queue:?}");
        // The connection's own round trips are the link's: its base RTT and its queue.
        let (own, link) = (bulk.rtt_ms.p50 - 40.0, queue.p50);
        assert!((0.8..1.25).contains(&(own / link)), "{own} and {link} ms");
        assert_eq!(result.health.plumbing_losses, 0);
        for quantity in ["rtt_ms", "cwnd_packets", "goodput_bps"] {
            assert!(points(result, quantity) > 40, "{quantity} in {result:#?}");
        }
    }
    // Only TCP tells a window.
    assert_eq!(points(&runs[0], "window_bytes"), 0);
    assert!(points(&runs[1], "window_bytes") > 40);
}

#[test]
fn an_upload_by_quic_arrives_whole_and_ends() {
    let Some(_turn) = laboratory() else { return };
    let text = lte("duration_s = 5
         workload = [{ name = 'file', start_s = 0.5, windowless = true, does = { bulk = { direction = 'up', bytes = 1_000_000, flows = 2 } } }]
         run = [{ name = 'linux' }]");
    let result = run(&text, &Options::default()).runs.remove(0);
    for name in ["file#1", "file#2"] {
        // 3.3 s at 5 Mbit/s for both, and at least a round trip before the first byte.
        let completion = flow(&result, name).completion_s.expect("it ended");
        assert!((1.7..4.2).contains(&completion), "{completion} s");
    }
}

#[test]
fn objects_by_quic_take_a_round_trip_to_connect_and_one_to_ask() {
    let Some(_turn) = laboratory() else { return };
    // 120 ms: a busy machine's time for a handshake is short compared to it.
    let text = "duration_s = 6
         down = { rate = { constant_mbps = 20 }, delay_ms = 60 }
         up = { rate = { constant_mbps = 5 }, delay_ms = 60 }
         workload = [{ name = 'web', windowless = true, does = { web = { object_bytes = [8_000], pause_s = 0.05 } } }]
         run = [{ name = 'linux' }]";
    let result = run(text, &Options::default()).runs.remove(0);
    let fetch = &result.fetches[0];
    assert!(fetch.count >= 10, "{fetch:?}");
    assert!((240.0..330.0).contains(&fetch.time_ms.p50), "{fetch:?}");
}

/// Seven packets: they leave at once with a window of ten, and a round trip later with one of three, which quinn paces.
#[test]
fn the_initial_window_is_the_scenarios_for_quic_too() {
    let Some(_turn) = laboratory() else { return };
    let text = lte("duration_s = 4
         hosts = { initial_window = 3 }
         workload = [{ name = 'web', windowless = true, does = { web = { object_bytes = [8_000], pause_s = 0.05 } } }]
         run = [{ name = 'cubic' }, { name = 'reno', congestion_control = 'reno' }]");
    for result in run(&text, &Options::default()).runs {
        let fetch = &result.fetches[0];
        assert!((120.0..300.0).contains(&fetch.time_ms.p50), "{fetch:?}");
    }
}

/// A pause in one workload, and the early stop of another, do not end the rest.
#[test]
fn chunks_by_quic_keep_to_their_schedule_beside_a_download_that_stops() {
    let Some(_turn) = laboratory() else { return };
    let text = lte("duration_s = 5
         workload = [
           { name = 'video', windowless = true, does = { chunks = { chunk_bytes = 50_000, period_s = 0.5 } } },
           { name = 'call', windowless = true, does = { constant_rate = { direction = 'up', mbps = 1 } } },
           { name = 'short', stop_s = 1, windowless = true, congestion_control = 'bbr', does = { bulk = {} } },
         ]
         run = [{ name = 'linux' }]");
    let result = run(&text, &Options::default()).runs.remove(0);
    assert_on_schedule(&result);
    assert!(flow(&result, "short").goodput_bps > 1e6, "{result:#?}");
}
