//! Whether this machine is a router or has containers, and what of what it forwards the agent would not see.

use super::{Finding, Status};
use crate::config::Settings;
use crate::devices::Forwarding;
use tidegate_netfilter::{flowtables, tracked};
use tidegate_rtnetlink::{Link, default_routes};
use tidegate_scenario::Fair;

/// Connections that are tracked.
#[derive(Default)]
struct Connections {
    all: usize,
    translated: usize,
    offloaded: [usize; 2],
}

/// What forwards, and among whom the link would be divided.
pub fn findings(settings: &Settings, links: &[Link]) -> Vec<Finding> {
    let forwarding = Forwarding::find();
    let mut all = vec![shares(settings, forwarding)];
    match forwarding {
        Forwarding::Nobody => return all,
        Forwarding::Containers => all.push(containers(links)),
        Forwarding::Others => all.push(router()),
    }
    all.push(hidden());
    all.extend(bridges(settings, links));
    all
}

fn shares(settings: &Settings, forwarding: Forwarding) -> Finding {
    const NAME: &str = "shares";
    let by = if settings.agent.by_device {
        "device"
    } else {
        "flow"
    };
    let why = match (settings.fair, forwarding) {
        (Some(Fair::Device | Fair::Flow), _) => "as asked for",
        (None, Forwarding::Others) if settings.agent.by_device => {
            "as this machine forwards for others"
        }
        (None, Forwarding::Others) => "as this law divides nothing",
        (None, Forwarding::Containers) => "as this machine forwards for none but its containers",
        (None, Forwarding::Nobody) => "as this machine forwards for nobody",
    };
    Finding::new(NAME, Status::Ok, format!("by {by}, {why}"))
}

/// Virtual machines count as containers.
fn containers(links: &[Link]) -> Finding {
    let bridges = links.iter().filter(|link| link.is_inner && link.is_bridge);
    let bridges: Vec<_> = bridges.map(|link| link.name.as_str()).collect();
    let by = if bridges.is_empty() {
        String::new()
    } else {
        format!(" ({})", bridges.join(", "))
    };
    let found = format!("this machine forwards for its own containers{by}, and is no router");
    Finding::new("containers", Status::Ok, found)
}

fn router() -> Finding {
    const NAME: &str = "router";
    let advice = "devices behind translated addresses are told apart by connection tracking: load nf_conntrack_netlink";
    match connections() {
        Ok(Connections {
            all, translated, ..
        }) => {
            let found = format!(
                "this machine forwards; of {all} TCP connections that it tracks {translated} have translated addresses"
            );
            Finding::new(NAME, Status::Ok, found)
        }
        Err(error) => {
            let found =
                format!("this machine forwards; connection tracking cannot be asked: {error}");
            Finding::new(NAME, Status::Note, found).advise(advice)
        }
    }
}

fn connections() -> std::io::Result<Connections> {
    let mut found = Connections::default();
    tracked(|connection| {
        found.all += 1;
        let moved = connection.original.source != connection.reply.destination
            || connection.original.destination != connection.reply.source;
        found.translated += usize::from(moved);
        for (sum, is) in found.offloaded.iter_mut().zip(connection.offloaded) {
            *sum += usize::from(is);
        }
    })?;
    Ok(found)
}

/// What a flowtable forwards passes by the devices above the one that it takes packets from and gives them to; what the
/// hardware forwards passes by all programs.
fn hidden() -> Finding {
    const NAME: &str = "offload";
    // Without flowtables in the kernel there are none.
    let tables = flowtables().unwrap_or_default();
    let [_, hardware] = connections().map_or([0; 2], |found| found.offloaded);
    if tables.is_empty() && hardware == 0 {
        return Finding::new(NAME, Status::Ok, "no flowtable forwards past the programs");
    }
    let names: Vec<_> = tables
        .iter()
        .map(|table| format!("{} ({})", table.name, table.devices.join(", ")))
        .collect();
    if hardware > 0 || tables.iter().any(|table| table.hardware) {
        let found = format!(
            "hardware forwards by flowtable {}: {hardware} connections are hidden now, and not steered",
            names.join(", ")
        );
        return Finding::new(NAME, Status::Note, found)
            .advise("switch hardware offload off (docs/router.md)");
    }
    let found = format!(
        "flowtable {} forwards between the devices that it names: what goes through it is not seen on a bridge, VLAN or PPPoE device above them",
        names.join(", ")
    );
    Finding::new(NAME, Status::Note, found)
        .advise("let the agent run on the device towards the Internet that the flowtable names (docs/router.md)")
}

/// On a bridge's ports, and on a bridge that no default route leads to, data go the other way.
fn bridges(settings: &Settings, links: &[Link]) -> Option<Finding> {
    let crate::interfaces::Wanted::Named(names) = &settings.interfaces else {
        return None;
    };
    let out = default_routes().unwrap_or_default();
    let inner = links
        .iter()
        .filter(|link| link.is_bridge && names.contains(&link.name) && !out.contains(&link.index));
    let inner: Vec<_> = inner.map(|link| link.name.as_str()).collect();
    if inner.is_empty() {
        return None;
    }
    let found = format!(
        "{} is a bridge on the devices' side: what they download leaves there, and would be taken for uploads",
        inner.join(", ")
    );
    let finding = Finding::new("bridge", Status::Note, found);
    Some(
        finding.advise(
            "name the interface towards the Internet, or none, for that of the default route",
        ),
    )
}
