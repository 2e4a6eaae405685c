//! Flows whose window the law cannot lower, held at the client's edge. Packets that leave wait until the law lets them
//! go: for a download those that answer its data, for an upload its data. The law's own echoes measure the delay.

use crate::events::{EventQueue, Kind, Target};
use crate::packet::{ECHO_BYTES, Packet};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_laws::{Hold, Law, UploadHold};
use tidegate_link::Packet as _;
use tidegate_measure::Durations;
use tidegate_scenario::{HeldResult, Run, Scenario, Udp};
use tidegate_tcp::steer::Paths;

/// Bits a second of all echoes to one server.
const ECHO_BPS: u64 = 10_000;

/// How long echoes continue after the last packet of a flow.
const IDLE: Duration = Duration::from_secs(1);

/// A packet that waits.
#[derive(Debug)]
struct Waiting {
    packet: Packet,
    since: Instant,
    /// Bytes that had arrived when the packet was made.
    made: u64,
    /// Its offset among all bytes that leave.
    offset: u64,
}

/// A packet that has been released.
#[derive(Debug)]
pub struct Released {
    packet: Packet,
    /// Whether its sender is to be signalled congestion.
    signalled: bool,
}

impl Released {
    /// The packet, marked if it carries a signal. A signal drops a packet that is not ECN-capable.
    pub fn passes(mut self) -> Option<Packet> {
        (!self.signalled || signal(&mut self.packet)).then_some(self.packet)
    }
}

/// Marks a packet, as the kernel's programs do. Returns whether it is ECN-capable.
pub fn signal(packet: &mut Packet) -> bool {
    let capable = packet.ecn().is_capable();
    if capable {
        packet.mark();
    }
    capable
}

/// One flow: its state as a download and as an upload, and its waiting packets.
#[derive(Debug)]
struct Flow {
    hold: Hold,
    upload: UploadHold,
    workload: usize,
    /// When its first packet left; none once the first has arrived.
    opened: Option<Instant>,
    arrived: Instant,
    waiting: VecDeque<Waiting>,
}

impl Flow {
    /// Bytes of the flow arrive. Returns whether they must signal congestion.
    fn arrives(&mut self, paths: &mut Paths, now_us: u64, bytes: u32) -> bool {
        let back_us = paths.down.queue_us(now_us);
        self.upload.arrives(&mut paths.up, now_us, bytes, back_us);
        self.hold.arrives(&mut paths.down, now_us, bytes)
    }

    /// An echo to its server has come back.
    fn echoed(&mut self, paths: &mut Paths, now_us: u64, rtt_us: u32, floor_us: Option<u32>) {
        let back_us = paths.down.queue_us(now_us);
        let (hold, upload) = (&mut self.hold, &mut self.upload);
        hold.answered(&mut paths.down, now_us, rtt_us, floor_us);
        upload.answered(&mut paths.up, now_us, rtt_us, floor_us, back_us);
    }

    /// The round trip without a queue, if it is known.
    fn floor_us(&self) -> Option<u32> {
        self.hold.floor_us()
    }

    fn wants_echoes(&self, now: Instant) -> bool {
        (self.hold.asks() || self.upload.asks()) && now - self.arrived < IDLE
    }
}

/// A workload whose flows are held, and counts of its packets.
#[derive(Debug)]
struct HeldWorkload {
    weight: u32,
    /// The first workload whose packets take the same route: it sends the echoes for all of them.
    prober: usize,
    result: HeldResult,
    waits: Durations,
}

/// The client's flows without a window.
#[derive(Debug, Default)]
pub struct Windowless {
    /// By workload; none for those that are left alone.
    held: Vec<Option<HeldWorkload>>,
    /// By workload: whether it sends echoes.
    probing: Vec<bool>,
    flows: Vec<Flow>,
    /// Index in `flows` of each, by the number that links know it by.
    numbers: HashMap<u64, usize>,
}

impl Windowless {
    /// None yet.
    pub fn new(scenario: &Scenario, run: &Run) -> Self {
        let on = run.udp == Udp::Hold && run.law == Law::Tide;
        let workloads = &scenario.workloads;
        let held = workloads.iter().map(|workload| {
            let same = |links| {
                workloads
                    .iter()
                    .position(|w| w.windowless && &w.links == links)
            };
            (on && workload.windowless && workload.steered).then(|| HeldWorkload {
                weight: workload.weight as u32,
                prober: same(&workload.links).expect("it is one itself"),
                result: HeldResult {
                    name: workload.name.clone(),
                    ..HeldResult::default()
                },
                waits: Durations::new(),
            })
        });
        Self {
            held: held.collect(),
            probing: vec![false; workloads.len()],
            ..Self::default()
        }
    }

    /// The index of a packet's flow, if its workload is held.
    fn number(&mut self, packet: &Packet, workload: usize) -> Option<usize> {
        let held = self.held[workload].as_ref()?;
        let next = self.flows.len();
        let number = *self.numbers.entry(packet.flow()).or_insert(next);
        if number == next {
            let (mut hold, mut upload) = (Hold::default(), UploadHold::default());
            hold.weigh(held.weight);
            upload.weigh(held.weight);
            self.flows.push(Flow {
                hold,
                upload,
                workload,
                opened: None,
                arrived: Instant::ZERO,
                waiting: VecDeque::new(),
            });
        }
        Some(number)
    }

    fn prober(&self, workload: usize) -> Option<usize> {
        Some(self.held[workload].as_ref()?.prober)
    }

    /// A packet of that workload arrives. Returns whether it goes on to its application.
    pub fn arrives(
        &mut self,
        paths: &mut Paths,
        events: &mut EventQueue,
        now: Instant,
        packet: &Packet,
        workload: usize,
    ) -> bool {
        let Some(number) = self.number(packet, workload) else {
            return true;
        };
        let flow = &mut self.flows[number];
        flow.arrived = now;
        if let Some(opened) = flow.opened.take() {
            let us = (now - opened).as_micros() as u32;
            flow.hold.shook_hands(us);
            flow.upload.shook_hands(us);
        }
        let signalled = flow.arrives(paths, micros(now), packet.bytes.into());
        let wants_echoes = flow.wants_echoes(now);
        if !flow.waiting.is_empty() {
            events.wake_by(Timer::Release(number).target(), now);
        }
        if let Some(held) = &mut self.held[workload] {
            held.result.arrived += 1;
            held.result.signalled += u64::from(signalled);
            if wants_echoes && !self.probing[held.prober] {
                self.probing[held.prober] = true;
                events.wake_by(Timer::Echo(held.prober).target(), now);
            }
        }
        !signalled
    }

    /// A packet of that workload leaves: returned if it can leave at once; otherwise it waits.
    pub fn leaves(
        &mut self,
        events: &mut EventQueue,
        now: Instant,
        packet: Packet,
        workload: usize,
    ) -> Option<Released> {
        let Some(number) = self.number(&packet, workload) else {
            return Some(Released {
                packet,
                signalled: false,
            });
        };
        let flow = &mut self.flows[number];
        let made = flow.hold.arrived();
        let middle = flow.upload.comes(packet.bytes.into());
        if flow.arrived == Instant::ZERO && flow.opened.is_none() {
            flow.opened = Some(now);
        }
        flow.waiting.push_back(Waiting {
            packet,
            since: now,
            made,
            offset: middle,
        });
        if flow.waiting.len() > 1 {
            return None;
        }
        self.release(events, now, number)
    }

    /// The next packet of a flow that is released.
    pub fn release(
        &mut self,
        events: &mut EventQueue,
        now: Instant,
        number: usize,
    ) -> Option<Released> {
        let flow = &mut self.flows[number];
        let first = flow.waiting.front()?;
        let waited = now - first.since;
        let wait_us = flow.hold.wait_us(first.made);
        let wait_us = wait_us.max(flow.upload.wait_us(first.offset));
        let wait = Duration::from_micros(wait_us.into()).min(Hold::LONGEST.saturating_sub(waited));
        if !wait.is_zero() {
            events.set(Timer::Release(number).target(), Some(now + wait));
            return None;
        }
        let Waiting { packet, .. } = flow.waiting.pop_front()?;
        flow.hold.leaves(micros(now), packet.bytes.into());
        let signalled = flow.upload.leaves(micros(now), packet.bytes.into());
        if let Some(held) = &mut self.held[flow.workload] {
            held.result.left += 1;
            held.result.signalled += u64::from(signalled);
            if !waited.is_zero() {
                held.result.held += 1;
                held.waits.record(waited);
            }
        }
        Some(Released { packet, signalled })
    }

    /// That workload's next echo is due. Returns whether to send it: whether a flow still needs the delay.
    pub fn wants_echo(&mut self, events: &mut EventQueue, now: Instant, workload: usize) -> bool {
        let mut flows = self.flows.iter();
        let wanted = flows
            .any(|flow| self.prober(flow.workload) == Some(workload) && flow.wants_echoes(now));
        self.probing[workload] = wanted;
        let interval = Duration::from_micros(ECHO_BYTES * 8 * 1_000_000 / ECHO_BPS);
        events.set(
            Timer::Echo(workload).target(),
            wanted.then(|| now + interval),
        );
        wanted
    }

    /// That workload's echo has come back.
    pub fn echoed(&mut self, paths: &mut Paths, now: Instant, workload: usize, rtt: Duration) {
        let held = &self.held;
        let asks =
            |flow: &Flow| held[flow.workload].as_ref().map(|held| held.prober) == Some(workload);
        let known = self.flows.iter().filter(|flow| asks(flow));
        let floor_us = known.filter_map(Flow::floor_us).min();
        let rtt_us = rtt.as_micros() as u32;
        for flow in self.flows.iter_mut().filter(|flow| asks(flow)) {
            if flow.wants_echoes(now) {
                flow.echoed(paths, micros(now), rtt_us, floor_us);
            }
        }
    }

    /// Counts of each workload's packets.
    pub fn results(&self) -> Vec<HeldResult> {
        let held = self.held.iter().flatten();
        held.map(|held| HeldResult {
            wait_ms: held.waits.quantiles_ms(),
            ..held.result.clone()
        })
        .collect()
    }
}

/// Timers at the client's edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// Packets of the flow of that number may leave.
    Release(usize),
    /// The workload of that number sends its next echo.
    Echo(usize),
}

impl Timer {
    /// The timer of a [`Target`]'s number.
    pub fn of(number: usize) -> Self {
        if number.is_multiple_of(2) {
            Self::Release(number / 2)
        } else {
            Self::Echo(number / 2)
        }
    }

    fn target(self) -> Target {
        let number = match self {
            Self::Release(flow) => 2 * flow,
            Self::Echo(workload) => 2 * workload + 1,
        };
        Target::new(Kind::Edge, number)
    }
}

fn micros(at: Instant) -> u64 {
    at.as_nanos() / 1000
}

#[cfg(test)]
mod tests;
