//! A box that bridges modem and router: its bridge has two ports and no address, and the agent runs on the port towards
//! the modem. Needs root, `ip` and `tc`, and says so if it is skipped.

#[path = "smoke/router/download.rs"]
mod download;
#[path = "sight/running.rs"]
#[allow(dead_code, reason = "it serves more tests than these")]
mod running;

use download::Download;
use nix::sys::signal::Signal;
use running::{Running, TIDEGATE, json};
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Command, Output};
use tidegate_lab::Namespace;
use tidegate_testing::{has_program, is_root};

/// The queue in front of the box, a third of a second deep.
const QUEUE: &str = "tc qdisc add dev near root tbf rate 5mbit burst 10kb limit 200kb";

/// The round trip with the queue that Reno builds.
const LONG_MS: f64 = 120.0;

struct Site {
    server: Namespace,
    /// Contains the modem's queue: on the server itself it would slow down the server's own TCP.
    provider: Namespace,
    the_box: Namespace,
    /// What is behind the box: a router or a machine.
    home: Namespace,
}

impl Site {
    fn new() -> Self {
        let site = Self {
            server: Namespace::new().unwrap(),
            provider: Namespace::new().unwrap(),
            the_box: Namespace::new().unwrap(),
            home: Namespace::new().unwrap(),
        };
        join((&site.server, "port"), (&site.provider, "far"));
        join((&site.the_box, "modem0"), (&site.provider, "near"));
        join((&site.the_box, "router0"), (&site.home, "wan"));
        // The steps that docs/router.md tells a person to do, except the ports' names.
        for line in [
            "ip link add br0 type bridge",
            "ip link set modem0 master br0",
            "ip link set router0 master br0",
            "ip link set br0 up",
        ] {
            sh(&site.the_box, line);
        }
        for (host, name, address, via) in [
            (&site.server, "port", "203.0.113.1/24", Some("203.0.113.2")),
            (&site.provider, "far", "203.0.113.2/24", None),
            (&site.provider, "near", "198.51.100.1/24", None),
            (&site.home, "wan", "198.51.100.2/24", Some("198.51.100.1")),
        ] {
            sh(host, &format!("ip address add {address} dev {name}"));
            if let Some(via) = via {
                sh(host, &format!("ip route add default via {via}"));
            }
        }
        sh(&site.provider, QUEUE);
        let forward = || Ok(std::fs::write("/proc/sys/net/ipv4/ip_forward", "1")?);
        site.provider.run(forward).unwrap();
        site
    }

    fn download(&self) -> Download {
        Download::start(&self.server, &self.home)
    }

    fn agent(&self, more: &[&str]) -> Running {
        let start = || Ok(Running::start_by(Command::new(TIDEGATE), more));
        self.the_box.run(start).unwrap()
    }
}

fn join((host, name): (&Namespace, &str), (other, peer): (&Namespace, &str)) {
    let (pid, fd) = (std::process::id(), other.as_fd().as_raw_fd());
    let there = format!("peer name {peer} netns /proc/{pid}/fd/{fd}");
    sh(host, &format!("ip link add {name} type veth {there}"));
    sh(host, &format!("ip link set {name} up"));
    sh(other, &format!("ip link set {peer} up"));
}

fn sh(host: &Namespace, line: &str) {
    let mut words = line.split(' ');
    let mut command = Command::new(words.next().unwrap());
    let status = host.run(|| Ok(command.args(words).status()?)).unwrap();
    assert!(status.success(), "{line}");
}

fn can() -> bool {
    is_root() && has_program("ip", "iproute2") && has_program("tc", "iproute2")
}

#[test]
fn a_box_between_modem_and_router_keeps_the_queue_short_and_fails_open() {
    if !can() {
        return;
    }
    let site = Site::new();
    let without = site.download().look();
    assert!(without.round_ms > LONG_MS, "{without:?}");
    let mut agent = site.agent(&["--iface", "modem0"]);
    let why = agent.event("hold_missing")["why"].to_string();
    assert!(why.contains("ports of bridges"), "{why}");
    let download = site.download();
    let with = download.look();
    println!("without the agent {without:?}, with it {with:?}");
    assert!(with.round_ms < without.round_ms / 2.0, "{with:?}");
    assert!(with.mbps > 0.9 * without.mbps, "{with:?}, {without:?}");
    let state = json(&agent.top(&["--json"]));
    let flows = state["flows"].as_array().unwrap();
    assert!(
        flows
            .iter()
            .any(|flow| flow["remote"]["address"] == "203.0.113.1"),
        "{state:#}"
    );
    // With no agent left to steer, all packets pass as before.
    agent.signal(Signal::SIGKILL);
    agent.child.wait().unwrap();
    let after = download.look();
    assert!(after.mbps > 0.9 * without.mbps, "{after:?}");
    drop(download);
    let anew = site.download().look();
    assert!(anew.round_ms > LONG_MS, "nobody steers any more: {anew:?}");
}

#[test]
fn check_and_the_log_name_the_port_to_be_on() {
    if !can() {
        return;
    }
    let site = Site::new();
    let run = |arguments: &[&str]| -> Output {
        let mut command = Command::new(TIDEGATE);
        site.the_box
            .run(|| Ok(command.args(arguments).output()?))
            .unwrap()
    };
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    // Behind veth devices there are containers of this machine, so its bridge needs no advice.
    let nowhere = text(&run(&["check"]));
    assert!(!nowhere.contains("br0 bridges"), "{nowhere}");
    for line in [
        "ip link add other type veth peer name other-far",
        "ip link add eno1 link other type macvlan",
        "ip link set eno1 master br0",
    ] {
        sh(&site.the_box, line);
    }
    let nowhere = text(&run(&["check"]));
    let advice = "br0 bridges modem0 and router0 and eno1: name the port towards the modem, --iface modem0 or router0 or eno1";
    assert!(nowhere.contains(advice), "{nowhere}");
    let there = run(&["check", "--iface", "modem0"]);
    assert!(there.status.success());
    let there = text(&there);
    assert!(there.contains("on modem0 with tide"), "{there}");
    assert!(!there.contains("would be held"), "{there}");
    assert!(
        there.contains("modem0: nothing can be held on a bridge's port"),
        "{there}"
    );
}
