//! Steering on and off: the agent of `tidegate run`, which passes all packets unsteered in the slots without steering.

use super::TryArgs;
use super::slot::Way;
use anyhow::{Context, Result};
use std::collections::{BTreeMap, HashMap};
use tidegate_agent::{
    Agent, Direction, Ecn, Endpoint, Holding, Interface, Kind, WindowlessView, leftovers,
};
use tidegate_command::exit::BadInput;
use tidegate_daemon::{Idle, Operation, RunArgs, Windowless, now_us, settings};
use tidegate_laws::Law;
use tidegate_scenario::Fair;

/// The agent, on all interfaces of the trial.
pub struct Steering {
    // Dropped before the agent: its programs share the agent's queues.
    windowless: Windowless,
    agent: Agent,
    law: Law,
    // Holds the lock of this network namespace until the agent has gone.
    _operation: Operation,
}

/// Bytes of each flow without a window so far, and whether it is held.
#[derive(Clone, Debug, Default)]
pub struct Flows(HashMap<WindowlessWay, (u64, Option<Holding>)>);

/// One direction of a flow without a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct WindowlessWay {
    ifindex: u32,
    local: Endpoint,
    remote: Endpoint,
    protocol: u32,
    direction: Direction,
}

/// What interfaces have carried so far, by direction and kind: bytes, and marked packets.
#[derive(Clone, Debug, Default)]
pub struct Traffic([BTreeMap<&'static str, Carried>; 2]);

#[derive(Clone, Copy, Debug, Default)]
struct Carried {
    class: Class,
    bytes: u64,
    marked: u64,
}

/// What the law can do about a kind of traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Class {
    #[default]
    Reached,
    Left,
    Windowless,
}

impl Steering {
    /// Attaches the agent to the requested interfaces, or to those of the default routes, and passes everything
    /// unsteered.
    ///
    /// # Errors
    /// If another agent runs or has left its programs, or if an interface does not exist.
    pub fn start(args: &TryArgs) -> Result<Self> {
        let run = RunArgs {
            iface: args.iface.clone(),
            law: Some(args.law),
            // The load runs on this machine, so no other device shares it.
            fair: args.law.is_on_path().then_some(Fair::Flow),
            ..RunArgs::default()
        };
        let settings = settings(&run)?;
        let interfaces = settings.interfaces.find()?;
        let interfaces = interfaces.at_least_one(&settings.interfaces)?;
        let law = settings.agent.params.law;
        let terms = settings.udp.clone();
        let (operation, mut agent) = Operation::start(settings)
            .context("try switches steering on and off by itself, and goes with no other agent")?;
        if !leftovers()?.is_empty() {
            let message = "an agent without a process steers here, which try would not switch off; `tidegate stop` removes it";
            return Err(BadInput(message.into()).into());
        }
        interfaces
            .iter()
            .try_for_each(|interface| agent.attach(interface))?;
        let mut steering = Self {
            windowless: Windowless::start(&terms, false, &agent, &interfaces, || {})?,
            agent,
            law,
            _operation: operation,
        };
        steering.steer(false)?;
        Ok(steering)
    }

    /// Begins to steer, or passes everything unsteered.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn steer(&mut self, on: bool) -> Result<()> {
        self.agent.pass_until(if on { 0 } else { u64::MAX });
        self.windowless
            .set_idle(if on { Idle::Nothing } else { Idle::Hold })
    }

    /// The flows without a window so far.
    pub fn flows(&self) -> Flows {
        let mut ways = self.agent.windowless();
        if let Some(watched) = self.windowless.watch() {
            watched.explain(&mut ways, now_us());
        }
        let one = |way: WindowlessView| {
            let flow = WindowlessWay {
                ifindex: way.ifindex,
                local: way.local,
                remote: way.remote,
                protocol: way.protocol,
                direction: way.direction,
            };
            (flow, (way.bytes, way.hold.map(|hold| hold.state)))
        };
        Flows(ways.into_iter().map(one).collect())
    }

    /// The interfaces that it is attached to.
    pub fn interfaces(&self) -> &[Interface] {
        self.agent.interfaces()
    }

    /// The bytes carried so far.
    pub fn traffic(&self) -> Traffic {
        let mut traffic = Traffic::default();
        for direction in Direction::ALL {
            let kinds = &mut traffic.0[direction as usize];
            for interface in self.agent.interfaces() {
                for carried in self.agent.traffic(direction, interface.index) {
                    let known = kinds.entry(carried.kind.in_words()).or_default();
                    known.class = self.class(carried.kind, direction);
                    known.bytes += carried.bytes;
                    if carried.ecn == Ecn::Ce {
                        known.marked += carried.packets;
                    }
                }
            }
        }
        traffic
    }

    fn class(&self, kind: Kind, direction: Direction) -> Class {
        match kind {
            kind if kind.is_reached(self.law, direction) => Class::Reached,
            Kind::Tcp | Kind::NoTimestamps | Kind::TcpLeft => Class::Left,
            _ => Class::Windowless,
        }
    }
}

impl Flows {
    /// Fills in how many bytes in one direction were held since `earlier`, and why most of the rest were not.
    pub fn tell(&self, earlier: &Self, direction: Direction, way: &mut Way) {
        let mut by_state: BTreeMap<Option<Holding>, u64> = BTreeMap::new();
        for (flow, (bytes, state)) in self
            .0
            .iter()
            .filter(|(flow, _)| flow.direction == direction)
        {
            let before = earlier.0.get(flow).map_or(0, |(bytes, _)| *bytes);
            *by_state.entry(*state).or_default() += bytes.saturating_sub(before);
        }
        let is_held = |state: &Option<Holding>| state.is_some_and(Holding::is_steered);
        let all: u64 = by_state.values().sum();
        let held = by_state.iter().filter(|(state, _)| is_held(state));
        let held: u64 = held.map(|(_, bytes)| *bytes).sum();
        // In proportion: the flows count payload, the interface counts headers, too.
        let part = held as f64 / all.max(1) as f64;
        way.held_bytes = (part * way.windowless_bytes as f64) as u64;
        way.windowless_bytes -= way.held_bytes;
        let others = by_state.into_iter().filter(|(state, _)| !is_held(state));
        way.unheld = others
            .max_by_key(|(_, bytes)| *bytes)
            .and_then(|(state, _)| state);
    }
}

impl Traffic {
    /// Bytes in both directions.
    pub fn bytes(&self) -> u64 {
        let kinds = self.0.iter().flat_map(BTreeMap::values);
        kinds.map(|carried| carried.bytes).sum()
    }

    /// Bytes in one direction.
    pub fn bytes_of(&self, direction: Direction) -> u64 {
        let kinds = self.0[direction as usize].values();
        kinds.map(|carried| carried.bytes).sum()
    }

    /// The bytes since `earlier`, by [`Direction::ALL`].
    pub fn since(&self, earlier: &Self) -> [Way; 2] {
        Direction::ALL.map(|direction| {
            let mut way = Way::default();
            let mut most = 0;
            for (kind, now) in &self.0[direction as usize] {
                let before = earlier.0[direction as usize].get(kind);
                let before = before.copied().unwrap_or_default();
                let bytes = now.bytes.saturating_sub(before.bytes);
                way.marked_packets += now.marked.saturating_sub(before.marked);
                match now.class {
                    Class::Reached => way.reached_bytes += bytes,
                    Class::Left => way.left_bytes += bytes,
                    Class::Windowless => {
                        way.windowless_bytes += bytes;
                        if bytes > most {
                            (most, way.windowless) = (bytes, Some((*kind).to_owned()));
                        }
                    }
                }
            }
            way
        })
    }
}
