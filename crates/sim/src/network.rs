//! Links, and packets that cross them on their routes.

use crate::cake::{self, Cake};
use crate::events::{EventQueue, Kind, Target};
use crate::interface::{Interface, Wakes};
use crate::packet::{Body, Echo, Packet, Probe, index};
use crate::random;
use crate::route::{RouteId, Routes};
use crate::windowless::{self, Released, Timer, Windowless};
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_link::{Config, Link};
use tidegate_measure::{Bins, LinkRecord, Passage, Window, demand};
pub use tidegate_scenario::{DOWN, UP};
use tidegate_scenario::{Direction, LinkInputs, Run, Scenario, Side};
use tidegate_tcp::steer::Paths;

/// A link and its records.
#[derive(Debug)]
pub struct MeasuredLink {
    /// The link.
    pub link: Link<Packet>,
    /// Record of its packets.
    pub record: LinkRecord,
    /// Its configuration.
    pub config: Config,
    /// Queueing delay of the packet that came out last.
    pub last_delay: Duration,
}

/// Everything between the hosts, and the clock.
#[derive(Debug)]
pub struct Network {
    /// The time.
    pub now: Instant,
    /// The event queue.
    pub events: EventQueue,
    /// The interfaces through which packets enter client and server.
    interfaces: [Interface; 2],
    /// The queues in front of the client and the server, as the laws at their edges see them.
    pub paths: [Paths; 2],
    /// The client's flows without a window, which the law at its edge holds.
    pub windowless: Windowless,
    /// Shapers at the client's router, if it has any.
    pub cake: Option<Cake>,
    /// The links: those of the scenario, then the shapers.
    pub links: Vec<MeasuredLink>,
    /// Routes over them.
    pub routes: Routes,
}

/// That host's interface.
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
            // Seeded as in the laboratory, so that the same packets are lost.
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

    /// The workload of a packet that goes to that side, if it can be one without a window.
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

    /// Packets held at the client's edge may leave, or the next echo is due.
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

    /// An echo has reached that side: the server returns it, the client measures with it.
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

    /// cake-autorate's next echo leaves. Returns the time until the one after it.
    pub fn ping(&mut self) -> Option<Duration> {
        let cake = self.cake.as_mut()?;
        let (probe, further) = cake.ping(self.now);
        let up = cake.routes[1];
        self.transmit(Packet::probe(probe, up));
        Some(further)
    }

    /// cake-autorate measures how much has passed. Returns the time until its next measurement.
    pub fn monitor(&mut self) -> Option<Duration> {
        let cake = self.cake.as_mut()?;
        let links = &self.links;
        let passed = cake
            .shapers
            .map(|number| cake::passed(links[number].link.stats()));
        cake.monitor(passed)
    }

    /// One of its echoes has reached that side: the server returns it, the router measures with it.
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
        // A proxy that does not answer has no route: packets to it are lost.
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

    /// The next packet that has left that link and reached a host.
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

    /// A packet has reached that host. Returns it if it enters at once.
    fn enter(&mut self, packet: Packet, side: Side) -> Option<Packet> {
        let interface = &mut self.interfaces[index(side)];
        let packet = interface.arrive(self.now, packet);
        if let Some(at) = interface.next_event() {
            let target = Target::new(Kind::Interface, index(side));
            self.events.wake_by(target, at);
        }
        packet
    }

    /// The next packet that has entered that host after waiting behind others.
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
        // Echoes do not show how long users wait: they continue through an outage, during which a sender stops.
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
