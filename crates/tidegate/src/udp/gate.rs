//! The gate's process: says when packets leave, by the records that the kernel's programs keep.

use anyhow::{Context, Result};
use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use tidegate_agent::{AgentError, Records};
use tidegate_gate::{Flow, Law, Leaving, serve};

/// Serves the agent that started this process.
pub fn run() -> Result<()> {
    // The queue and its rules take CAP_NET_ADMIN, which stays.
    tidegate_agent::drop_capabilities()?;
    serve(|descriptors| Held::open(&descriptors)).context("the gate")
}

/// The law: what leaves of a flow waits until as much has arrived as its record says.
struct Held {
    records: Records,
    /// Which record each flow had last, and since when.
    places: HashMap<Flow, (usize, u64)>,
}

impl Held {
    fn open(descriptors: &[OwnedFd]) -> Result<Self, AgentError> {
        let [records] = descriptors else {
            return Err(AgentError::System {
                what: "receive the hold's records",
                source: std::io::ErrorKind::InvalidInput.into(),
            });
        };
        Ok(Self {
            records: Records::map(records.as_fd(), false)?,
            places: HashMap::new(),
        })
    }

    /// The flow's record; none if it has none any more.
    fn place(&mut self, flow: &Flow) -> Option<usize> {
        if let Some((place, since_us)) = self.places.get(flow) {
            let still = self.records.since_us(*place) == *since_us;
            return still.then_some(*place);
        }
        let all = self.records.candidates();
        let own = all.iter().find(|candidate| {
            (candidate.interface, candidate.local, candidate.remote)
                == (flow.interface, flow.local, flow.remote)
        })?;
        self.places.insert(*flow, (own.place, own.since_us));
        Some(own.place)
    }
}

impl Law for Held {
    fn came(&mut self, packet: &Leaving, _head: &[u8]) -> u64 {
        let place = self.place(&packet.flow);
        if place.is_none() {
            self.places.remove(&packet.flow);
        }
        place.map_or(0, |place| self.records.arrived(place))
    }

    fn wait_us(&mut self, packet: &Leaving, made: u64, _now_us: u64) -> u64 {
        let place = self.place(&packet.flow);
        place.map_or(0, |place| self.records.wait_us(place, made).into())
    }
}
