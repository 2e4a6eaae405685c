//! Throughput against closed forms.

mod common;

use common::{assert_near, flow, run, scenario, try_run};

const BULK: &str = "{ name = 'bulk', does = { bulk = {} } }";

/// Payload of a full segment with timestamps, and the IP packet that carries it.
const MSS: f64 = 1448.0;
const PACKET: f64 = 1500.0;

/// 20 ms each way, a data packet at 20 Mbit/s, an ACK of 52 bytes at 5 Mbit/s.
const RTT_S: f64 = 0.040 + PACKET * 8.0 / 20e6 + 52.0 * 8.0 / 5e6;

/// A download over 20 Mbit/s with a fixed window of `segments`.
fn fixed_window(segments: u32) -> tidegate_scenario::RunResult {
    let text = scenario(20.0, 20.0, 1000, BULK) + "warmup_s = 5\n";
    let window = f64::from(segments) * MSS;
    run(&text.replace(
        "name = \"linux\"",
        &format!("name = \"fixed\", window = {window}"),
    ))
}

#[test]
fn below_the_pipe_throughput_is_a_window_a_round_trip() {
    for segments in [4, 16, 32, 48] {
        let run = fixed_window(segments);
        // Each first segment of a pair waits for the second one before it is acknowledged.
        let round_trip = RTT_S + PACKET * 8.0 / 20e6;
        let expected = f64::from(segments) * MSS * 8.0 / round_trip;
        assert_near(flow(&run, "bulk").goodput_bps, expected, 1e-3);
        assert_near(flow(&run, "bulk").rtt_ms.p50, round_trip * 1e3, 1e-3);
        assert_eq!(run.link.queue_delay_ms.max, PACKET * 8.0 / 20e3);
    }
}

#[test]
fn a_window_of_the_pipe_fills_it_and_what_is_more_stands_in_the_queue() {
    // 67.8 segments are the pipe; an ACK for two lets one more wait.
    for (segments, queued) in [(70, 2.0), (100, 32.0), (200, 132.0)] {
        let run = fixed_window(segments);
        assert_near(run.link.utilisation, 1.0, 1e-3);
        assert_near(flow(&run, "bulk").goodput_bps, 20e6 * MSS / PACKET, 1e-3);
        let packets = run.link.queue_delay_ms.mean / (PACKET * 8.0 / 20e3);
        assert!(
            (packets - queued).abs() < 1.5,
            "{segments} segments: {packets} queued"
        );
        assert_eq!(run.link.drops, 0);
    }
}

#[test]
fn no_sender_gets_more_than_the_link_has() {
    for sender in ["reno", "cubic", "bbr"] {
        for (mbps, packets) in [(1.0, 20), (20.0, 50), (100.0, 1000)] {
            let text = scenario(mbps, 10.0, packets, BULK)
                + &format!("hosts = {{ congestion_control = '{sender}' }}\n");
            let run = run(&text);
            let most = mbps * 1e6;
            assert!(run.link.delivered_bps <= most * 1.0001, "{sender}: {run:?}");
            let goodput = flow(&run, "bulk").goodput_bps;
            assert!(goodput <= most * MSS / PACKET, "{sender}: {goodput}");
            assert!(goodput > most * 0.5, "{sender}: {goodput} of {most}");
        }
    }
}

#[test]
fn equal_flows_get_equal_shares() {
    for sender in ["reno", "cubic"] {
        let workload = "{ name = 'bulk', does = { bulk = { flows = 2 } } }";
        let text = scenario(20.0, 200.0, 70, workload)
            + &format!("warmup_s = 20\nhosts = {{ congestion_control = '{sender}' }}\n");
        let run = run(&text);
        let [a, b] = [1, 2].map(|n| flow(&run, &format!("bulk#{n}")).goodput_bps);
        let jain = (a + b) * (a + b) / (2.0 * (a * a + b * b));
        assert!(jain > 0.95, "{sender}: {a} and {b}, Jain's index {jain}");
        assert_near(a + b, 20e6 * MSS / PACKET, 0.03);
    }
}

#[test]
fn what_the_queue_drops_is_sent_again_once() {
    let run = run(&scenario(20.0, 60.0, 100, BULK));
    let retransmits = flow(&run, "bulk").retransmits;
    assert!(run.link.drops > 20);
    // A few can be in flight at the end.
    assert!(
        retransmits.abs_diff(run.link.drops) <= 3,
        "{retransmits} for {} drops",
        run.link.drops
    );
}

/// Eight segments: at once from a window of ten, in two round trips from one of three. The connection
/// and the request take one each before.
#[test]
fn the_initial_window_decides_how_many_round_trips_a_fetch_takes() {
    let object = 8 * 1448;
    let web = format!(
        "{{ name = 'web', does = {{ web = {{ object_bytes = [{object}], pause_s = 0.5 }} }} }}"
    );
    for (segments, round_trips) in [(10, 2.0), (3, 3.0)] {
        let hosts = format!("hosts = {{ initial_window = {segments} }}\n");
        let run = run(&(scenario(1000.0, 10.0, 1000, &web) + &hosts));
        // A request and ACKs at 5 Mbit/s take a fraction of a millisecond.
        assert_near(run.fetches[0].time_ms.p50, round_trips * 40.0, 0.03);
    }
}

/// On a constant link both see every packet that waits longer than the rest.
#[test]
fn the_law_and_the_sender_see_the_same_round_trip() {
    let text = scenario(20.0, 20.0, 1000, BULK).replace("\"linux\"", "\"drwa\", law = \"drwa\"");
    let set = try_run(&text, true).unwrap();
    let settled = |quantity: &str| {
        let mut curves = set.runs[0].series.iter();
        let curve = curves.find(|s| s.quantity == quantity).expect(quantity);
        curve.value[50..].to_vec()
    };
    let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let law = mean(settled("agent_rtt_ms"));
    assert_near(law, mean(settled("rtt_ms")), 0.02);
    // DRWA holds the round trip at three times that of the empty path.
    assert_near(law, 3.0 * RTT_S * 1e3, 0.05);
    assert_eq!(settled("timeouts").last(), Some(&0.0));
}
