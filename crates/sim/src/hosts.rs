//! The two hosts: their connections and settings.

use crate::events::{Kind, Target};
use crate::network::Network;
use crate::own::{self, Own, Steering};
use crate::packet::{ConnectionId, Packet, index, side};
use crate::random;
use crate::route::RouteId;
use crate::run::Unsupported;
use crate::settings;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use slab::Slab;
use std::sync::Arc;
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_laws::Params;
use tidegate_scenario::{Direction, Fair, Run, Scenario, Side, Workload};
use tidegate_tcp::cc::Manual;
use tidegate_tcp::steer::{Edge, NO_LAW, Shares};
use tidegate_tcp::{Config, Connection, ReceiveBuffer, Segment, Seq, State, Ticks};

/// Both ends of a connection.
#[derive(Debug)]
pub struct Pair {
    /// Client, server; the server's appears with the SYN.
    ends: [Option<Connection>; 2],
    id: ConnectionId,
    /// The application that it belongs to, and that application's tag for it.
    pub app: u32,
    /// See [`Self::app`].
    pub tag: u32,
    /// Routes of what the client and the server send.
    routes: [RouteId; 2],
    answer: Config,
    /// The laws at the client's and the server's edge.
    edges: [Option<Box<Edge>>; 2],
    /// The law of the caller's own, if there is one.
    own: Option<Box<Steering>>,
}

impl Pair {
    /// That side's end; none before the SYN has arrived.
    pub fn end(&self, side: Side) -> Option<&Connection> {
        self.ends[index(side)].as_ref()
    }

    /// As [`Self::end`]. A caller that changes it must call [`Self::settle`].
    pub fn end_mut(&mut self, side: Side) -> Option<&mut Connection> {
        self.ends[index(side)].as_mut()
    }

    /// The last round trip in µs that a law has measured with the data of that direction: at the
    /// client, or else at the server.
    pub fn law_rtt_us(&self, direction: Direction) -> Option<u32> {
        let [client, server] = self.edges.each_ref().map(Option::as_deref);
        match direction {
            Direction::Down => client?.flow().rtt_us(),
            Direction::Up => match client.and_then(Edge::upload) {
                Some(upload) => upload.rtt_us(),
                None => server?.flow().rtt_us(),
            },
        }
    }

    /// Sets a window of that many bytes for the data of that direction, in place of the law; none: the law again.
    /// Returns whether their receiver is there.
    pub fn set_window(&mut self, direction: Direction, bytes: Option<u32>) -> bool {
        let side = match direction {
            Direction::Down => Side::Client,
            Direction::Up => Side::Server,
        };
        let Some(end) = self.end(side).filter(|end| end.is_established()) else {
            return false;
        };
        let scale = end.window_scale();
        let edge =
            self.edges[index(side)].get_or_insert_with(|| Box::new(Edge::joining(NO_LAW, scale)));
        edge.tell(bytes);
        true
    }

    /// Puts the sender of that direction's data under manual control, in place of its congestion control. Returns
    /// whether the sender exists.
    pub fn set_sender(
        &mut self,
        network: &mut Network,
        direction: Direction,
        manual: Manual,
    ) -> bool {
        let side = match direction {
            Direction::Down => Side::Server,
            Direction::Up => Side::Client,
        };
        let Some(end) = self.end_mut(side).filter(|end| end.is_established()) else {
            return false;
        };
        end.tell(manual);
        self.settle(network, side);
        true
    }

    /// A segment arrives at an end; a SYN may create that end.
    pub fn receive(&mut self, network: &mut Network, side: Side, segment: &mut Segment) {
        let now = network.now;
        let own = self.own.as_ref();
        let samples = own.map(|_| own::round_trips(&self.edges, side));
        if let Some(edge) = &mut self.edges[index(side)] {
            edge.arrives(&mut network.paths[index(side)], now, segment);
        }
        match &mut self.ends[index(side)] {
            Some(end) => {
                end.receive(now, segment);
            }
            none => {
                *none = Connection::accept(self.answer.clone(), now, segment);
            }
        }
        if let Some(samples) = samples {
            self.consult(side, now, segment, samples);
        }
        // The kernel acknowledges before the application has woken and read, so the window lacks the segment that has
        // just come. On a textbook's host no application has to wake.
        if !matches!(self.answer.receive_buffer, ReceiveBuffer::Fixed(_)) {
            self.transmit(network, side);
        }
    }

    /// Asks the caller's own law, if there is one; `before` is the number of round trips measured before the segment.
    fn consult(&mut self, side: Side, now: Instant, segment: &Segment, before: u32) {
        let (end, edge) = (&self.ends[index(side)], &mut self.edges[index(side)]);
        if let (Some(own), Some(end), Some(edge)) = (&mut self.own, end, edge) {
            own.arrived(side, now, segment, (end, edge, before));
        }
    }

    /// Sends what an end has to send, and schedules its next timer.
    pub fn settle(&mut self, network: &mut Network, side: Side) {
        self.transmit(network, side);
        let timeout = self.end(side).and_then(Connection::timeout);
        network.events.set(self.target(side), timeout);
    }

    /// The timer of an end has expired.
    pub fn wake(&mut self, network: &mut Network, side: Side) {
        if let Some(end) = self.end_mut(side) {
            end.expire(network.now);
        }
        self.transmit(network, side);
    }

    /// Whether nothing will happen to it any more.
    pub fn is_over(&self) -> bool {
        let closed = |end: &Connection| end.state() == State::Closed;
        let [client, server] = &self.ends;
        client.as_ref().is_some_and(closed) && server.as_ref().is_none_or(closed)
    }

    fn transmit(&mut self, network: &mut Network, side: Side) {
        let route = self.routes[index(side)];
        let mut edge = self.edges[index(side)].as_deref_mut();
        if let Some(end) = &mut self.ends[index(side)] {
            while let Some(mut segment) = end.transmit(network.now) {
                if let Some(edge) = &mut edge {
                    edge.leaves(network.now, &mut segment);
                }
                network.send(Packet::segment(self.id, route, segment));
            }
        }
    }

    fn target(&self, side: Side) -> Target {
        Target::new(Kind::End, self.id.key as usize * 2 + index(side))
    }
}

/// The hosts' connections.
#[derive(Debug)]
pub struct Hosts {
    pairs: Slab<Pair>,
    /// Settings of client and server for each workload's connections, by number.
    configs: Vec<[Config; 2]>,
    /// The laws at the client's and the server's edge, and whether each also steers what its host sends.
    laws: [Option<(Params, bool)>; 2],
    /// By workload; none where the law does not steer.
    weightings: Vec<Option<Weighting>>,
    /// By workload, if it has a law of its own: the side where its data arrive, and that law.
    own_laws: Vec<Option<(Side, Params)>>,
    /// The caller's own laws and congestion controls, and the workloads that they are told of.
    own: Option<(Arc<dyn Own>, Vec<Workload>)>,
    opened: u32,
    random: Pcg64Mcg,
    /// The ticks of each kernel.
    ticks: [Ticks; 2],
}

impl Hosts {
    /// Two hosts without connections, set as scenario and run say.
    ///
    /// # Errors
    /// When there is no such congestion control.
    pub fn new(
        scenario: &Scenario,
        run: &Run,
        own: Option<Arc<dyn Own>>,
    ) -> Result<Self, Unsupported> {
        let config = settings::config(&scenario.hosts, run)?;
        let workloads = scenario.workloads.iter();
        let configs = workloads.map(|workload| {
            let config = settings::of_workload(&config, workload, run)?;
            Ok(ends(config, workload, own.as_ref()))
        });
        Ok(Self {
            pairs: Slab::new(),
            configs: configs.collect::<Result<_, _>>()?,
            laws: settings::laws(run),
            weightings: scenario
                .workloads
                .iter()
                .map(|workload| weighting(scenario, workload, run))
                .collect(),
            own_laws: scenario
                .workloads
                .iter()
                .map(|workload| settings::own_law(workload, run))
                .collect(),
            own: own.map(|own| (own, scenario.workloads.clone())),
            opened: 0,
            random: random::stream(scenario.seed, "connections"),
            ticks: ["client", "server"].map(|host| ticks(scenario.seed, host)),
        })
    }

    /// The client opens a connection to the server, for that workload's application number `app`.
    pub fn open(
        &mut self,
        network: &mut Network,
        workload: usize,
        app: u32,
        tag: u32,
    ) -> ConnectionId {
        let [ask, answer] =
            [Side::Client, Side::Server].map(|side| self.fresh_config(workload, side));
        let own = self.own_of(workload);
        let own_law = own.as_ref().map(|own| own.side());
        let edges = [Side::Client, Side::Server].map(|side| {
            let law = self
                .law_at(workload, side)
                .filter(|_| own_law != Some(side));
            let none = || (own_law == Some(side)).then_some((NO_LAW, false));
            let ((params, uploads), weighting) =
                law.or_else(none).zip(self.weightings[workload])?;
            let Weighting { weight, shares } = weighting;
            Some(Box::new(Edge::new(params, weight, uploads, shares)))
        });
        let entry = self.pairs.vacant_entry();
        self.opened += 1;
        let id = ConnectionId {
            key: entry.key() as u32,
            serial: self.opened,
        };
        let pair = entry.insert(Pair {
            ends: [Some(Connection::connect(ask, network.now)), None],
            id,
            app,
            tag,
            routes: [Direction::Up, Direction::Down]
                .map(|direction| RouteId::of(workload, direction)),
            answer,
            edges,
            own,
        });
        pair.settle(network, Side::Client);
        id
    }

    /// The law that steers that workload's data, and whether it also steers what that host sends.
    fn law_at(&self, workload: usize, side: Side) -> Option<(Params, bool)> {
        let of_run = self.laws[index(side)];
        match self.own_laws[workload] {
            Some((at, params)) if at == side => {
                let uploads = of_run.is_some_and(|(_, uploads)| uploads);
                (!params.law.is_none()).then_some((params, uploads && params.law.steers_uploads()))
            }
            _ => of_run,
        }
    }

    /// The caller's own law for a connection of that workload. None if no law would steer it, or if the workload names
    /// one.
    fn own_of(&self, workload: usize) -> Option<Box<Steering>> {
        let (own, workloads) = self.own.as_ref()?;
        if self.own_laws[workload].is_some() {
            return None;
        }
        self.weightings[workload]?;
        Steering::new(own.as_ref(), &workloads[workload])
    }

    /// The caller's own laws and congestion controls.
    pub fn own(&self) -> Option<&Arc<dyn Own>> {
        self.own.as_ref().map(|(own, _)| own)
    }

    /// The connection, if it still exists.
    pub fn pair(&self, id: ConnectionId) -> Option<&Pair> {
        let pair = self.pairs.get(id.key as usize);
        pair.filter(|pair| pair.id == id)
    }

    /// As [`Self::pair`].
    pub fn pair_mut(&mut self, id: ConnectionId) -> Option<&mut Pair> {
        let pair = self.pairs.get_mut(id.key as usize);
        pair.filter(|pair| pair.id == id)
    }

    /// How many connections there are.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// The connection and the end with that number among timers.
    pub fn by_number(&self, number: usize) -> Option<(ConnectionId, Side)> {
        Some((self.pairs.get(number / 2)?.id, side(number % 2)))
    }

    /// Removes a connection that is over.
    pub fn remove(&mut self, network: &mut Network, id: ConnectionId) {
        if let Some(pair) = self.pairs.try_remove(id.key as usize) {
            for side in [Side::Client, Side::Server] {
                network.events.set(pair.target(side), None);
            }
        }
    }

    /// Initial sequence number and clock are the connection's own (RFC 6528, RFC 7323 §5.4).
    fn fresh_config(&mut self, workload: usize, side: Side) -> Config {
        let config = &self.configs[workload][index(side)];
        Config {
            initial_seq: Seq(self.random.random()),
            timestamp_offset: self.random.random(),
            ticks: is_kernels(config).then_some(self.ticks[index(side)]),
            ..config.clone()
        }
    }
}

/// A kernel's clock ticks 250 times a second.
const TICK: Duration = Duration::from_millis(4);

/// That host's ticks; each host has its own phase.
fn ticks(seed: u64, host: &str) -> Ticks {
    let mut rng = random::stream(seed, &format!("ticks {host}"));
    Ticks {
        period: TICK,
        since: TICK.mul_f64(rng.random::<f64>()),
    }
}

/// Whether the endpoint has a kernel's timers: neither a textbook's nor QUIC has them.
fn is_kernels(config: &Config) -> bool {
    let is_textbook = matches!(config.receive_buffer, ReceiveBuffer::Fixed(_));
    !is_textbook && !config.paced
}

/// Settings of client and server: those of `config`. If the caller has a congestion control of its own, the sender of
/// the data gets it, unless the workload names one.
fn ends(config: Config, workload: &Workload, own: Option<&Arc<dyn Own>>) -> [Config; 2] {
    let mut ends = [config.clone(), config];
    if let (Some(own), None) = (own, &workload.congestion_control) {
        let sender = &mut ends[index(workload.sender())].congestion_control;
        *sender = own::factory(own, workload, sender);
    }
    ends
}

/// How the law divides a link between a workload's connections and others.
#[derive(Clone, Copy, Debug)]
struct Weighting {
    weight: u32,
    shares: Shares,
}

/// None if the law does not steer the workload's windows.
fn weighting(scenario: &Scenario, workload: &Workload, run: &Run) -> Option<Weighting> {
    let shares = match run.fair {
        Fair::Flow => Shares::ByFlow,
        Fair::Device => Shares::ByDevice(device(scenario, workload)),
    };
    let weighting = Weighting {
        weight: workload.weight as u32,
        shares,
    };
    (workload.steered && run.gives_window(workload)).then_some(weighting)
}

/// Its device's number: that of the first workload of the name.
fn device(scenario: &Scenario, workload: &Workload) -> Option<u32> {
    let name = workload.device.as_ref()?;
    let mut all = scenario.workloads.iter();
    let first = all.position(|w| w.device.as_ref() == Some(name));
    first.map(|number| number as u32)
}
