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

/// How long it is taken for granted that a record is the flow's, in µs: a flow that the kernel has forgotten gets
/// another.
const SURE_US: u64 = 100_000;

/// Flows beyond which those are forgotten of which nothing has left for so long.
const FLOWS: usize = 512;

/// The law: what leaves of a flow waits until as much has arrived as its record says.
struct Held {
    records: Records,
    places: HashMap<Flow, Found>,
}

/// A flow's record.
struct Found {
    place: usize,
    since_us: u64,
    /// When it was looked for.
    at_us: u64,
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
    fn place(&mut self, flow: &Flow, now_us: u64) -> Option<usize> {
        if let Some(found) = self.places.get(flow) {
            let same = self.records.since_us(found.place) == found.since_us;
            if same && now_us.saturating_sub(found.at_us) < SURE_US {
                return Some(found.place);
            }
        }
        self.look(flow, now_us)
    }

    fn look(&mut self, flow: &Flow, now_us: u64) -> Option<usize> {
        self.places.remove(flow);
        if self.places.len() >= FLOWS {
            self.places
                .retain(|_, found| now_us.saturating_sub(found.at_us) < SURE_US);
        }
        let own = self.records.candidates().into_iter().find(|candidate| {
            (candidate.interface, candidate.local, candidate.remote)
                == (flow.interface, flow.local, flow.remote)
        })?;
        let found = Found {
            place: own.place,
            since_us: own.since_us,
            at_us: now_us,
        };
        self.places.insert(*flow, found);
        Some(own.place)
    }
}

impl Law for Held {
    fn came(&mut self, packet: &Leaving, _head: &[u8]) -> u64 {
        let place = self.place(&packet.flow, packet.at_us);
        place.map_or(0, |place| self.records.arrived(place))
    }

    fn wait_us(&mut self, packet: &Leaving, made: u64, now_us: u64) -> u64 {
        let place = self.place(&packet.flow, now_us);
        place.map_or(0, |place| self.records.wait_us(place, made).into())
    }
}
