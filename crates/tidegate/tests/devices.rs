//! `tidegate run` on a router with devices behind it: which share of the link each device gets. Namespaces act as
//! devices, with real TCP and an emulated link; needs root, TUN and `ip`, and says so if it is skipped.

#[path = "devices/lan.rs"]
mod lan;
#[path = "sight/running.rs"]
mod running;

use lan::{Lan, Traffic};
use running::{Running, TIDEGATE, json};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tidegate_lab::EmulatedHosts;
use tidegate_testing::{has_program, has_tun, is_root};

/// Rate of the link in both directions.
const RATE: f64 = 60e6;

/// One test at a time: a measurement needs the whole machine.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> Option<MutexGuard<'static, ()>> {
    let can = is_root() && has_tun() && has_program("ip", "iproute2");
    can.then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Jain's index of fairness.
fn jain(of: &[f64]) -> f64 {
    let sum: f64 = of.iter().sum();
    sum * sum / (of.len() as f64 * of.iter().map(|x| x * x).sum::<f64>())
}

/// Results of looks once a second: Mbit/s of each device, and the mean queue that `top` shows, in ms.
struct Seen {
    mbps: Vec<f64>,
    queue_ms: f64,
}

fn watch(lan: &Lan, agent: &Running, seconds: u32, up: bool) -> Seen {
    let (before, began) = (lan.carried(), Instant::now());
    let mut queues = Vec::new();
    for _ in 0..seconds {
        std::thread::sleep(Duration::from_secs(1));
        let state = json(&agent.top(&["--json"]));
        let direction = if up { "up" } else { "down" };
        for flow in state["flows"].as_array().unwrap() {
            if flow["direction"] == direction && flow["closed"] != true {
                queues.extend(flow["queue_us"].as_f64());
            }
        }
    }
    // `top` takes time, too.
    let seconds = began.elapsed().as_secs_f64();
    let mbps = lan.carried().into_iter().zip(before);
    let mbps = mbps.map(|(now, before)| (now - before) as f64 * 8e-6 / seconds);
    Seen {
        mbps: mbps.collect(),
        queue_ms: queues.iter().sum::<f64>() / 1e3 / queues.len().max(1) as f64,
    }
}

impl Seen {
    fn used(&self) -> f64 {
        self.mbps.iter().sum::<f64>() * 1e6 / RATE
    }

    fn say(&self, what: &str) {
        println!(
            "{what}: {:.1?} Mbit/s, Jain {:.3}, {:.1} % of the link, queue {:.1} ms",
            self.mbps,
            jain(&self.mbps),
            self.used() * 100.0,
            self.queue_ms
        );
    }
}

/// Starts an agent on the router's outer interface.
fn start(lan: &Lan, more: &[&str]) -> Running {
    let begin = || {
        let wan = ["--iface", EmulatedHosts::INTERFACE];
        Ok(Running::start_by(
            Command::new(TIDEGATE),
            &[&wan, more].concat(),
        ))
    };
    lan.router().run(begin).unwrap()
}

/// How many flows each device has according to `top`, the fewest first; none for a device without an inner address.
fn flows_by_device(agent: &Running, up: bool) -> Vec<Option<usize>> {
    let state = json(&agent.top(&["--json"]));
    let paths = state["paths"].as_array().unwrap();
    let direction = if up { "up" } else { "down" };
    let path = paths.iter().find(|p| p["direction"] == direction).unwrap();
    let known = state["devices"].as_array().unwrap();
    let flows = |row: &serde_json::Value| {
        let device = known.iter().find(|d| d["number"] == row["device"])?;
        device["mac"].as_str()?;
        row["flows"].as_u64().map(|flows| flows as usize)
    };
    let mut all: Vec<_> = path["devices"]
        .as_array()
        .unwrap()
        .iter()
        .map(flows)
        .collect();
    all.sort_unstable();
    all
}

/// The shares of four devices with these numbers of connections, by device and by flow.
fn compare(flows: [usize; 4], traffic: Traffic) -> [Seen; 2] {
    let up = traffic == Traffic::Uploads;
    ["device", "flow"].map(|fair| {
        let lan = Lan::new(4, RATE);
        let mut agent = start(&lan, &["--fair", fair]);
        for (device, flows) in flows.into_iter().enumerate() {
            lan.start(device, flows, traffic);
        }
        watch(&lan, &agent, 12, up);
        let seen = watch(&lan, &agent, 12, up);
        seen.say(&format!("{flows:?} {traffic:?}, by {fair}"));
        if fair == "device" {
            assert_eq!(flows_by_device(&agent, up), flows.map(Some).to_vec());
        }
        agent.interrupt();
        seen
    })
}

/// Each device gets a quarter; the link is as full as by flow, and its queue no longer.
fn assert_fair([by_device, by_flow]: &[Seen; 2]) {
    assert!(jain(&by_device.mbps) >= 0.95, "{:?}", by_device.mbps);
    assert!(jain(&by_flow.mbps) < 0.85, "{:?}", by_flow.mbps);
    let [used, before] = [by_device.used(), by_flow.used()];
    assert!(used >= 0.95 * before, "{used} {before}");
    // If both queues are short, either may be the longer one: these are means over only a few seconds.
    let [queue, before] = [by_device.queue_ms, by_flow.queue_ms];
    assert!(queue <= (before + 5.0).max(20.0), "{queue} ms, {before} ms");
}

#[test]
fn four_devices_behind_one_address_have_a_quarter_each() {
    let Some(_turn) = turn() else { return };
    assert_fair(&compare([1, 1, 4, 16], Traffic::Downloads));
}

#[test]
fn so_they_have_for_their_uploads() {
    let Some(_turn) = turn() else { return };
    assert_fair(&compare([1, 1, 2, 4], Traffic::Uploads));
}

#[test]
#[ignore = "sixteen uploads at less than 1 Mbit/s each have more than their device's part: Jain's index was 0.96, and 0.87 to 0.95 before"]
fn so_they_have_for_many_uploads() {
    let Some(_turn) = turn() else { return };
    assert_fair(&compare([1, 1, 4, 16], Traffic::Uploads));
}

/// One device has weight two, selected by its MAC. When a device stops, the others get its share at once.
#[test]
fn a_device_has_what_it_weighs_and_leaves_it_when_it_stops() {
    let Some(_turn) = turn() else { return };
    let lan = Lan::new(3, RATE);
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("tidegate.toml");
    let text = format!(
        "fair = \"device\"\n[[device]]\nmac = \"{}\"\nweight = 2\n",
        lan.mac(0)
    );
    std::fs::write(&file, text).unwrap();
    let agent = start(&lan, &["--config", file.to_str().unwrap()]);
    for (device, flows) in [1, 2, 6].into_iter().enumerate() {
        lan.start(device, flows, Traffic::Downloads);
    }
    watch(&lan, &agent, 12, false);
    let seen = watch(&lan, &agent, 10, false);
    seen.say("weights 2, 1, 1");
    let parts = [seen.mbps[0] / 2.0, seen.mbps[1], seen.mbps[2]];
    assert!(jain(&parts) >= 0.95, "{:?}", seen.mbps);
    lan.stop(0);
    std::thread::sleep(Duration::from_secs(1));
    let seen = watch(&lan, &agent, 4, false);
    seen.say("the first has stopped");
    assert!(jain(&seen.mbps[1..]) >= 0.95, "{:?}", seen.mbps);
    assert!(seen.used() >= 0.85, "{:?}", seen.mbps);
}

/// One device has eight addresses, and each of its connections uses another.
#[test]
fn a_device_with_many_addresses_is_one() {
    let Some(_turn) = turn() else { return };
    let lan = Lan::new(2, RATE);
    let agent = start(&lan, &["--fair", "device"]);
    lan.start(0, 1, Traffic::DownloadsV6);
    lan.start(1, 8, Traffic::DownloadsV6);
    watch(&lan, &agent, 12, false);
    // On a busy machine neighbours are learned late. By flow it would never pass: a ninth for one of two devices is a
    // Jain index of 0.6.
    let settled = (0..4).any(|_| {
        let seen = watch(&lan, &agent, 10, false);
        seen.say("one address, and eight");
        jain(&seen.mbps) >= 0.95
    });
    assert!(settled, "the shares do not settle");
}
