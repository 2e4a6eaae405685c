//! What has no window that the law could lower, at the client's edge: packets that leave wait until the law
//! lets them go, and echoes of the law's own tell it the delay.

use crate::events::{EventQueue, Kind, Target};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;
use tidegate_laws::{Hold, Path};
use tidegate_link::Packet as _;
use tidegate_scenario::{Run, Scenario, Udp};
use tidegate_time::Instant;

use crate::packet::Packet;

/// Between two echoes: 36 bytes each, 9.6 kbit/s.
const ECHO_INTERVAL: Duration = Duration::from_millis(30);

/// How long a flow without data is asked for.
const IDLE: Duration = Duration::from_secs(1);

/// A packet that waits.
#[derive(Debug)]
struct Waiting {
    packet: Packet,
    since: Instant,
    /// Bytes that had arrived when it was made.
    made: u64,
}

/// One flow: its record, and what waits of it.
#[derive(Debug)]
struct Flow {
    hold: Hold,
    workload: usize,
    arrived: Instant,
    waiting: VecDeque<Waiting>,
}

/// The client's flows without a window.
#[derive(Debug, Default)]
pub struct Windowless {
    /// By workload: whether its flows are held, and which workload asks for their delay.
    held: Vec<Option<(u32, usize)>>,
    numbers: BTreeMap<u64, usize>,
    flows: Vec<Flow>,
    /// By workload: whether it is asking.
    asking: Vec<bool>,
}

impl Windowless {
    /// Those of a scenario.
    pub fn new(scenario: &Scenario, run: &Run) -> Self {
        let workloads = &scenario.workloads;
        let on = run.udp == Udp::Hold && run.law == tidegate_laws::Law::Tide;
        let held = workloads.iter().map(|workload| {
            // Whose packets take the same way is asked for once.
            let asks = workloads
                .iter()
                .position(|other| other.windowless && other.links == workload.links);
            let held = on && workload.windowless && workload.steered;
            held.then_some((workload.weight as u32, asks?))
        });
        Self {
            held: held.collect(),
            asking: vec![false; workloads.len()],
            ..Self::default()
        }
    }

    fn is_held(&self, workload: usize) -> bool {
        self.held.get(workload).is_some_and(Option::is_some)
    }

    fn number(&mut self, packet: &Packet, workload: usize) -> usize {
        let next = self.flows.len();
        let number = *self.numbers.entry(packet.flow()).or_insert(next);
        if number == next {
            let mut hold = Hold::default();
            hold.weigh(self.held[workload].map_or(1, |(weight, _)| weight));
            self.flows.push(Flow {
                hold,
                workload,
                arrived: Instant::ZERO,
                waiting: VecDeque::new(),
            });
        }
        number
    }

    /// A packet of that workload arrives. Returns whether it goes on to its application.
    pub fn arrives(
        &mut self,
        path: &mut Path,
        events: &mut EventQueue,
        now: Instant,
        packet: &Packet,
        workload: usize,
    ) -> bool {
        if !self.is_held(workload) {
            return true;
        }
        let number = self.number(packet, workload);
        let flow = &mut self.flows[number];
        flow.arrived = now;
        let signal = flow.hold.arrives(path, micros(now), packet.bytes.into());
        events.wake_by(gate(number), now);
        let asks = self.held[workload].map_or(workload, |(_, asks)| asks);
        if flow.hold.is_bulk() && !self.asking[asks] {
            self.asking[asks] = true;
            events.wake_by(prober(asks), now);
        }
        !signal
    }

    /// A packet of that workload leaves: it is returned if it may at once, and waits else.
    pub fn leaves(
        &mut self,
        events: &mut EventQueue,
        now: Instant,
        packet: Packet,
        workload: usize,
    ) -> Option<Packet> {
        if !self.is_held(workload) {
            return Some(packet);
        }
        let number = self.number(&packet, workload);
        let flow = &mut self.flows[number];
        let made = flow.hold.arrived();
        if flow.waiting.is_empty() && flow.hold.wait_us(made) == 0 {
            flow.hold.leaves(made, micros(now), 0);
            return Some(packet);
        }
        flow.waiting.push_back(Waiting {
            packet,
            since: now,
            made,
        });
        events.wake_by(gate(number), now);
        None
    }

    /// The next packet of a flow that may leave.
    pub fn next(&mut self, events: &mut EventQueue, now: Instant, number: usize) -> Option<Packet> {
        let flow = self.flows.get_mut(number)?;
        let first = flow.waiting.front()?;
        let waited = now - first.since;
        let most = Duration::from_micros(tidegate_laws::sys::TG_HOLD_MAX_US.into());
        let wait = Duration::from_micros(flow.hold.wait_us(first.made).into()).min(most.saturating_sub(waited));
        if !wait.is_zero() {
            events.set(gate(number), Some(now + wait));
            return None;
        }
        let first = flow.waiting.pop_front()?;
        flow.hold
            .leaves(first.made, micros(now), waited.as_micros() as u32);
        Some(first.packet)
    }

    /// It is time to ask: whether that workload's flows still want to know, and when to ask again.
    pub fn ask(&mut self, events: &mut EventQueue, now: Instant, workload: usize) -> bool {
        let wanted = self
            .flows
            .iter()
            .any(|flow| {
                self.held[flow.workload].is_some_and(|(_, asks)| asks == workload)
                    && flow.hold.is_bulk()
                    && now - flow.arrived < IDLE
            });
        self.asking[workload] = wanted;
        events.set(prober(workload), wanted.then(|| now + ECHO_INTERVAL));
        wanted
    }

    /// That workload's echo has come back.
    pub fn answered(&mut self, path: &mut Path, now: Instant, workload: usize, rtt: Duration) {
        for flow in &mut self.flows {
            let asks = self.held[flow.workload].map(|(_, asks)| asks);
            if asks == Some(workload) && flow.hold.is_bulk() && now - flow.arrived < IDLE {
                flow.hold
                    .answered(path, micros(now), rtt.as_micros() as u32);
            }
        }
    }
}

/// What wakes a flow's packets.
fn gate(number: usize) -> Target {
    Target::new(Kind::Edge, 2 * number)
}

/// What makes a workload ask.
fn prober(workload: usize) -> Target {
    Target::new(Kind::Edge, 2 * workload + 1)
}

fn micros(at: Instant) -> u64 {
    at.as_nanos() / 1000
}
