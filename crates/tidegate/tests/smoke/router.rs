//! Checks what docs/router.md says of VLANs, flowtables and tunnels: where the agent sees downloads, and where it does
//! not and says so. A slow link's queue is in front of the router; we measure its length at the data's sender.

mod download;
mod pppoe;
mod site;

use crate::agent::{Agent, tidegate};
use download::{Download, Seen};
use serde_json::Value;
use site::{Kind, Named, Site};
use std::process::Command;

/// A round trip with the queue that Reno builds: at least half of the buffer.
const LONG_MS: f64 = 120.0;

/// How many windows of a connection are lowered before a flowtable takes it.
const FIRST: u64 = 10;

/// Of a download's thousands of packets, this many may pass netfilter: before a flowtable takes it, and at the end,
/// when each packet in the queue is refused.
const HOOKED: u64 = 300;

/// The result of one download.
#[derive(Debug)]
struct Outcome {
    seen: Seen,
    lowered: u64,
    /// Whether a flowtable forwards it, in software.
    offloaded: bool,
    /// What is hidden, according to the agent.
    hidden: Value,
}

/// An agent on this interface, or on that of the default route.
fn agent(site: &Site, interface: Option<&str>) -> Agent {
    Agent::start_where(&site.router, |command: &mut Command| {
        if let Some(name) = interface {
            command.args(["--iface", name]);
        }
    })
}

fn look(site: &Site, what: &str, download: impl Fn() -> Download, agent: Option<Agent>) -> Outcome {
    let download = download();
    let seen = download.look();
    let report = agent.as_ref().map(Agent::report);
    let lowered = report.as_ref().map_or(0, Agent::lowered);
    let offloaded = site.offloaded();
    drop(download);
    if let Some(agent) = agent {
        agent.stop();
    }
    println!(
        "{what}: round trip {:.0} ms, {:.1} Mbit/s, {lowered} windows lowered, {offloaded:?} connections offloaded",
        seen.round_ms, seen.mbps
    );
    Outcome {
        seen,
        lowered,
        offloaded: offloaded[0] > 0,
        hidden: report.map_or(Value::Null, |mut report| report["agent"]["hidden"].take()),
    }
}

/// A download without an agent, with a long queue.
fn unsteered(site: &Site, download: impl Fn() -> Download) -> Outcome {
    let without = look(site, &format!("{site}, no agent"), download, None);
    assert!(without.seen.round_ms > LONG_MS, "{without:?}");
    without
}

impl Outcome {
    fn assert_steered(&self, without: Seen) {
        let Self {
            seen,
            lowered,
            hidden,
            ..
        } = self;
        assert!(*lowered > FIRST, "{self:?}");
        assert!(
            seen.round_ms < without.round_ms / 2.0,
            "{self:?}, {without:?}"
        );
        assert!(seen.mbps > 0.8 * without.mbps, "{self:?}, {without:?}");
        assert_eq!(*hidden, Value::Null);
    }

    /// The agent does not steer what it does not see, and says so.
    fn assert_hidden(&self, on: &str) {
        assert!(self.lowered <= FIRST, "{self:?}");
        assert!(self.seen.round_ms > LONG_MS, "{self:?}");
        let said = self.hidden.as_str().expect("it is said");
        assert!(said.contains(&format!("forwards below {on}:")), "{said}");
    }
}

#[test]
fn a_vlan_is_steered_on_its_device_and_on_the_port_below() {
    let Some(site) = Site::new(Kind::Vlan) else {
        return;
    };
    let download = || site.download();
    let without = unsteered(&site, download).seen;
    for interface in [None, Some("wan0")] {
        let what = format!(
            "Vlan, agent on {}",
            interface.unwrap_or("the default route")
        );
        let agent = agent(&site, interface);
        look(&site, &what, download, Some(agent)).assert_steered(without);
    }
}

/// A router whose flowtable forwards downloads, and the result of one without an agent. None if the kernel cannot do
/// it.
fn offloading(kind: Kind, named: Named) -> Option<(Site, Seen)> {
    let site = Site::new(kind)?;
    if !site.offload(named) {
        return None;
    }
    let without = unsteered(&site, || site.download());
    let (offloaded, left) = (without.offloaded, site.left_by_hooks());
    // Linux 7.3 forwards nothing for a flowtable that names a device without the one below it; 6.12 does.
    assert!(offloaded || named == Named::Upper, "nothing is offloaded");
    assert!(
        offloaded == (left <= HOOKED),
        "{left} packets have passed netfilter's hooks"
    );
    Some((site, without.seen))
}

fn look_at_offloaded(site: &Site, interface: &str) -> Outcome {
    let what = format!("{site}, agent on {interface}");
    let agent = agent(site, Some(interface));
    look(site, &what, || site.download(), Some(agent))
}

#[test]
fn a_flowtable_hides_nothing_on_the_devices_that_it_names() {
    for (kind, named, interfaces) in [
        (Kind::Port, Named::Ports, &["wan0"][..]),
        (Kind::Vlan, Named::Upper, &["wan0.7", "wan0"]),
        (Kind::Bridge, Named::Upper, &["br-wan"]),
    ] {
        let Some((site, without)) = offloading(kind, named) else {
            return;
        };
        for interface in interfaces {
            look_at_offloaded(&site, interface).assert_steered(without);
        }
        assert_eq!(checked(&site)["status"], "ok");
    }
}

#[test]
fn a_flowtable_hides_what_is_above_the_devices_that_it_names() {
    for (kind, named, upper) in [
        (Kind::Vlan, Named::Ports, "wan0.7"),
        (Kind::Bridge, Named::Both, "br-wan"),
    ] {
        let Some((site, without)) = offloading(kind, named) else {
            return;
        };
        look_at_offloaded(&site, upper).assert_hidden(upper);
        look_at_offloaded(&site, "wan0").assert_steered(without);
        let finding = checked(&site);
        assert_eq!(finding["status"], "note");
        let advice = finding["advice"].as_str().unwrap();
        assert!(advice.starts_with("--iface wan0,"), "{advice}");
        assert_eq!(logged(&site), [upper]);
    }
}

/// The agent does not understand frames below PPPoE.
#[test]
fn pppoe_is_steered_inside_unless_a_flowtable_is_below() {
    let Some((site, without)) = offloading(Kind::Pppoe, Named::Upper) else {
        return;
    };
    look_at_offloaded(&site, "ppp0").assert_steered(without);
    let below = look_at_offloaded(&site, "wan0");
    assert!(
        below.lowered == 0 && below.seen.round_ms > LONG_MS,
        "{below:?}"
    );
    let (site, _) = offloading(Kind::Pppoe, Named::Ports).unwrap();
    look_at_offloaded(&site, "ppp0").assert_hidden("ppp0");
    let advice = checked(&site)["advice"].take();
    assert_eq!(advice, "switch flow offload off (docs/router.md)");
}

/// What `tidegate check` reports of flow offload on the router, for an agent on the default route.
fn checked(site: &Site) -> Value {
    let run = || Ok(tidegate().args(["check", "--json"]).output()?);
    let output = site.router.run(run).unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut findings = found["findings"].as_array().unwrap().iter();
    let finding = findings.find(|finding| finding["name"] == "offload");
    finding.expect("it looks").clone()
}

/// Where traffic is hidden from an agent on the default route, according to each message in its log.
fn logged(site: &Site) -> Vec<String> {
    let run = || {
        Ok(tidegate()
            .args(["run", "--seconds", "3", "--log-format", "json"])
            .output()?)
    };
    let output = site.router.run(run).unwrap();
    let lines = output.stderr.split(|byte| *byte == b'\n');
    let events = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let hidden = events.filter(|event| event["event"] == "hidden");
    let names = hidden.flat_map(|event| event["interfaces"].as_array().unwrap().clone());
    names
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_tunnel_is_steered_inside() {
    let Some(site) = Site::new(Kind::Tunnel) else {
        return;
    };
    let downloads: [(&str, &dyn Fn() -> Download); 2] = [
        ("the router itself", &|| site.download_here()),
        ("a device behind it", &|| site.download()),
    ];
    for (who, download) in downloads {
        let without = unsteered(&site, download).seen;
        let what = format!("Tunnel, {who}, agent on the default routes");
        look(&site, &what, download, Some(agent(&site, None))).assert_steered(without);
    }
}
