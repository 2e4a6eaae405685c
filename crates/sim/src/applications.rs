//! Applications on the hosts: one for each flow, page reader and player.
//!
//! An application holds both its ends, client and server. What one end knows must still travel to the other.

mod datagrams;
mod exchange;
mod flow;
mod flows;
mod mpath;
mod on_off;
mod page;
mod ping;
mod sprout;
mod stream;
mod video;
mod web;

pub use flow::{Fetches, Flow, Sample};

use crate::hosts::Hosts;
use crate::idle::IdleWay;
use crate::network::Network;
use crate::packet::{ConnectionId, Datagram, Message, Packet, SproutMessage};
use crate::route::RouteId;
use crate::run::Unsupported;
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_measure::Window;
use tidegate_scenario::{
    Direction, FlowsSpec, LinkInputs, RunResult, Scenario, Side, Workload, WorkloadKind,
};
use tidegate_tcp::Connection;

/// An application. Each call that returns an instant asks to be woken then, or earlier.
pub trait Application: Send {
    /// Its term has begun, or the instant that it asked for has come; the call may be early. Returns when to be woken
    /// next.
    fn wake(&mut self, context: &mut Context) -> Option<Instant>;

    /// Something has happened to one end of its connection `tag`: there may be something to read, or
    /// room to write.
    fn progress(
        &mut self,
        _now: Instant,
        _tag: u32,
        _side: Side,
        _end: &mut Connection,
    ) -> Option<Instant> {
        None
    }

    /// A datagram has arrived; returns the length of the IP packet with the answer, if there is one.
    fn datagram(&mut self, _now: Instant, _side: Side, _datagram: &Datagram) -> Option<u64> {
        None
    }

    /// A packet of its mPath transfer has arrived.
    fn message(
        &mut self,
        _context: &mut Context,
        _side: Side,
        _message: &Message,
    ) -> Option<Instant> {
        None
    }

    /// A packet of its Sprout connection has arrived.
    fn sprout(
        &mut self,
        _context: &mut Context,
        _side: Side,
        _message: &SproutMessage,
    ) -> Option<Instant> {
        None
    }

    /// Both ends of connection `tag` are closed; afterwards it is removed. Its flow is observed a last time.
    fn closed(&mut self, now: Instant, _tag: u32, hosts: &Hosts) -> Option<Instant> {
        self.observe(hosts, now);
        None
    }

    /// Its term is over; the call may be repeated.
    fn stop(&mut self, _context: &mut Context) {}

    /// Its flow, if it has one that is reported.
    fn flow(&mut self) -> Option<&mut Flow> {
        None
    }

    /// Observes its flow, as often as all flows' RTTs are measured.
    fn observe(&mut self, hosts: &Hosts, now: Instant) {
        if let Some(flow) = self.flow() {
            flow.observe(hosts, now);
        }
    }

    /// Keeps a point for its curves.
    fn sample(&mut self, hosts: &Hosts, now: Instant) {
        if let Some(flow) = self.flow() {
            flow.sample(hosts, now);
        }
    }

    /// Adds what it has measured; `end` is the end of its term or of the run.
    fn report(&mut self, hosts: &Hosts, end: Instant, result: &mut RunResult);
}

/// The hosts and the network, for the application that is being called.
pub struct Context<'a> {
    /// The application's number.
    pub app: u32,
    /// Its workload's number.
    pub workload: usize,
    /// The hosts.
    pub hosts: &'a mut Hosts,
    /// The network between the hosts.
    pub network: &'a mut Network,
}

impl Context<'_> {
    /// The time.
    pub fn now(&self) -> Instant {
        self.network.now
    }

    /// Opens a connection from the client to the server.
    pub fn open(&mut self, tag: u32) -> ConnectionId {
        self.hosts.open(self.network, self.workload, self.app, tag)
    }

    /// Calls `act` with an end, if the connection still has it.
    pub fn with<T>(
        &mut self,
        connection: ConnectionId,
        side: Side,
        act: impl FnOnce(&mut Connection) -> T,
    ) -> Option<T> {
        let pair = self.hosts.pair_mut(connection)?;
        let result = act(pair.end_mut(side)?);
        pair.settle(self.network, side);
        Some(result)
    }

    /// Resets a connection, both its ends at once.
    pub fn abort(&mut self, connection: ConnectionId) {
        for side in [Side::Client, Side::Server] {
            self.with(connection, side, Connection::abort);
        }
        // Both ends know of the reset: packets still under way are dropped.
        if self.hosts.pair(connection).is_some() {
            self.hosts.remove(self.network, connection);
        }
    }

    /// Sends a datagram in an IP packet of `bytes`.
    pub fn send(&mut self, direction: Direction, bytes: u64) {
        let datagram = Datagram {
            app: self.app,
            sent: self.now(),
        };
        let route = RouteId::of(self.workload, direction);
        self.network.send(Packet::datagram(datagram, bytes, route));
    }
}

/// Sends packets of Sprout connections.
impl Context<'_> {
    /// Sends a packet in an IP packet of `bytes`.
    pub fn send_sprout(&mut self, direction: Direction, bytes: u64, message: SproutMessage) {
        let route = RouteId::of(self.workload, direction);
        let packet = Packet::sprout(self.app, message, bytes, route);
        self.network.send(packet);
    }
}

/// Sends packets of mPath transfers.
impl Context<'_> {
    /// Sends a packet in an IP packet of `bytes`, through the workload's proxy of that number if there
    /// is one.
    pub fn send_message(
        &mut self,
        direction: Direction,
        proxy: Option<u32>,
        bytes: u64,
        message: Message,
    ) {
        let route = match proxy {
            Some(proxy) => self.network.routes.through_proxy(self.workload, proxy),
            None => RouteId::of(self.workload, direction),
        };
        let packet = Packet::mpath(self.app, message, bytes, route);
        self.network.send(packet);
    }
}

/// An application with its term: when it starts and stops.
pub struct ScheduledApplication {
    /// The application.
    pub application: Box<dyn Application>,
    /// The number of its workload.
    pub workload: usize,
    /// When it begins.
    pub start: Instant,
    /// When it stops.
    pub stop: Instant,
}

/// Everything from which applications are built.
#[derive(Clone, Copy)]
pub struct Ingredients<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The recordings and other inputs that were read for it.
    pub inputs: &'a LinkInputs,
    /// Which part of the run counts.
    pub window: Window,
    /// Time from one point of their curves to the next; none without curves.
    pub bin: Option<Duration>,
}

/// All applications of a scenario.
///
/// # Errors
/// For a workload that only the laboratory can run.
pub fn build(from: &Ingredients) -> Result<Vec<ScheduledApplication>, Unsupported> {
    let mut applications = Vec::new();
    for (number, workload) in from.scenario.workloads.iter().enumerate() {
        check(workload)?;
        let [start, stop] = from.term(workload);
        for application in of_workload(from, number)? {
            applications.push(ScheduledApplication {
                application,
                workload: number,
                start,
                stop,
            });
        }
    }
    Ok(applications)
}

impl Ingredients<'_> {
    /// When a workload begins and stops.
    fn term(&self, workload: &Workload) -> [Instant; 2] {
        let end = self.window.end;
        let stop = workload.stop_s.map(Instant::from_secs_f64);
        let start = Instant::from_secs_f64(workload.start_s);
        [start, stop.map_or(end, |stop| stop.min(end))]
    }

    /// The flows of the workload of that number.
    fn flows(&self, number: usize, spec: &FlowsSpec) -> Result<flows::Flows, Unsupported> {
        let workload = &self.scenario.workloads[number];
        let sizes = self.inputs.sizes.get(number).cloned().flatten();
        let sizes = sizes.ok_or_else(|| {
            let name = &workload.name;
            Unsupported(format!(
                "workload \"{name}\": no sizes of its flows, expected what Scenario::link_inputs reads for this scenario"
            ))
        })?;
        let term = self.term(workload);
        let idle = IdleWay::new(self.scenario, self.inputs, workload, spec.direction, term);
        let chance = (self.scenario.seed, self.window);
        Ok(flows::Flows::new(&workload.name, spec, sizes, idle, chance))
    }
}

/// Whether the simulator has the workload.
///
/// # Errors
/// When only the laboratory has it.
pub fn check(workload: &Workload) -> Result<(), Unsupported> {
    let what = match workload.does {
        WorkloadKind::Command { .. } => "a command",
        WorkloadKind::Mptcp { .. } => "the kernel's MPTCP",
        _ => return Ok(()),
    };
    Err(Unsupported(format!(
        "workload \"{}\" is {what}, which only the laboratory can run",
        workload.name
    )))
}

fn of_workload(
    from: &Ingredients,
    number: usize,
) -> Result<Vec<Box<dyn Application>>, Unsupported> {
    let Ingredients {
        scenario,
        window,
        bin,
        ..
    } = *from;
    let (workload, seed) = (&scenario.workloads[number], scenario.seed);
    let name = &workload.name;
    Ok(match &workload.does {
        WorkloadKind::Bulk { .. }
        | WorkloadKind::Chunks { .. }
        | WorkloadKind::ConstantRate { .. }
        | WorkloadKind::Reader { .. } => stream::applications(name, &workload.does, window),
        WorkloadKind::Web {
            object_bytes,
            pause_s,
        } => vec![Box::new(web::Web::new(
            name,
            object_bytes,
            *pause_s,
            window,
        ))],
        WorkloadKind::Page {
            object_bytes,
            connections,
            request_bytes,
            pause_s,
        } => vec![Box::new(page::Page::new(
            name,
            page::Content {
                sizes: object_bytes.clone(),
                request_bytes: *request_bytes,
            },
            *connections,
            *pause_s,
            window,
        ))],
        WorkloadKind::Video {
            mbps,
            chunk_s,
            buffer_s,
            startup_s,
        } => vec![Box::new(video::Video::new(
            name,
            *mbps,
            [*chunk_s, *buffer_s, *startup_s],
            window,
        ))],
        WorkloadKind::AdaptiveVideo(spec) => {
            vec![Box::new(video::Video::adaptive(name, spec, window))]
        }
        WorkloadKind::Ping {
            interval_ms,
            packet_bytes,
        } => vec![Box::new(ping::Ping::new(
            name,
            *interval_ms,
            *packet_bytes,
            window,
            bin,
        ))],
        WorkloadKind::Datagrams {
            direction,
            mbps,
            packet_bytes,
            spacing,
        } => vec![Box::new(datagrams::Datagrams::new(
            name,
            *direction,
            *mbps,
            *packet_bytes,
            datagrams::Gaps::new(*spacing, seed, name),
            window,
        ))],
        WorkloadKind::OnOff(spec) => {
            vec![Box::new(on_off::OnOff::new(name, spec, seed, window))]
        }
        WorkloadKind::Mpath(transfer) => {
            vec![Box::new(mpath::Mpath::new(name, transfer, seed, window))]
        }
        WorkloadKind::Sprout(spec) => vec![Box::new(sprout::Sprout::new(name, spec, window))],
        WorkloadKind::Flows(spec) => vec![Box::new(from.flows(number, spec)?)],
        WorkloadKind::Command { .. } | WorkloadKind::Mptcp { .. } => Vec::new(),
    })
}
