//! Ways through proxies.

use crate::{Scenario, Workload, WorkloadKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A proxy of an mPath transfer.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct ProxySpec {
    /// Its name in the results.
    pub name: String,
    /// Names of the links on the way through it, in the order in which they are passed, in the
    /// direction of the data; without any it does not answer.
    pub links: Vec<String>,
}

impl Scenario {
    /// A way through a proxy over links that do not lead from the sender to the receiver.
    pub(crate) fn proxies_complaint(&self, workload: &Workload) -> Option<String> {
        let WorkloadKind::Mpath {
            direction, proxies, ..
        } = &workload.does
        else {
            return None;
        };
        let way = direction.name();
        let hops = self.hops.iter().filter(|hop| hop.direction == *direction);
        let mut known: BTreeSet<&str> = hops.map(|hop| hop.name.as_str()).collect();
        known.insert(way);
        let complaint = |proxy: &ProxySpec| {
            let mut links = proxy.links.iter();
            let unknown = links.find(|link| !known.contains(link.as_str()))?;
            Some(format!(
                "proxy \"{}\": no link {way} is named \"{unknown}\", expected {way} or a hop in that direction",
                proxy.name
            ))
        };
        proxies.iter().find_map(complaint)
    }
}
