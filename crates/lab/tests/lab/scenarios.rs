//! Scenarios over kernel TCP, a few seconds each. Bounds are wide, since other processes may be running.

use crate::common::{allowed, assert_on_schedule, flow, laboratory, lte, points, run, try_run};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tidegate_lab::{CommandOutput, IpVersion, Options, Steer, SteeredFlow, Steering};
use tidegate_scenario::{Direction, FlowDirection, Law, Run, Side};

/// Checks for the link's round trip, plus what the machine may add to it.
fn assert_near_40_ms(rtt_ms: f64) {
    assert!((40.0..45.0).contains(&rtt_ms), "{rtt_ms} ms");
}

#[test]
fn a_download_fills_the_link_and_its_queue() {
    let Some(_turn) = laboratory() else { return };
    let text = lte("duration_s = 6
         warmup_s = 2
         workload = [{ name = 'bulk', does = { bulk = {} } }]
         run = [{ name = 'linux' }]");
    let options = Options {
        series: true,
        ..Options::default()
    };
    let result = run(&text, &options).runs.remove(0);
    let bulk = flow(&result, "bulk");
    assert_eq!(
        (bulk.direction, result.law),
        (FlowDirection::Down, Law::None)
    );
    // At most the payload of 1500-byte packets: 1448.
    let share = bulk.goodput_bps / 20e6;
    assert!((0.90..=1448.0 / 1500.0 + 1e-3).contains(&share), "{share}");
    // A machine whose processors pause for 100 ms costs a link 2.5 % of these four seconds.
    let used = result.link.utilisation;
    assert!((0.95..1.001).contains(&used), "{used}");
    // CUBIC fills most of 2000 packets, 1200 ms; the RTT is that and 40 ms more.
    let queue = result.link.queue_delay_ms;
    assert!((200.0..=1201.0).contains(&queue.p95), "{queue:?}");
    assert!(
        bulk.rtt_ms.p95 > 240.0 && bulk.rtt_ms.p50 > queue.p50,
        "{:?}",
        bulk.rtt_ms
    );
    // Acknowledgements hardly queue.
    assert!(result.uplink.queue_delay_ms.p95 < 20.0);
    assert!(result.uplink.delivered_bps > 100e3);
    assert_eq!(result.health.plumbing_losses, 0);
    assert!(result.health.emulator_cpu > 0.0 && result.health.machine_cpu > 0.0);
    for quantity in [
        "queue_delay_ms",
        "capacity_bps",
        "true_rtt_ms",
        "rtt_ms",
        "window_bytes",
    ] {
        let points = points(&result, quantity);
        assert!(points > 40, "{points} points of {quantity}");
    }
}

#[test]
fn an_upload_of_so_many_bytes_arrives_whole() {
    let Some(_turn) = laboratory() else { return };
    let text = lte(
        "duration_s = 5
         workload = [{ name = 'file', start_s = 0.5, does = { bulk = { direction = 'up', bytes = 1_000_000 } } }]
         run = [{ name = 'linux' }]",
    );
    let result = run(&text, &Options::default()).runs.remove(0);
    let file = flow(&result, "file");
    assert_eq!(file.direction, FlowDirection::Up);
    // 1.66 s at 5 Mbit/s with headers, and at least two round trips before the first byte.
    let completion = file.completion_s.expect("it ended");
    assert!((1.7..2.6).contains(&completion), "{completion} s");
    assert!((file.goodput_bps - 8e6 / completion).abs() < 1e-3 * file.goodput_bps);
}

#[test]
fn objects_are_fetched_each_on_its_own_connection() {
    let Some(_turn) = laboratory() else { return };
    let text = lte(
        "duration_s = 4
         workload = [{ name = 'web', does = { web = { object_bytes = [10_000, 200_000], pause_s = 0.05 } } }]
         run = [{ name = 'linux' }]",
    );
    let result = run(&text, &Options::default()).runs.remove(0);
    let [small, large] = &result.fetches[..] else {
        panic!("{:#?}", result.fetches)
    };
    assert_eq!((small.bytes, large.bytes), (10_000, 200_000));
    assert!(small.count >= 5 && large.count >= 4 && small.count - large.count <= 1);
    // One round trip to connect and one to ask; ten segments come at once.
    assert!((80.0..120.0).contains(&small.time_ms.p50), "{small:?}");
    // Slow start needs three more: 10, 20, 40, 80 segments.
    assert!((200.0..400.0).contains(&large.time_ms.p50), "{large:?}");
}

/// Seven segments: they take one round trip with a window of ten, and two with one of three, with our TCP and the
/// kernel's.
#[test]
fn the_initial_window_is_the_scenarios() {
    let Some(_turn) = laboratory() else { return };
    let text = lte("duration_s = 4
         hosts = { initial_window = 3 }
         workload = [{ name = 'web', does = { web = { object_bytes = [10_000], pause_s = 0.05 } } }]
         run = [{ name = 'linux' }, { name = 'own', own_tcp = ['server'] }]");
    for result in run(&text, &Options::default()).runs {
        let fetch = &result.fetches[0];
        assert!((120.0..160.0).contains(&fetch.time_ms.p50), "{fetch:?}");
    }
}

#[test]
fn a_ping_sees_the_configured_round_trip() {
    let Some(_turn) = laboratory() else { return };
    let text = lte("duration_s = 3
         workload = [{ name = 'ping', does = { ping = { interval_ms = 10 } } }]
         run = [{ name = 'linux' }]");
    let result = run(&text, &Options::default()).runs.remove(0);
    let ping = flow(&result, "ping");
    assert_eq!(ping.direction, FlowDirection::Echo);
    assert_near_40_ms(ping.rtt_ms.p50);
    assert!(ping.rtt_ms.max > ping.rtt_ms.p50);
    assert!(result.link.queue_delay_ms.p50 < 0.1);
}

#[test]
fn chunks_and_constant_rate_keep_to_their_schedule() {
    let Some(_turn) = laboratory() else { return };
    let text = lte("duration_s = 5
         workload = [
           { name = 'video', does = { chunks = { chunk_bytes = 50_000, period_s = 0.5 } } },
           { name = 'call', does = { constant_rate = { direction = 'up', mbps = 1 } } },
         ]
         run = [{ name = 'linux' }]");
    let result = run(&text, &Options::default()).runs.remove(0);
    assert_on_schedule(&result);
    let chunks = &result.fetches[0];
    assert_eq!((chunks.name.as_str(), chunks.bytes), ("video", 50_000));
    assert!((8..=10).contains(&chunks.count), "{chunks:?}");
    assert!((20.0..250.0).contains(&chunks.time_ms.p50), "{chunks:?}");
}

#[test]
fn a_static_buffer_limit_limits_the_rate() {
    let Some(_turn) = laboratory() else { return };
    let text = "
        duration_s = 4
        warmup_s = 1.5
        down = { rate = { constant_mbps = 60 }, delay_ms = 50 }
        up = { rate = { constant_mbps = 60 }, delay_ms = 50 }
        workload = [{ name = 'bulk', does = { bulk = {} } }]
        run = [{ name = 'limited', rmem_max = 110_208 }, { name = 'large', rmem_max = 33_554_432 }]";
    let results = run(text, &Options::default());
    let [limited, large] = &results.runs[..] else {
        panic!("{results:#?}")
    };
    // At most the buffer per round trip of 100 ms.
    let limited = flow(limited, "bulk").goodput_bps;
    assert!((2e6..110_208.0 * 8.0 / 0.1).contains(&limited), "{limited}");
    let large = flow(large, "bulk").goodput_bps;
    assert!(large > 30e6, "{large}");
}

#[test]
fn several_flows_share_and_loss_is_repaired() {
    let Some(_turn) = laboratory() else { return };
    let text = "
        duration_s = 4
        warmup_s = 1
        down = { rate = { constant_mbps = 20 }, delay_ms = 5, loss = { random = 0.01 } }
        up = { rate = { constant_mbps = 20 }, delay_ms = 5 }
        workload = [{ name = 'bulk', does = { bulk = { flows = 3 } } }]
        run = [{ name = 'linux' }]";
    let result = run(text, &Options::default()).runs.remove(0);
    let names: Vec<&str> = result.flows.iter().map(|f| f.name.as_str()).collect();
    assert_eq!(names, ["bulk#1", "bulk#2", "bulk#3"]);
    let sum: f64 = result.flows.iter().map(|f| f.goodput_bps).sum();
    assert!((10e6..20e6).contains(&sum), "{sum}");
    assert!(result.link.losses > 20, "{:?}", result.link);
    let retransmits: u64 = result.flows.iter().map(|f| f.retransmits).sum();
    assert!(retransmits >= result.link.losses / 2, "{retransmits}");
}

#[test]
fn workloads_run_over_ipv6() {
    let Some(_turn) = laboratory() else { return };
    let text = lte("duration_s = 3
         workload = [
           { name = 'bulk', does = { bulk = { bytes = 500_000 } } },
           { name = 'ping', does = { ping = { interval_ms = 20 } } },
         ]
         run = [{ name = 'linux' }]");
    let options = Options {
        ip: IpVersion::V6,
        ..Options::default()
    };
    let result = run(&text, &options).runs.remove(0);
    assert!(flow(&result, "bulk").completion_s.is_some());
    assert!(flow(&result, "ping").rtt_ms.p50 >= 40.0);
}

#[test]
fn commands_run_in_their_namespace_and_their_failure_is_a_warning() {
    let Some(_turn) = laboratory() else { return };
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let text = lte(
        "duration_s = 2
         workload = [
           { name = 'who', does = { command = { run = ['echo', 'server {server} client {client}'] } } },
           { name = 'bad', does = { command = { run = ['sh', '-c', 'exit 3'], side = 'server' } } },
           { name = 'long', does = { command = { run = ['sh', '-c', 'sleep 1000; echo survived'] } } },
         ]
         run = [{ name = 'linux' }]",
    );
    let options = Options {
        commands: allowed(),
        output: CommandOutput::File(log.clone()),
        ..Options::default()
    };
    let began = Instant::now();
    let result = run(&text, &options).runs.remove(0);
    assert!(began.elapsed() < Duration::from_secs(4));
    let output = std::fs::read_to_string(log).unwrap();
    assert_eq!(output, "server 198.18.0.2 client 198.18.0.1\n");
    let warnings = result.health.warnings.join("\n");
    assert!(warnings.contains(r#"workload "bad": ["sh", "-c", "exit 3"] failed: exit status: 3"#));
    assert!(!warnings.contains("long"), "{warnings}");
}

#[test]
fn what_the_kernel_lacks_is_named_with_what_it_has() {
    let Some(_turn) = laboratory() else { return };
    let text = lte("duration_s = 2
         workload = [{ name = 'bulk', does = { bulk = {} } }]
         run = [{ name = 'linux', congestion_control = 'nonesuch' }]");
    let error = format!("{:#}", try_run(&text, &Options::default()).unwrap_err());
    assert!(
        error.contains("no congestion control \"nonesuch\"; it has: "),
        "{error}"
    );
    assert!(error.contains("reno"), "{error}");
}

#[test]
fn a_law_without_an_agent_is_refused() {
    let Some(_turn) = laboratory() else { return };
    let text = lte("duration_s = 2
         workload = [{ name = 'bulk', does = { bulk = {} } }]
         run = [{ name = 'tide', law = 'tide' }]");
    let error = format!("{:#}", try_run(&text, &Options::default()).unwrap_err());
    assert!(error.contains("law \"tide\" needs the agent"), "{error}");
}

#[test]
fn a_stop_ends_the_run_at_once_and_keeps_those_before_it() {
    let Some(_turn) = laboratory() else { return };
    let text = lte("duration_s = 1
         workload = [
           { name = 'bulk', does = { bulk = { flows = 4 } } },
           { name = 'web', does = { web = { object_bytes = [100_000] } } },
           { name = 'ping', does = { ping = { interval_ms = 5 } } },
           { name = 'sleep', does = { command = { run = ['sleep', '100'] } } },
         ]
         run = [{ name = 'first' }, { name = 'second' }]");
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let stop_in_second_run = |progress: &tidegate_lab::Progress| {
        if progress.run == "second" && progress.elapsed > Duration::from_millis(300) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let options = Options {
        stop: stop.clone(),
        commands: allowed(),
        progress: &stop_in_second_run,
        ..Options::default()
    };
    let began = Instant::now();
    let results = run(&text, &options);
    assert!(
        began.elapsed() < Duration::from_millis(3300),
        "{:?}",
        began.elapsed()
    );
    let names: Vec<&str> = results.runs.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["first"]);
}

/// An agent that reports every RTT as 41 ms.
#[derive(Default)]
struct Believer {
    sides: std::sync::Mutex<Vec<Side>>,
    finished: std::sync::Arc<AtomicU32>,
}

impl Steer for Believer {
    fn attach(&self, run: &Run, side: Side, interface: &str) -> anyhow::Result<Box<dyn Steering>> {
        assert_eq!(run.name, "believer");
        // Only the hosts' namespaces have a device of that name.
        nix::net::if_::if_nametoindex(interface)?;
        self.sides.lock().unwrap().push(side);
        Ok(Box::new(Belief(self.finished.clone())))
    }
}

struct Belief(std::sync::Arc<AtomicU32>);

impl Steering for Belief {
    fn sample(&mut self) -> Vec<SteeredFlow> {
        vec![SteeredFlow {
            direction: Direction::Down,
            client_port: 1,
            server: "198.18.0.2:2".parse().unwrap(),
            rtt_us: Some(41_000),
            queue_us: 0,
            window_bytes: 1,
        }]
    }

    fn finish(self: Box<Self>) -> anyhow::Result<()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[test]
fn the_agent_is_attached_in_the_clients_namespace_and_held_against_the_truth() {
    let Some(_turn) = laboratory() else { return };
    let text = lte("duration_s = 2
         warmup_s = 0.5
         workload = [{ name = 'ping', does = { ping = { interval_ms = 10 } } }]
         run = [{ name = 'believer', law = 'drwa' }]");
    let believer = Believer::default();
    let options = Options {
        steer: Some(&believer),
        ..Options::default()
    };
    let result = run(&text, &options).runs.remove(0);
    assert_eq!(result.law, Law::Drwa);
    assert_eq!(believer.finished.load(Ordering::Relaxed), 1);
    assert_eq!(*believer.sides.lock().unwrap(), [Side::Client]);
    let accuracy = result.agent_rtt.expect("an agent was there");
    assert!((12..=15).contains(&accuracy.bins), "{accuracy:?}");
    // The link alone, without the hosts: 84 bytes at 20 and 5 Mbit/s add 0.17 ms.
    assert!(
        (40.16..40.4).contains(&accuracy.median_truth_ms),
        "{accuracy:?}"
    );
    assert!((accuracy.median_error_ms - (41.0 - accuracy.median_truth_ms)).abs() < 0.05);
}

#[test]
fn a_law_at_the_server_has_an_agent_there() {
    let Some(_turn) = laboratory() else { return };
    let text = lte("duration_s = 1
         workload = [{ name = 'ping', does = { ping = { interval_ms = 10 } } }]
         run = [{ name = 'believer', server_law = 'rsfc' }]");
    for (more, sides) in [
        ("", &[Side::Server][..]),
        ("law = 'tide',", &[Side::Client, Side::Server]),
    ] {
        let believer = Believer::default();
        let options = Options {
            steer: Some(&believer),
            ..Options::default()
        };
        run(
            &text.replace("server_law", &format!("{more} server_law")),
            &options,
        );
        assert_eq!(*believer.sides.lock().unwrap(), sides);
        assert_eq!(
            believer.finished.load(Ordering::Relaxed),
            sides.len() as u32
        );
    }
}

/// BBR keeps two bandwidth-delay products in flight, Reno fills the buffer: 20 Mbit/s over 2000 packets are 1.2 s.
#[test]
fn a_workload_may_have_a_congestion_control_of_its_own() {
    let Some(_laboratory) = laboratory() else {
        return;
    };
    let median = |own: &str| {
        let text = lte(&format!(
            "duration_s = 4
             warmup_s = 2
             workload = [{{ name = 'w', does = {{ bulk = {{}} }}, congestion_control = '{own}' }}]
             run = [{{ name = 'r', congestion_control = 'cubic' }}]",
        ));
        flow(&run(&text, &Options::default()).runs[0], "w")
            .rtt_ms
            .p50
    };
    let [bbr, reno] = ["bbr", "reno"].map(median);
    assert!(bbr < 150.0 && reno > 2.0 * bbr, "{bbr} and {reno} ms");
}

/// Without SACK, a sender retransmits some data that have arrived.
#[test]
fn without_selective_acknowledgements_more_than_what_is_lost_is_sent_again() {
    let Some(_laboratory) = laboratory() else {
        return;
    };
    let again = |sack: bool| {
        let loss = "loss = { bursty = { probability = 0.02, mean_length = 10 } }";
        let text = format!(
            "duration_s = 6
             down = {{ rate = {{ constant_mbps = 20 }}, delay_ms = 20, queue = {{ packets = 60 }}, {loss} }}
             up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 20 }}
             hosts = {{ sack = {sack} }}
             workload = [{{ name = 'w', does = {{ bulk = {{}} }} }}]
             run = [{{ name = 'r' }}]"
        );
        let run = run(&text, &Options::default()).runs.remove(0);
        let lost = run.link.losses + run.link.drops;
        flow(&run, "w").retransmits as f64 / lost as f64
    };
    let [with, without] = [true, false].map(again);
    assert!(with < 1.1 && without > with + 0.1, "{with} and {without}");
}
