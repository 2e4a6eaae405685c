//! Laws that hold whatever TCP does.

use super::World;
use crate::network::{DOWN, UP};
use crate::run::Options;
use std::path::Path;
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_link::Link;
use tidegate_scenario::Scenario;

/// Downloads, an upload, a page and cross traffic over three links down, with loss and short queues.
const BUSY: &str = r#"
name = "busy"
duration_s = 20
down = { rate = { constant_mbps = 12 }, delay_ms = 20, queue = { packets = 60 }, loss = { random = 0.002 } }
up = { rate = { constant_mbps = 3 }, delay_ms = 10, queue = { packets = 30 } }
hop = [
    { name = "core", link = { rate = { constant_mbps = 27 }, delay_ms = 5, queue = { packets = 20 } } },
    { name = "home", side = "client", link = { rate = { constant_mbps = 50 }, delay_ms = 1 } },
]
workload = [
    { name = "bulk", does = { bulk = { flows = 3 } } },
    { name = "upload", start_s = 3, does = { bulk = { direction = "up" } } },
    { name = "page", does = { page = { object_bytes = [20000, 5000, 5000, 9000], pause_s = 0.1 } } },
    { name = "cross", links = ["core"], does = { datagrams = { mbps = 6 } } },
]
run = [{ name = "linux" }]
"#;

fn world(text: &str) -> World {
    let path = Path::new("test.toml");
    let scenario = Scenario::parse(text, path).unwrap();
    let inputs = scenario.link_inputs(path).unwrap();
    World::build(&scenario, &inputs, &scenario.runs[0], &Options::default()).unwrap()
}

fn assert_conserved<P: tidegate_link::Packet>(link: &Link<P>) {
    let stats = link.stats();
    let gone = stats.delivered_packets + stats.dropped + stats.lost;
    let inside = (link.queue_len() + link.in_flight()) as u64;
    assert_eq!(stats.arrived_packets, gone + inside, "{stats:?}");
}

#[test]
fn packets_are_conserved_on_every_link_at_all_times() {
    let mut world = world(BUSY);
    for ms in (0..20_000).step_by(7) {
        world.advance(Instant::from_millis(ms));
        let [down, up, core, home] = &world.network.links[..] else {
            panic!("four links");
        };
        for measured in [down, up, core, home] {
            assert_conserved(&measured.link);
        }
        // A packet that leaves one link enters the next one at once.
        let (down, home) = (down.link.stats(), home.link.stats());
        assert_eq!(down.delivered_packets, home.arrived_packets);
        assert_eq!(down.delivered_bytes, home.arrived_bytes);
        assert!(core.link.stats().delivered_packets >= down.arrived_packets);
    }
    let stats = world.network.links[DOWN].link.stats();
    assert!(stats.dropped > 10 && stats.lost > 10, "{stats:?}");
}

/// The mean number of packets in a queue is the rate at which they leave it times their mean wait.
#[test]
fn littles_law_holds_on_every_queue() {
    let mut world = world(BUSY);
    let links = world.network.links.len();
    let mut seen = vec![0; links];
    // Out of step with everything.
    const STEP: Duration = Duration::from_nanos(493_777);
    let (mut now, mut observations) = (Instant::ZERO, 0);
    let end = Instant::from_millis(20_000);
    while now + STEP < end {
        now += STEP;
        world.advance(now + Duration::from_nanos(1));
        observations += 1;
        for (sum, measured) in seen.iter_mut().zip(&mut world.network.links) {
            // The link catches up with the time; everything due has been polled.
            assert!(measured.link.poll(now).is_none());
            *sum += measured.link.queue_len();
        }
    }
    for (number, measured) in world.network.links.iter().enumerate() {
        let stats = measured.link.stats();
        let rate = (stats.delivered_packets + stats.lost) as f64 / 20.0;
        let wait = measured.record.queue_delay.quantiles_ms().mean / 1e3;
        let length = seen[number] as f64 / f64::from(observations);
        let error = (length - rate * wait).abs();
        // Packets under way at the end have left the queue, and waits are rounded to three digits.
        assert!(
            error < 0.02 * length + 0.02,
            "link {number}: {length} packets, {rate}/s, {wait} s"
        );
    }
    let length = seen[UP] as f64 / f64::from(observations);
    assert!(
        length > 5.0,
        "the uplink's queue should have stood: {length}"
    );
}

/// A connection that is over leaves nothing behind, neither its slot nor a timer.
#[test]
fn what_is_over_is_forgotten() {
    let text = BUSY
        .replace("duration_s = 20", "duration_s = 400")
        .replace(r#"name = "bulk","#, r#"name = "bulk", stop_s = 10,"#);
    let mut world = world(&text);
    // Each page takes six connections, and a TIME-WAIT of a minute.
    let mut most = [0, 0];
    for s in 1..400 {
        world.advance(Instant::from_millis(s * 1000));
        let half = usize::from(s > 200);
        most[half] = most[half].max(world.hosts.len());
    }
    assert!(most[1] <= most[0] + most[0] / 10, "{most:?}");
    assert!(most[1] > 50, "{most:?}");
}
