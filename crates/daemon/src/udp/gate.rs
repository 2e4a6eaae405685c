//! The gate's process: it decides when packets leave, by the records that the kernel's programs keep.

use anyhow::{Context, Result};
use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};
use tidegate_agent::{AgentError, Direction, Lease, Records};
use tidegate_gate::{Flow, Law, Leaving, serve};

/// Serves the agent that started this process, until the agent ends.
pub fn run() -> Result<()> {
    // Queue and rules need CAP_NET_ADMIN, which we keep.
    tidegate_agent::drop_capabilities()?;
    serve(|descriptors| HoldLaw::open(&descriptors)).context("the gate")
}

/// How long we trust that a record still belongs to the flow, in µs: once the kernel has forgotten a flow, it gets
/// another record.
const SURE_US: u64 = 100_000;

/// The shortest wait before we ask again, in µs. The rest of a wait is estimated from the rate, and stays as it is,
/// however small, until more data have arrived.
const AGAIN_US: u64 = 1000;

/// The gate's laws. A packet of a download waits until enough bytes have arrived by its record, a packet of an upload
/// until enough have passed the uplink's queue.
struct HoldLaw {
    records: Records,
    /// Expires when nobody keeps the records up to date any more.
    lease: Lease,
    /// By direction: one connection may be both a download and an upload.
    places: HashMap<Flow, [Option<Found>; 2]>,
    /// When we last looked at all records, in µs.
    at_us: u64,
    /// Waiting bytes of each flow.
    waiting: HashMap<Flow, u32>,
}

/// A flow's record.
#[derive(Clone, Copy)]
struct Found {
    place: usize,
    since_us: u64,
}

impl HoldLaw {
    fn open(descriptors: &[OwnedFd]) -> Result<Self, AgentError> {
        let [records, lease] = descriptors else {
            return Err(AgentError::System {
                what: "receive the hold's records and lease",
                source: std::io::ErrorKind::InvalidInput.into(),
            });
        };
        Ok(Self {
            records: Records::map(records.as_fd(), true)?,
            lease: Lease::map(lease.as_fd(), false)?,
            places: HashMap::new(),
            at_us: 0,
            waiting: HashMap::new(),
        })
    }

    /// The flow's place in the table of records, for each direction; none if it has no record, or has it no longer.
    fn places(&mut self, flow: &Flow, now_us: u64) -> [Option<usize>; 2] {
        if now_us.saturating_sub(self.at_us) >= SURE_US || self.known(flow) == [None; 2] {
            self.look(now_us);
        }
        self.known(flow)
    }

    fn known(&self, flow: &Flow) -> [Option<usize>; 2] {
        let found = self.places.get(flow).copied().unwrap_or_default();
        let same = |found: &Found| self.records.since_us(found.place) == found.since_us;
        found.map(|found| found.filter(same).map(|found| found.place))
    }

    fn look(&mut self, now_us: u64) {
        self.places.clear();
        for candidate in self.records.candidates() {
            let flow = Flow {
                interface: candidate.interface,
                local: candidate.local,
                remote: candidate.remote,
            };
            let found = Found {
                place: candidate.place,
                since_us: candidate.since_us,
            };
            self.places.entry(flow).or_default()[candidate.direction as usize] = Some(found);
        }
        self.waiting.retain(|_, bytes| *bytes > 0);
        self.at_us = now_us;
    }

    /// Tells the law of uploads how many bytes wait.
    fn tell_waiting(&self, flow: &Flow) {
        if let Some(place) = self.known(flow)[Direction::Up as usize] {
            let bytes = self.waiting.get(flow).copied().unwrap_or(0);
            self.records.waits(place, bytes);
        }
    }
}

impl Law for HoldLaw {
    /// A mark for each direction: a flow may be both a download and an upload.
    type Mark = [u64; 2];

    fn came(&mut self, packet: &Leaving, _head: &[u8]) -> [u64; 2] {
        let places = self.places(&packet.flow, packet.at_us);
        let mark = |place| self.records.mark(place, packet.bytes);
        let marks = places.map(|place| place.map_or(0, mark));
        *self.waiting.entry(packet.flow).or_default() += packet.bytes;
        self.tell_waiting(&packet.flow);
        marks
    }

    fn wait_us(&mut self, packet: &Leaving, marks: [u64; 2], now_us: u64) -> u64 {
        if !self.lease.holds(now_us) {
            return 0;
        }
        let places = self.places(&packet.flow, now_us).into_iter().zip(marks);
        let waits = places.filter_map(|(place, mark)| Some(self.records.wait_us(place?, mark)));
        match waits.max().unwrap_or(0) {
            0 => 0,
            us => u64::from(us).max(AGAIN_US),
        }
    }

    fn leaves(&mut self, packet: &Leaving) {
        if let Some(bytes) = self.waiting.get_mut(&packet.flow) {
            *bytes -= packet.bytes.min(*bytes);
            self.tell_waiting(&packet.flow);
        }
    }

    fn may_hear_late(&self) -> bool {
        true
    }
}
