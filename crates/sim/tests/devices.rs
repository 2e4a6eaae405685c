//! Fairness by device: each device's share, however many downloads or uploads it runs.

mod common;

use common::try_run;
use tidegate_scenario::RunResult;

/// The devices' flows, all in that direction, over a link with that rate at that base RTT; and the times at which
/// devices stop.
fn share(
    fair: &str,
    direction: &str,
    rate: &str,
    rtt_ms: u32,
    flows: &[(u32, Option<u32>)],
) -> RunResult {
    let one_way_ms = f64::from(rtt_ms) / 2.0;
    let workloads: Vec<_> = (0..)
        .zip(flows)
        .map(|(number, (flows, stop_s))| {
            let stop = stop_s.map_or(String::new(), |s| format!("stop_s = {s}, "));
            format!("{{ name = 'd{number}', device = 'd{number}', {stop}does = {{ bulk = {{ flows = {flows}, direction = '{direction}' }} }} }}")
        })
        .collect();
    let link =
        format!("{{ rate = {{ {rate} }}, delay_ms = {one_way_ms}, queue = {{ packets = 4000 }} }}");
    let text = format!(
        "duration_s = 60
         warmup_s = 20
         down = {link}
         up = {link}
         workload = [{}]
         run = [{{ name = 'tide', law = 'tide', fair = '{fair}' }}]",
        workloads.join(", ")
    );
    try_run(&text, false).expect("it runs").runs.remove(0)
}

/// Goodput of each device: the sum over its flows.
fn goodput(run: &RunResult, devices: usize) -> Vec<f64> {
    let of = |device: usize| {
        let name = format!("d{device}");
        let flows = run.flows.iter();
        let mine = flows.filter(|f| f.name.split('#').next() == Some(&name));
        mine.map(|f| f.goodput_bps).sum()
    };
    (0..devices).map(of).collect()
}

/// Jain's index of fairness.
fn jain(of: &[f64]) -> f64 {
    let sum: f64 = of.iter().sum();
    sum * sum / (of.len() as f64 * of.iter().map(|x| x * x).sum::<f64>())
}

/// Both kinds of fairness among four devices: Jain's index, queue, and use of the link that they share.
struct Shared {
    jain: f64,
    used: f64,
    queue_ms: f64,
}

fn compare(direction: &str, rate: &str, rtt_ms: u32) -> [Shared; 2] {
    let flows = [(1, None), (1, None), (4, None), (16, None)];
    ["device", "flow"].map(|fair| {
        let run = share(fair, direction, rate, rtt_ms, &flows);
        let link = if direction == "down" {
            &run.link
        } else {
            &run.uplink
        };
        let shared = Shared {
            jain: jain(&goodput(&run, flows.len())),
            used: link.utilisation,
            queue_ms: link.queue_delay_ms.mean,
        };
        println!(
            "{direction} {rate}, {rtt_ms} ms, by {fair}: Jain {:.3}, {:.1} % used, queue {:.1} ms",
            shared.jain,
            shared.used * 100.0,
            shared.queue_ms
        );
        shared
    })
}

/// The link is as full as by flow, and its queue no longer.
#[test]
fn four_devices_have_a_quarter_each_whatever_they_run() {
    for (direction, mbps, rtt_ms) in [
        ("down", 100, 40),
        ("down", 50, 80),
        ("down", 20, 100),
        ("up", 100, 40),
    ] {
        let rate = format!("constant_mbps = {mbps}");
        let [by_device, by_flow] = compare(direction, &rate, rtt_ms);
        assert!(by_device.jain >= 0.95 && by_flow.jain < 0.5);
        assert!(by_device.used >= 0.95);
        // Sixteen windows are rounded up to whole segments, and the slowest link holds few of them.
        assert!(by_device.queue_ms <= by_flow.queue_ms.max(30.0));
    }
}

/// On cells the queue is longer: no window is less than two segments, so sixteen flows exceed a small quarter.
#[test]
fn on_cells_they_have_about_a_quarter_each() {
    for seed in 1..=6 {
        let rate = format!("generate = {{ kind = 'lte', seed = {seed}, mean_mbps = 40 }}");
        let [by_device, by_flow] = compare("down", &rate, 60);
        assert!(by_device.jain >= 0.95 && by_flow.jain < 0.5);
        assert!(by_device.used >= 0.95);
    }
}

/// When a device stops, the others take its share, in equal parts, from the next second on.
#[test]
fn what_one_leaves_the_others_share() {
    let flows = [(1, None), (4, None), (1, Some(19))];
    let run = share("device", "down", "constant_mbps = 60", 60, &flows);
    let parts = goodput(&run, 2);
    assert!(jain(&parts) >= 0.98, "{parts:?}");
    assert!(run.link.utilisation >= 0.97);
}

/// Forty small downloads at a constant rate. None wants more than a sixth of its device's share, but together they
/// exceed it.
#[test]
fn many_small_downloads_are_one_devices_all_the_same() {
    let bulk =
        |name: &str| format!("{{ name = '{name}', device = '{name}', does = {{ bulk = {{}} }} }}");
    let small: Vec<_> = (0..40)
        .map(|n| {
            format!(
                "{{ name = 'd3#{n}', device = 'd3', does = {{ constant_rate = {{ mbps = 1 }} }} }}"
            )
        })
        .collect();
    let text = format!(
        "duration_s = 60
         warmup_s = 30
         down = {{ rate = {{ constant_mbps = 100 }}, delay_ms = 25, queue = {{ packets = 4000 }} }}
         up = {{ rate = {{ constant_mbps = 50 }}, delay_ms = 25, queue = {{ packets = 4000 }} }}
         workload = [{}, {}, {}, {}]
         run = [{{ name = 'tide', law = 'tide', fair = 'device' }}]",
        bulk("d0"),
        bulk("d1"),
        bulk("d2"),
        small.join(", ")
    );
    let run = try_run(&text, false).expect("it runs").runs.remove(0);
    let parts = goodput(&run, 4);
    println!("{parts:?}");
    assert!(jain(&parts) >= 0.95, "{parts:?}");
}

/// Flows of some devices over 60 Mbit/s at 60 ms, each `gap_s` later than the one before. Jain's index of devices, if
/// `fair` is "device", or of flows.
fn one_after_the_other(fair: &str, direction: &str, flows: &[u32], gap_s: f64) -> f64 {
    let devices = (0..).zip(flows);
    let devices: Vec<usize> = devices
        .flat_map(|(device, &flows)| std::iter::repeat_n(device, flows as usize))
        .collect();
    let workloads = devices.iter().enumerate().map(|(nth, device)| {
        let start_s = nth as f64 * gap_s;
        format!("{{ name = 'd{device}#{nth}', device = 'd{device}', start_s = {start_s}, does = {{ bulk = {{ direction = '{direction}' }} }} }}")
    });
    let link = "{ rate = { constant_mbps = 60 }, delay_ms = 30 }";
    let text = format!(
        "duration_s = 40
         warmup_s = 16
         down = {link}
         up = {link}
         workload = [{}]
         run = [{{ name = 'tide', law = 'tide', fair = '{fair}' }}]",
        workloads.collect::<Vec<_>>().join(", ")
    );
    let run = try_run(&text, false).expect("it runs").runs.remove(0);
    let index = match fair {
        "device" => jain(&goodput(&run, flows.len())),
        _ => jain(&run.flows.iter().map(|f| f.goodput_bps).collect::<Vec<_>>()),
    };
    println!("{direction} {flows:?}, {gap_s} s apart, by {fair}: Jain {index:.3}");
    index
}

/// Each flow's floor includes the queue of those before it, until their group lets the queue drain.
#[test]
fn many_flows_that_begin_one_after_the_other_share() {
    for direction in ["down", "up"] {
        for gap_s in [0.06, 0.5] {
            assert!(one_after_the_other("device", direction, &[1, 1, 4, 16], gap_s) > 0.95);
            for flows in [8, 12, 16, 22] {
                assert!(one_after_the_other("flow", direction, &[flows], gap_s) > 0.95);
            }
        }
    }
}

/// Senders and round trips.
const SENDERS: [&str; 3] = ["cubic", "bbr", "reno"];
const RTTS_MS: [u32; 3] = [20, 80, 200];

/// How four devices differ, apart from their 1, 1, 4 and 16 downloads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Differ {
    /// Their senders; all are 80 ms away.
    Senders,
    /// How far away these are; all run CUBIC.
    RoundTrips,
    Both,
}

/// Jain's index of the four by device, over a link with that rate. The nth of nine assignments of senders and round
/// trips: over all nine, each device has each of them three times. Devices begin within the first two seconds.
fn dealt(differ: Differ, rate: &str, nth: usize) -> f64 {
    // The link under study has 10 ms there and back; a fast link behind it adds the rest.
    let far = RTTS_MS.map(|rtt_ms| {
        let delay_ms = rtt_ms - 10;
        format!("{{ name = 'far{rtt_ms}', link = {{ rate = {{ constant_mbps = 1000 }}, delay_ms = {delay_ms} }} }}")
    });
    let device = |(device, flows): (usize, u32)| {
        let sender = match differ {
            Differ::RoundTrips => "cubic",
            _ => SENDERS[(nth + device) % 3],
        };
        let rtt_ms = match differ {
            Differ::Senders => 80,
            _ => RTTS_MS[(nth / 3 + device) % 3],
        };
        let start_s = ((7 * nth + 5 * device) % 20) as f64 / 10.0;
        format!(
            "{{ name = 'd{device}', device = 'd{device}', congestion_control = '{sender}', start_s = {start_s},
                links = ['down', 'far{rtt_ms}', 'up'], does = {{ bulk = {{ flows = {flows} }} }} }}"
        )
    };
    let devices = [1, 1, 4, 16].into_iter().enumerate().map(device);
    let text = format!(
        "duration_s = 60
         warmup_s = 20
         down = {{ rate = {{ {rate} }}, delay_ms = 5, queue = {{ packets = 4000 }} }}
         up = {{ rate = {{ constant_mbps = 50 }}, delay_ms = 5, queue = {{ packets = 4000 }} }}
         hop = [{}]
         workload = [{}]
         run = [{{ name = 'tide', law = 'tide', fair = 'device' }}]",
        far.join(", "),
        devices.collect::<Vec<_>>().join(", ")
    );
    let run = try_run(&text, false).expect("it runs").runs.remove(0);
    let parts: Vec<_> = goodput(&run, 4).iter().map(|p| p / 1e6).collect();
    let (index, link) = (jain(&parts), &run.link);
    println!(
        "{differ:?} {nth}, {rate}: {parts:.1?} Mbit/s, Jain {index:.3}, {:.1} % used, queue {:.1} ms",
        link.utilisation * 100.0,
        link.queue_delay_ms.mean
    );
    index
}

const RATES: [&str; 2] = ["constant_mbps = 100", "constant_mbps = 60"];
const SLOW: &str = "constant_mbps = 40";

#[test]
fn devices_whose_senders_differ_have_a_quarter_each() {
    for rate in [RATES[0], RATES[1], SLOW] {
        for nth in 0..3 {
            assert!(dealt(Differ::Senders, rate, nth) >= 0.95);
        }
    }
}

/// Distant traffic comes in bursts, once in 200 ms: it is counted all the same.
#[test]
fn devices_whose_round_trips_differ_have_a_quarter_each() {
    for rate in RATES {
        let round_trips = (0..3).map(|nth| dealt(Differ::RoundTrips, rate, 3 * nth));
        let both = (0..9).map(|nth| dealt(Differ::Both, rate, nth));
        let all: Vec<_> = round_trips.chain(both).collect();
        assert!(all.iter().all(|index| *index >= 0.98), "{all:.3?}");
    }
}

/// Sixteen downloads from 20 or 40 ms away have two segments each, the least window, which exceed a small quarter.
#[test]
fn on_a_slow_link_least_windows_cost_some_fairness() {
    for nth in 0..9 {
        assert!(dealt(Differ::Both, SLOW, nth) >= 0.93);
    }
    for nth in [0, 3, 6] {
        assert!(dealt(Differ::RoundTrips, SLOW, nth) >= 0.93);
    }
    let [by_device, by_flow] = compare("down", "constant_mbps = 20", 40);
    assert!(by_device.jain >= 0.85 && by_flow.jain < 0.5);
}

/// Twenty-two uploads that begin at the same moment, over ten rates and five round trips. If they do not find that
/// they share a queue, some steer alone.
#[test]
#[ignore = "Jain's index is 0.45 to 1.00, and below 0.95 in 5 of 43 cases"]
fn many_uploads_that_begin_together_share() {
    let mut unequal = Vec::new();
    for mbps in [20, 23, 31, 37, 44, 53, 61, 72, 83, 97] {
        // With less than 1.7 Mbit in flight their least windows exceed the pipe.
        for rtt_ms in [42, 58, 75, 100, 130]
            .into_iter()
            .filter(|ms| mbps * ms >= 1700)
        {
            let run = share(
                "flow",
                "up",
                &format!("constant_mbps = {mbps}"),
                rtt_ms,
                &[(22, None)],
            );
            let index = jain(&run.flows.iter().map(|f| f.goodput_bps).collect::<Vec<_>>());
            let queue_ms = run.uplink.queue_delay_ms.mean;
            println!("{mbps} Mbit/s, {rtt_ms} ms: Jain {index:.3}, queue {queue_ms:.1} ms");
            if index < 0.95 {
                unequal.push((mbps, rtt_ms));
            }
        }
    }
    assert!(unequal.is_empty(), "{unequal:?}");
}
