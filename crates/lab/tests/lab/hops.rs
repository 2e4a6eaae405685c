//! Several links in a row, and workloads that cross some of them.

use crate::common::{allowed, flow, laboratory, run};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tidegate_lab::{IpVersion, Options, Steer, SteeredFlow, Steering};
use tidegate_scenario::{Run, RunResult, Side};

const QUEUE: &str = "queue = { packets = 50 }";

fn link(mbps: f64, delay_ms: f64) -> String {
    format!("{{ rate = {{ constant_mbps = {mbps} }}, delay_ms = {delay_ms}, {QUEUE} }}")
}

/// Two servers, each with its own core link, behind one downlink of 8 Mbit/s, and a third flow that crosses no core
/// link: the narrow core link limits one flow, the downlink all together.
#[test]
fn flows_share_the_links_that_they_have_in_common() {
    let Some(_turn) = laboratory() else { return };
    let text = format!(
        "duration_s = 8
         warmup_s = 2
         hosts = {{ congestion_control = 'reno' }}
         down = {down}
         up = {up}
         hop = [{{ name = 'narrow', link = {narrow} }}, {{ name = 'wide', link = {wide} }}]
         workload = [
           {{ name = 'a', links = ['narrow', 'down', 'up'], does = {{ bulk = {{}} }} }},
           {{ name = 'b', links = ['wide', 'down', 'up'], does = {{ bulk = {{}} }} }},
           {{ name = 'aside', links = ['wide', 'up'], does = {{ bulk = {{ bytes = 100_000 }} }} }},
         ]
         run = [{{ name = 'linux' }}]",
        down = link(8.0, 5.0),
        up = link(100.0, 10.0),
        narrow = link(1.0, 5.0),
        wide = link(50.0, 5.0),
    );
    let result = run(&text, &Options::default()).runs.remove(0);
    let mbps = |name| flow(&result, name).goodput_bps / 1e6;
    let (a, b) = (mbps("a"), mbps("b"));
    // The queue at the beginning of the count adds up to 50 packets; a busy machine may hold back some.
    assert!((0.7..1.1).contains(&a), "{a} of 1 Mbit/s");
    assert!((6.5..8.0).contains(&(a + b)), "{a} and {b} of 8 Mbit/s");
    assert!(flow(&result, "aside").completion_s.is_some());
    let hop = |name| {
        let hop = result.hops.iter().find(|hop| hop.name == name);
        hop.map(|hop| &hop.link).expect("a hop")
    };
    assert!(hop("narrow").utilisation > 0.8, "{:?}", hop("narrow"));
    let queue = hop("narrow").queue_delay_ms.p95;
    assert!((100.0..620.0).contains(&queue), "{queue} ms of 600");
    assert_eq!(result.health.plumbing_losses, 0, "{:?}", result.health);
}

/// Workloads that choose no links cross all of them.
#[test]
fn a_hop_adds_to_the_round_trip() {
    let Some(_turn) = laboratory() else { return };
    let text = format!(
        "duration_s = 3
         down = {one}
         up = {one}
         hop = [{{ name = 'core', link = {core} }}]
         workload = [{{ name = 'ping', does = {{ ping = {{ interval_ms = 20 }} }} }}]
         run = [{{ name = 'linux' }}]",
        one = link(10.0, 10.0),
        core = link(10.0, 30.0),
    );
    let result = run(&text, &Options::default()).runs.remove(0);
    let rtt = flow(&result, "ping").rtt_ms.p50;
    assert!((50.0..53.0).contains(&rtt), "{rtt} ms");
}

/// Workloads of every kind, each over links that show in its results: 8 Mbit/s down that `slow` shares with `quick`, a
/// hop of 1 Mbit/s for `slow` alone, one of 0.5 Mbit/s up for `post`, and an empty one for the others.
fn mix(more: &str, run: &str) -> String {
    format!(
        "duration_s = 6
         hosts = {{ congestion_control = 'reno', initial_window = 20 }}
         down = {down}
         up = {up}
         hop = [
           {{ name = 'narrow', link = {narrow} }},
           {{ name = 'aside', link = {aside} }},
           {{ name = 'outwards', direction = 'up', link = {outwards} }},
         ]
         workload = [
           {{ name = 'slow', links = ['narrow', 'down', 'up'], does = {{ bulk = {{}} }} }},
           {{ name = 'quick', links = ['down', 'up'], does = {{ bulk = {{}} }} }},
           {{ name = 'post', links = ['down', 'outwards', 'up'], does = {{ bulk = {{ direction = 'up' }} }} }},
           {{ name = 'web', links = ['aside', 'up'], does = {{ web = {{ object_bytes = [20_000], pause_s = 0.1 }} }} }},
           {{ name = 'note', links = ['aside', 'up'], does = {{ bulk = {{ direction = 'up', bytes = 20_000 }} }} }},
           {more}
         ]
         run = [{{ name = 'mix', {run} }}]",
        down = link(8.0, 5.0),
        up = link(100.0, 10.0),
        narrow = link(1.0, 5.0),
        aside = link(50.0, 30.0),
        outwards = link(0.5, 5.0),
    )
}

/// Checks that each workload got its links' rates.
fn assert_mixed(result: &RunResult) {
    let mbps = |name| flow(result, name).goodput_bps / 1e6;
    let (slow, quick, post) = (mbps("slow"), mbps("quick"), mbps("post"));
    assert!((0.7..1.0).contains(&slow), "{slow} of 1 Mbit/s");
    assert!((5.5..7.5).contains(&quick), "{quick} of 7 Mbit/s");
    assert!((0.3..0.5).contains(&post), "{post} of 0.5 Mbit/s");
    // A round trip of 40 ms to connect, and a half or a whole one for the data, which fit into the first window.
    let note = flow(result, "note").completion_s.unwrap();
    assert!((0.05..0.12).contains(&note), "{note} s");
    let web = &result.fetches[0];
    assert!(web.count > 10, "{web:?}");
    assert!((80.0..110.0).contains(&web.time_ms.p50), "{web:?}");
    assert_eq!(result.health.plumbing_losses, 0, "{:?}", result.health);
}

/// Counts the bytes that arrive at the host to which it is attached.
#[derive(Default)]
struct Counter {
    attached: AtomicU64,
    bytes: Arc<AtomicU64>,
}

impl Steer for Counter {
    fn attach(&self, _: &Run, side: Side, interface: &str) -> anyhow::Result<Box<dyn Steering>> {
        assert_eq!(side, Side::Client);
        self.attached.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Count {
            interface: interface.into(),
            bytes: Arc::clone(&self.bytes),
        }))
    }
}

struct Count {
    interface: String,
    bytes: Arc<AtomicU64>,
}

impl Steering for Count {
    fn sample(&mut self) -> Vec<SteeredFlow> {
        Vec::new()
    }

    fn finish(self: Box<Self>) -> anyhow::Result<()> {
        let devices = std::fs::read_to_string("/proc/thread-self/net/dev")?;
        let of = |line: &str| {
            let (name, counters) = line.split_once(':')?;
            let is_ours = name.trim() == self.interface;
            let received = counters.split_whitespace().next()?;
            is_ours.then(|| received.parse().unwrap())
        };
        let received = devices.lines().find_map(of).expect("our device");
        self.bytes.store(received, Ordering::Relaxed);
        Ok(())
    }
}

/// The law is at one client. Every workload that it may steer runs there, over any links; a ping crosses its own links,
/// and unsteered workloads run at other hosts.
#[test]
fn a_law_stands_where_workloads_on_all_links_meet() {
    let Some(_turn) = laboratory() else { return };
    let more = "
        { name = 'ping', links = ['aside', 'up'], does = { ping = { interval_ms = 20 } } },
        { name = 'stranger', links = ['aside', 'up'], steered = false, does = { bulk = { bytes = 4_000_000 } } },
        { name = 'command', links = ['aside', 'up'], does = { command = { run = ['sh', '-c',
          'test {server} != 198.18.0.2 && test {server} != 2001:2::2'], side = 'client' } } },";
    let text = mix(more, "law = 'drwa'");
    for ip in [IpVersion::V4, IpVersion::V6] {
        let counter = Counter::default();
        let options = Options {
            steer: Some(&counter),
            commands: allowed(),
            ip,
            ..Options::default()
        };
        let result = run(&text, &options).runs.remove(0);
        assert_mixed(&result);
        let rtt = flow(&result, "ping").rtt_ms.p50;
        assert!((40.0..43.0).contains(&rtt), "{rtt} ms");
        let failed = result
            .health
            .warnings
            .iter()
            .find(|w| w.contains("command"));
        assert_eq!(failed, None, "{ip:?}");
        assert!(flow(&result, "stranger").completion_s.is_some());
        assert_eq!(counter.attached.load(Ordering::Relaxed), 1);
        // Headers, acknowledgements and echoes count as well.
        let bytes = |name| flow(&result, name).goodput_bps * 6.0 / 8.0;
        let objects = result.fetches[0].count as f64 * 20e3;
        let steered = bytes("slow") + bytes("quick") + objects;
        let came = counter.bytes.load(Ordering::Relaxed) as f64;
        assert!((1.0..1.15).contains(&(came / steered)), "{came}, {steered}");
    }
}

#[test]
fn tcp_of_our_own_goes_the_ways_of_its_addresses() {
    let Some(_turn) = laboratory() else { return };
    for own in ["['client']", "['server']", "['client', 'server']"] {
        let stranger = "{ name = 'stranger', links = ['aside', 'up'], steered = false, does = { bulk = { bytes = 100_000 } } }";
        let text = mix(stranger, &format!("own_tcp = {own}"));
        let result = run(&text, &Options::default()).runs.remove(0);
        assert_mixed(&result);
        assert!(flow(&result, "stranger").completion_s.is_some());
    }
}
