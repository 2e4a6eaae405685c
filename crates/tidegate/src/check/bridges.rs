//! Whether guests share the bridge that a default route leads to: containers and virtual machines with an address of their
//! own outside, as Proxmox has them.

use super::{Finding, Status};
use crate::interfaces::Found;

/// A note for each bridge.
pub fn findings(found: &Found) -> Vec<Finding> {
    let bridges = found.shared_bridges().into_iter();
    let note = bridges.map(|bridge| {
        Finding::new("bridge", Status::Note, bridge.message()).advise(bridge.advice())
    });
    note.collect()
}
