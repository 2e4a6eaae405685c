//! Whether guests share the bridge that a default route leads to: containers and virtual machines with an address of their
//! own outside, as Proxmox has them.

use super::{Finding, Status};
use crate::interfaces::Found;

/// What to name on a box that bridges modem and router: no route leads to it, and no network of containers is behind.
pub fn ports(found: &Found) -> Option<String> {
    let bridges = found.all.iter().filter(|link| link.is_bridge);
    let bridge = bridges.filter(|link| !link.is_inner).max_by_key(|bridge| {
        let ports = found.all.iter().filter(|p| p.bridge == Some(bridge.index));
        ports.count()
    })?;
    let ports = found.all.iter().filter(|p| p.bridge == Some(bridge.index));
    let ports: Vec<_> = ports.map(|port| port.name.as_str()).collect();
    (ports.len() > 1).then(|| {
        format!(
            "{} bridges {}: name the port towards the modem, --iface {}",
            bridge.name,
            ports.join(" and "),
            ports.join(" or ")
        )
    })
}

/// A note for each bridge.
pub fn findings(found: &Found) -> Vec<Finding> {
    let bridges = found.shared_bridges().into_iter();
    let note = bridges.map(|bridge| {
        Finding::new("bridge", Status::Note, bridge.message()).advise(bridge.advice())
    });
    note.collect()
}
