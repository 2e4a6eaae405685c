//! The gate's process: says when packets leave, by the records that the kernel's programs keep.

use anyhow::{Context, Result};
use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use tidegate_agent::{AgentError, Candidate, Records};
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

/// How long at least who has to wait is not asked about again, in µs. What is left of a wait is a guess by the rate;
/// until more data have arrived it stays as it is, however small.
const AGAIN_US: u64 = 1000;

/// The law: what leaves of a flow waits until as much has arrived as its record says.
struct Held {
    records: Records,
    places: HashMap<Flow, Found>,
    /// When all records were looked at.
    at_us: u64,
}

/// A flow's record.
struct Found {
    place: usize,
    since_us: u64,
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
            at_us: 0,
        })
    }

    /// The flow's record; none if it has none any more.
    fn place(&mut self, flow: &Flow, now_us: u64) -> Option<usize> {
        if now_us.saturating_sub(self.at_us) >= SURE_US || self.known(flow).is_none() {
            self.look(now_us);
        }
        self.known(flow)
    }

    fn known(&self, flow: &Flow) -> Option<usize> {
        let found = self.places.get(flow)?;
        let same = self.records.since_us(found.place) == found.since_us;
        same.then_some(found.place)
    }

    fn look(&mut self, now_us: u64) {
        let found = |candidate: Candidate| {
            let flow = Flow {
                interface: candidate.interface,
                local: candidate.local,
                remote: candidate.remote,
            };
            let found = Found {
                place: candidate.place,
                since_us: candidate.since_us,
            };
            (flow, found)
        };
        let candidates = self.records.candidates().into_iter();
        self.places = candidates.map(found).collect();
        self.at_us = now_us;
    }
}

impl Law for Held {
    fn came(&mut self, packet: &Leaving, _head: &[u8]) -> u64 {
        let place = self.place(&packet.flow, packet.at_us);
        place.map_or(0, |place| self.records.arrived(place))
    }

    fn wait_us(&mut self, packet: &Leaving, made: u64, now_us: u64) -> u64 {
        let place = self.place(&packet.flow, now_us);
        match place.map_or(0, |place| self.records.wait_us(place, made)) {
            0 => 0,
            us => u64::from(us).max(AGAIN_US),
        }
    }

    fn may_hear_late(&self) -> bool {
        true
    }
}
