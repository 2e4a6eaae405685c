//! Links, and packets that pass them on their routes.

use crate::cake::{self, Cake};
use crate::events::{EventQueue, Kind, Target};
use crate::interface::{Interface, Wakes};
use crate::packet::{Body, Echo, Packet, Probe, index};
use crate::random;
use crate::route::{RouteId, Routes};
use crate::windowless::{self, Released, Timer, Windowless};
use std::time::Duration;
use tidegate_link::{Config, Link};
use tidegate_measure::{Bins, LinkRecord, Passage, Window, demand};
pub use tidegate_scenario::{DOWN, UP};
use tidegate_scenario::{Direction, LinkInputs, Run, Scenario, Side};
use tidegate_tcp::steer::Paths;
use tidegate_time::Instant;

/// A link, and what is recorded of it.
#[derive(Debug)]
pub struct MeasuredLink {
    /// The link.
    pub link: Link<Packet>,
    /// What came of its packets.
    pub record: LinkRecord,
    /// What it is made of.
    pub config: Config,
    /// Queueing delay of the packet that came out last.
    pub last_delay: Duration,
}

/// Everything between the hosts, and the clock.
#[derive(Debug)]
pub struct Network {
    /// The time.
    pub now: Instant,
    /// Who wants to be woken.
    pub events: EventQueue,
    /// What packets come into the client and the server by.
    interfaces: [Interface; 2],
    /// The queues in front of the client and the server, as the laws at their edges see them.
    pub paths: [Paths; 2],
    /// What the law at the client's edge cannot touch the window of.
    pub windowless: Windowless,
    /// Shapers at the client's router, if it has any.
    pub cake: Option<Cake>,
    /// The links, and behind those of the scenario the shapers.
    pub links: Vec<MeasuredLink>,
    /// Ways over them.
    pub routes: Routes,
}

/// That host's.
fn interface(fastest: f64, wake: Duration, seed: u64, host: &str) -> Interface {
    let interface = Interface::behind(fastest);
    if wake.is_zero() {
        return interface;
    }
    interface.that_wakes(Wakes {
        rng: random::stream(seed, &format!("wakes {host}")),
        longest: wake,
    })
}

impl Network {
    /// The scenario's links, empty, and the routes of its workloads; the bins of curves, and the longest time that a host
    /// takes to wake.
    pub fn build(
        scenario: &Scenario,
        inputs: &LinkInputs,
        run: &Run,
        window: Window,
        (bin, wake): (Option<Duration>, Duration),
    ) -> Self {
        let measured = |config: &Config, direction, seed| MeasuredLink {
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
        let mut links = vec![
            // As the laboratory seeds them: the same packets are lost.
            measured(&inputs.down, Direction::Down, seed),
            measured(&inputs.up, Direction::Up, seed.wrapping_add(1)),
        ];
        for (hop, config) in scenario.hops.iter().zip(&inputs.hops) {
            let seed = random::seed(seed, &hop.name);
            links.push(measured(config, hop.direction, seed));
        }
        let rates = links.iter().map(|link| link.config.rate.mean_bps());
        let fastest = rates.fold(0.0, f64::max);
        let mut routes = Routes::new(scenario);
        let cake = run.cake.map(|spec| {
            let shapers = [links.len(), links.len() + 1];
            let shaped = [(Direction::Down, spec.down), (Direction::Up, spec.up)];
            let shaper = |(direction, spec)| measured(&cake::shaper(&spec), direction, seed);
            links.extend(shaped.map(shaper));
            let echoes = routes.add_full(scenario);
            routes.pass_router(shapers);
            Cake::new(&spec, shapers, echoes)
        });
        let mut events = EventQueue::default();
        if let Some(cake) = &cake {
            cake.start(&mut events);
        }
        Self {
            now: Instant::ZERO,
            events,
            cake,
            interfaces: ["client", "server"].map(|host| interface(fastest, wake, seed, host)),
            paths: Default::default(),
            windowless: Windowless::new(scenario, run),
            links,
            routes,
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
        let workload = self.routes.workload(packet.route)?;
        let of_workload = matches!(packet.body, Body::Segment(..) | Body::Datagram(_));
        let there = of_workload && self.routes.get(packet.route).to == to;
        there.then_some(workload)
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
        match Timer::of(number) {
            Timer::Release(flow) => self.release(flow),
            Timer::Echo(workload) => {
                if self
                    .windowless
                    .wants_echo(&mut self.events, self.now, workload)
                {
                    let echo = Echo {
                        workload: workload as u32,
                        sent: self.now,
                    };
                    let up = RouteId::of(workload, Direction::Up);
                    self.transmit(Packet::echo(echo, up));
                }
            }
        }
    }

    fn release(&mut self, flow: usize) {
        while let Some(released) = self.windowless.release(&mut self.events, self.now, flow) {
            if let Some(packet) = released.passes() {
                self.transmit(packet);
            }
        }
    }

    /// An echo has reached that side: the server sends it back, the client learns from it.
    pub fn echo(&mut self, echo: Echo, route: RouteId, side: Side) {
        match side {
            Side::Server => self.transmit(Packet::echo(echo, route.reversed())),
            Side::Client => self.windowless.echoed(
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
        let links = &self.links;
        let passed = cake
            .shapers
            .map(|number| cake::passed(links[number].link.stats()));
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
        for (number, bps) in cake.answered(self.now, probe) {
            let link = &mut self.links[number].link;
            link.reshape(self.now, bps, cake::queues(bps));
            if let Some(at) = link.next_event() {
                self.events.wake_by(Target::new(Kind::Link, number), at);
            }
        }
    }

    fn transmit(&mut self, packet: Packet) {
        // A proxy that does not answer has no route: what is sent to it is lost.
        if let Some(&first) = self.routes.get(packet.route).links.first() {
            self.push(packet, first);
        }
    }

    fn push(&mut self, mut packet: Packet, number: usize) {
        packet.arrived = self.now;
        let link = &mut self.links[number].link;
        link.push(self.now, packet);
        if let Some(at) = link.next_event() {
            self.events.wake_by(Target::new(Kind::Link, number), at);
        }
    }

    /// The next packet that has come out of that link and into a host.
    pub fn arrival(&mut self, number: usize) -> Option<(Packet, Side)> {
        let target = Target::new(Kind::Link, number);
        while let Some(mut packet) = self.poll(number) {
            let route = self.routes.get(packet.route);
            packet.hop += 1;
            match route.links.get(usize::from(packet.hop)) {
                Some(&next) => self.push(packet, next),
                None => {
                    let to = route.to;
                    if let Some(packet) = self.enter(packet, to) {
                        return Some((packet, to));
                    }
                }
            }
        }
        let next = self.links[number].link.next_event();
        self.events.set(target, next);
        None
    }

    /// A packet has reached that host; returns it if it comes in at once.
    fn enter(&mut self, packet: Packet, side: Side) -> Option<Packet> {
        let interface = &mut self.interfaces[index(side)];
        let packet = interface.arrive(self.now, packet);
        if let Some(at) = interface.next_event() {
            let target = Target::new(Kind::Interface, index(side));
            self.events.wake_by(target, at);
        }
        packet
    }

    /// The next packet that has come into that host after it had to wait for others.
    pub fn entry(&mut self, side: Side) -> Option<Packet> {
        let interface = &mut self.interfaces[index(side)];
        let packet = interface.poll(self.now);
        let target = Target::new(Kind::Interface, index(side));
        self.events.set(target, interface.next_event());
        packet
    }

    fn poll(&mut self, number: usize) -> Option<Packet> {
        let measured = &mut self.links[number];
        let delivery = measured.link.poll(self.now)?;
        measured.last_delay = delivery.queued;
        // Echoes of who steers say nothing of what users wait for: they go on through an outage, in which a
        // sender has stopped.
        if matches!(delivery.packet.body, Body::Echo(_) | Body::Probe(_)) {
            return Some(delivery.packet);
        }
        measured.record.count(&Passage {
            bytes: delivery.packet.bytes.into(),
            arrived: delivery.packet.arrived,
            due: delivery.due,
            queued: delivery.queued,
        });
        Some(delivery.packet)
    }
}
