//! Links, and routes over them.

use crate::cake::{self, Cake};
use crate::events::{EventQueue, Kind, Target};
use crate::packet::{Body, Echo, Packet, Probe};
use crate::random;
use crate::windowless::{self, Released, Windowless};
use std::time::Duration;
use tidegate_link::{Config, Link};
use tidegate_measure::{Bins, LinkRecord, Passage, Window, demand};
pub use tidegate_scenario::{DOWN, UP};
use tidegate_scenario::{Direction, LinkInputs, Run, Scenario, Side, Workload, WorkloadKind};
use tidegate_tcp::steer::Paths;
use tidegate_time::Instant;

/// A link, and what is recorded of it.
#[derive(Debug)]
pub struct Node {
    /// The link.
    pub link: Link<Packet>,
    /// What came of its packets.
    pub record: LinkRecord,
    /// What it is made of.
    pub config: Config,
    /// Queueing delay of the packet that came out last.
    pub last_delay: Duration,
}

/// A way from one host to the other.
#[derive(Clone, Debug)]
pub struct Route {
    /// Places of its links, in the order in which they are passed.
    links: Vec<usize>,
    to: Side,
}

/// Everything between the hosts, and the clock.
#[derive(Debug)]
pub struct Network {
    /// The time.
    pub now: Instant,
    /// Who wants to be woken.
    pub events: EventQueue,
    /// The queues in front of the client and the server, as the laws at their edges see them.
    pub paths: [Paths; 2],
    /// What the law at the client's edge cannot touch the window of.
    pub windowless: Windowless,
    /// Shapers at the client's router, if it has any.
    pub cake: Option<Cake>,
    /// The links, and behind those of the scenario the shapers.
    pub nodes: Vec<Node>,
    /// Two for each workload, down and up, and then those through proxies.
    routes: Vec<Route>,
    /// Of each workload: the number of the route through its first proxy.
    proxied: Vec<u32>,
}

impl Network {
    /// The scenario's links, empty, and the routes of its workloads.
    pub fn build(
        scenario: &Scenario,
        inputs: &LinkInputs,
        run: &Run,
        window: Window,
        bin: Option<Duration>,
    ) -> Self {
        let node = |config: &Config, direction, seed| Node {
            link: Link::new(config.clone(), seed),
            record: LinkRecord::with_bins(
                window,
                demand(scenario, direction, &window),
                bin.map(Bins::of),
            ),
            config: config.clone(),
            last_delay: Duration::ZERO,
        };
        let seed = scenario.seed;
        let mut nodes = vec![
            // As the laboratory seeds them: the same packets are lost.
            node(&inputs.down, Direction::Down, seed),
            node(&inputs.up, Direction::Up, seed.wrapping_add(1)),
        ];
        for (hop, config) in scenario.hops.iter().zip(&inputs.hops) {
            let seed = random::seed(seed, &hop.name);
            nodes.push(node(config, hop.direction, seed));
        }
        let mut routes = Vec::new();
        for workload in &scenario.workloads {
            for direction in [Direction::Down, Direction::Up] {
                routes.push(route(scenario, workload, direction));
            }
        }
        let mut proxied = Vec::new();
        for workload in &scenario.workloads {
            proxied.push(routes.len() as u32);
            routes.extend(proxied_routes(scenario, workload));
        }
        let cake = run.cake.map(|spec| {
            let places = [nodes.len(), nodes.len() + 1];
            let shapers = [(Direction::Down, spec.down), (Direction::Up, spec.up)];
            let shaper = |(direction, shaped)| node(&cake::shaper(&shaped), direction, seed);
            nodes.extend(shapers.map(shaper));
            let echoes = [routes.len() as u32, routes.len() as u32 + 1];
            routes.extend([Direction::Down, Direction::Up].map(|way| straight(scenario, way)));
            routes
                .iter_mut()
                .for_each(|route| route.pass_router(places));
            Cake::new(&spec, places, echoes)
        });
        let mut events = EventQueue::default();
        if let Some(cake) = &cake {
            cake.start(&mut events);
        }
        Self {
            now: Instant::ZERO,
            events,
            cake,
            paths: Default::default(),
            windowless: Windowless::new(scenario, run),
            nodes,
            routes,
            proxied,
        }
    }

    /// A host sends a packet.
    pub fn send(&mut self, packet: Packet) {
        let leaves = match self.windowless_workload(&packet, Side::Server) {
            Some(workload) => self
                .windowless
                .leaves(&mut self.events, self.now, packet, workload)
                .and_then(Released::passes),
            None => Some(packet),
        };
        if let Some(packet) = leaves {
            self.transmit(packet);
        }
    }

    /// The workload of a packet that goes to that side, if it may be one without a window.
    fn windowless_workload(&self, packet: &Packet, to: Side) -> Option<usize> {
        let direct = packet.route < self.proxied.first().copied().unwrap_or(0);
        let of_workload = matches!(packet.body, Body::Segment(..) | Body::Datagram(_));
        let there = direct && of_workload && self.routes[packet.route as usize].to == to;
        there.then_some(packet.route as usize / 2)
    }

    /// A packet has reached the client. Returns whether it goes on to its application.
    pub fn admits(&mut self, packet: &mut Packet) -> bool {
        let Some(workload) = self.windowless_workload(packet, Side::Client) else {
            return true;
        };
        let paths = &mut self.paths[0];
        self.windowless
            .arrives(paths, &mut self.events, self.now, packet, workload)
            || windowless::signal(packet)
    }

    /// What waits at the client's edge may leave, or it is time to ask for the delay.
    pub fn wake_edge(&mut self, number: usize) {
        let half = number / 2;
        if number.is_multiple_of(2) {
            while let Some(released) = self.windowless.release(&mut self.events, self.now, half) {
                if let Some(packet) = released.passes() {
                    self.transmit(packet);
                }
            }
        } else if self.windowless.ask(&mut self.events, self.now, half) {
            let echo = Echo {
                workload: half as u32,
                sent: self.now,
            };
            self.transmit(Packet::echo(echo, route_of(half, Direction::Up)));
        }
    }

    /// An echo has reached that side: the server sends it back, the client learns from it.
    pub fn echo(&mut self, echo: Echo, route: u32, side: Side) {
        match side {
            // Down and up are neighbours.
            Side::Server => self.transmit(Packet::echo(echo, route ^ 1)),
            Side::Client => self.windowless.answered(
                &mut self.paths[0],
                self.now,
                echo.workload as usize,
                self.now - echo.sent,
            ),
        }
    }

    /// The next of cake-autorate's echoes leaves. Returns when the one after it does.
    pub fn ping(&mut self) -> Option<Duration> {
        let cake = self.cake.as_mut()?;
        let (probe, further) = cake.ping(self.now);
        let up = cake.routes[1];
        self.transmit(Packet::probe(probe, up));
        Some(further)
    }

    /// cake-autorate looks at how much has passed. Returns when it does so next.
    pub fn monitor(&mut self) -> Option<Duration> {
        let cake = self.cake.as_mut()?;
        let nodes = &self.nodes;
        let passed = cake
            .places
            .map(|place| cake::passed(nodes[place].link.stats()));
        cake.monitor(passed)
    }

    /// One of its echoes has reached that side: the server sends it back, the router learns from it.
    pub fn probe(&mut self, probe: Probe, side: Side) {
        let Some(cake) = &mut self.cake else {
            return;
        };
        if side == Side::Server {
            let down = cake.routes[0];
            return self.transmit(Packet::probe(probe, down));
        }
        for (place, bps) in cake.answered(self.now, probe) {
            let link = &mut self.nodes[place].link;
            link.reshape(self.now, bps, cake::queues(bps));
            if let Some(at) = link.next_event() {
                self.events.wake_by(Target::new(Kind::Link, place), at);
            }
        }
    }

    fn transmit(&mut self, packet: Packet) {
        // A proxy that does not answer has no way: what is sent to it is gone.
        if let Some(&first) = self.routes[packet.route as usize].links.first() {
            self.push(packet, first);
        }
    }

    /// The route through the `proxy`-th proxy of a workload.
    pub fn route_through(&self, workload: usize, proxy: u32) -> u32 {
        self.proxied[workload] + proxy
    }

    fn push(&mut self, mut packet: Packet, place: usize) {
        packet.arrived = self.now;
        let link = &mut self.nodes[place].link;
        link.push(self.now, packet);
        if let Some(at) = link.next_event() {
            self.events.wake_by(Target::new(Kind::Link, place), at);
        }
    }

    /// The next packet that has come out of the link at `place` and has reached a host.
    pub fn arrival(&mut self, place: usize) -> Option<(Packet, Side)> {
        let target = Target::new(Kind::Link, place);
        while let Some(mut packet) = self.come_out(place) {
            let route = &self.routes[packet.route as usize];
            packet.hop += 1;
            match route.links.get(usize::from(packet.hop)) {
                Some(&next) => self.push(packet, next),
                None => return Some((packet, route.to)),
            }
        }
        let next = self.nodes[place].link.next_event();
        self.events.set(target, next);
        None
    }

    fn come_out(&mut self, place: usize) -> Option<Packet> {
        let node = &mut self.nodes[place];
        let delivery = node.link.poll(self.now)?;
        node.last_delay = delivery.queued;
        // Echoes of who steers say nothing of what users wait for: they go on through an outage, in which a
        // sender has stopped.
        if matches!(delivery.packet.body, Body::Echo(_) | Body::Probe(_)) {
            return Some(delivery.packet);
        }
        node.record.count(&Passage {
            bytes: delivery.packet.bytes.into(),
            arrived: delivery.packet.arrived,
            due: delivery.due,
            queued: delivery.queued,
        });
        Some(delivery.packet)
    }
}

/// The route of workload number `workload` in `direction`.
pub fn route_of(workload: usize, direction: Direction) -> u32 {
    let up = u32::from(direction == Direction::Up);
    workload as u32 * 2 + up
}

/// The ways through a workload's proxies, in the direction of its data.
fn proxied_routes(scenario: &Scenario, workload: &Workload) -> Vec<Route> {
    let to = match &workload.does {
        WorkloadKind::Mpath(transfer) => transfer.receiver(),
        _ => Side::Client,
    };
    let ways = scenario.further_ways(workload);
    ways.into_iter().map(|links| Route { links, to }).collect()
}

/// The way of a workload's packets in one direction.
fn route(scenario: &Scenario, workload: &Workload, direction: Direction) -> Route {
    let links = scenario.way(workload.links.as_deref(), direction);
    let to = to(direction);
    Route { links, to }
}

/// The way over all links of a direction.
fn straight(scenario: &Scenario, direction: Direction) -> Route {
    Route {
        links: scenario.way(None, direction),
        to: to(direction),
    }
}

/// Where it leads.
fn to(direction: Direction) -> Side {
    match direction {
        Direction::Down => Side::Client,
        Direction::Up => Side::Server,
    }
}

impl Route {
    /// The client's router is passed last on the way to the client, and first on the way from there.
    fn pass_router(&mut self, [down, up]: [usize; 2]) {
        match (self.links.is_empty(), self.to) {
            (true, _) => {}
            (_, Side::Client) => self.links.push(down),
            (_, Side::Server) => self.links.insert(0, up),
        }
    }
}
