//! Whether guests share the bridge that a default route leads to: containers and virtual machines with their own
//! address on the outer network, as Proxmox sets them up.

use super::{Finding, Status};
use crate::interfaces::Found;

/// Ports to name on a machine that bridges modem and router: no route leads to them, and no containers are behind them.
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

/// A note for each shared bridge.
pub fn findings(found: &Found) -> Vec<Finding> {
    let bridges = found.shared_bridges().into_iter();
    let note = bridges.map(|bridge| {
        Finding::new("bridge", Status::Note, bridge.message()).advise(bridge.advice())
    });
    note.collect()
}
