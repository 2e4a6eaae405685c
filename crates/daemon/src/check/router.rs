//! Whether this machine is a router or has containers, and which forwarded traffic the agent would not see.

use super::{Finding, Status};
use crate::config::Settings;
use crate::devices::Forwarding;
use crate::hidden::{Hidden, in_hardware};
use crate::interfaces::Found;
use tidegate_linux::netfilter::tracked;
use tidegate_linux::rtnetlink::{Link, default_routes};
use tidegate_scenario::Fair;

/// Connections in the connection tracking table.
#[derive(Default)]
struct Connections {
    all: usize,
    translated: usize,
}

/// Findings on forwarding, and on how the link would be divided.
pub fn findings(settings: &Settings, found: &Found) -> Vec<Finding> {
    let links = &found.all;
    let forwarding = Forwarding::find();
    let mut all = vec![shares(settings, forwarding)];
    match forwarding {
        Forwarding::Nobody => return all,
        Forwarding::Containers => all.push(containers(links)),
        Forwarding::Others => all.push(router()),
    }
    all.push(hidden(found));
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
        Ok(Connections { all, translated }) => {
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
    })?;
    Ok(found)
}

fn hidden(found: &Found) -> Finding {
    const NAME: &str = "offload";
    let Some(hidden) = Hidden::find(&found.interfaces) else {
        return Finding::new(NAME, Status::Ok, "no flowtable forwards past the programs");
    };
    let now = in_hardware().filter(|_| hidden.hardware);
    let now = now.map(|count| format!("; {count} connections are now"));
    let found = hidden.message() + &now.unwrap_or_default();
    Finding::new(NAME, Status::Note, found).advise(hidden.advice())
}

/// On a bridge's ports, and on a bridge that no default route leads to, downloads and uploads are swapped.
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
