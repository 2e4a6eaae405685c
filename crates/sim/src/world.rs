//! The event loop.

use crate::apps::{Part, Stage, cast};
use crate::events::{Kind, Target, clock};
use crate::hosts::Hosts;
use crate::network::Network;
use crate::packet::{Body, Connected, Datagram, Message, Packet, SproutMessage};
use crate::run::{Options, Unsupported};
use crate::settings::SEND_BUFFER;
use std::time::Duration;
use tidegate_measure::{SAMPLE_INTERVAL, Window};
use tidegate_scenario::{LinkInputs, Run, Scenario, Side};
use tidegate_tcp::{Connection, Segment};
use tidegate_time::Instant;

/// Flows looked at in one [`SAMPLE_INTERVAL`], at most: of more each is looked at less often, or
/// looking would cost more than running.
const LOOKS: usize = 100;

/// Hosts, links, applications and the observers of one run.
pub struct World {
    /// Links and clock.
    pub network: Network,
    /// Connections.
    pub hosts: Hosts,
    /// Applications.
    pub parts: Vec<Part>,
    /// Which part of the run counts.
    pub window: Window,
    /// Time from one point of a curve to the next, if there are curves.
    bin: Option<Duration>,
    /// Looks at the flows so far, and points of curves.
    looks: usize,
    points: usize,
}

impl World {
    /// Everything at the start of a run.
    ///
    /// # Errors
    /// When the scenario asks for something that the simulator does not have.
    pub fn build(
        scenario: &Scenario,
        inputs: &LinkInputs,
        run: &Run,
        options: &Options,
    ) -> Result<Self, Unsupported> {
        let window = Window {
            warmup: Instant::from_secs_f64(scenario.warmup_s),
            end: Instant::from_secs_f64(scenario.duration_s),
        };
        let bin = options.series.then_some(options.bin);
        let mut network = Network::build(scenario, inputs, run, window, bin);
        let hosts = Hosts::new(scenario, run, options.own.clone())?;
        let parts = cast(scenario, window, bin)?;
        for (number, part) in parts.iter().enumerate() {
            network
                .events
                .wake_by(Target::new(Kind::App, number), part.start);
        }
        for (clock, at) in [
            (clock::SAMPLER, Instant::ZERO),
            (clock::WARMUP, window.warmup),
        ] {
            network.events.wake_by(Target::new(Kind::Clock, clock), at);
        }
        if bin.is_some() {
            let curves = Target::new(Kind::Clock, clock::CURVES);
            network.events.wake_by(curves, Instant::ZERO);
        }
        Ok(Self {
            network,
            hosts,
            parts,
            window,
            bin,
            looks: 0,
            points: 0,
        })
    }

    /// Everything that happens before `until`, which then is the time.
    pub fn advance(&mut self, until: Instant) {
        while let Some((at, target)) = self.network.events.pop(until) {
            self.network.now = at;
            self.wake(target);
        }
        self.network.now = until;
    }

    fn wake(&mut self, target: Target) {
        match target.kind() {
            Kind::Clock => self.tick(target),
            Kind::Link => {
                while let Some((packet, side)) = self.network.arrival(target.index()) {
                    self.deliver(packet, side);
                }
            }
            Kind::Edge => self.network.wake_edge(target.index()),
            Kind::End => self.wake_end(target),
            Kind::App => self.wake_part(target.index()),
        }
    }

    fn deliver(&mut self, mut packet: Packet, side: Side) {
        if side == Side::Client && !self.network.admits(&mut packet) {
            return;
        }
        match packet.body {
            Body::Echo(echo) => self.network.echo(echo, packet.route, side),
            Body::Probe(probe) => self.network.probe(probe, side),
            Body::Segment(name, mut segment) => self.segment(name, side, &mut segment),
            Body::Datagram(datagram) => self.datagram(&datagram, packet.route, side),
            Body::Mpath(app, message) => self.message(app as usize, side, &message),
            Body::Sprout(app, message) => self.sprout(app as usize, side, &message),
        }
    }

    fn segment(&mut self, name: Connected, side: Side, segment: &mut Segment) {
        // What comes too late for its connection is nobody's.
        if let Some(pair) = self.hosts.pair_mut(name) {
            pair.receive(&mut self.network, side, segment);
            self.progress(name, side);
        }
    }

    fn wake_end(&mut self, target: Target) {
        let Some((name, side)) = self.hosts.by_number(target.index()) else {
            return;
        };
        if let Some(pair) = self.hosts.pair_mut(name) {
            pair.wake(&mut self.network, side);
            self.progress(name, side);
        }
    }

    /// Something has happened at an end: its application may want to read or write.
    fn progress(&mut self, name: Connected, side: Side) {
        let Self {
            network,
            hosts,
            parts,
            ..
        } = self;
        let Some(pair) = hosts.pair_mut(name) else {
            return;
        };
        let (number, tag) = (pair.app as usize, pair.tag);
        let part = &mut parts[number];
        if let Some(end) = pair.end_mut(side).filter(|end| is_news(end)) {
            let wish = part.app.progress(network.now, tag, side, end);
            grant(network, number, wish);
        }
        pair.settle(network, side);
        if pair.is_over() {
            let wish = part.app.closed(network.now, tag, hosts);
            grant(network, number, wish);
            hosts.bury(network, name);
        }
    }

    fn datagram(&mut self, datagram: &Datagram, route: u32, side: Side) {
        let app = &mut self.parts[datagram.app as usize].app;
        if let Some(bytes) = app.datagram(self.network.now, side, datagram) {
            // Down and up are neighbours.
            self.network
                .send(Packet::datagram(*datagram, bytes, route ^ 1));
        }
    }

    fn message(&mut self, number: usize, side: Side, message: &Message) {
        let (part, mut stage) = self.stage(number);
        let wish = part.app.message(&mut stage, side, message);
        grant(&mut self.network, number, wish);
    }

    fn sprout(&mut self, number: usize, side: Side, message: &SproutMessage) {
        let (part, mut stage) = self.stage(number);
        let wish = part.app.sprout(&mut stage, side, message);
        grant(&mut self.network, number, wish);
    }

    /// An application, and what it can do.
    fn stage(&mut self, number: usize) -> (&mut Part, Stage<'_>) {
        let part = &mut self.parts[number];
        let stage = Stage {
            app: number as u32,
            workload: part.workload,
            hosts: &mut self.hosts,
            network: &mut self.network,
        };
        (part, stage)
    }

    fn wake_part(&mut self, number: usize) {
        let (part, mut stage) = self.stage(number);
        let next = if stage.now() >= part.stop {
            part.app.stop(&mut stage);
            None
        } else {
            let next = part.app.wake(&mut stage);
            Some(next.map_or(part.stop, |next| next.min(part.stop)))
        };
        let target = Target::new(Kind::App, number);
        self.network.events.set(target, next);
    }

    fn tick(&mut self, clock: Target) {
        let next = match clock.index() {
            clock::WARMUP => {
                self.end_warmup();
                None
            }
            clock::CURVES => {
                self.sample();
                self.bin
            }
            clock::PING => self.network.ping(),
            clock::MONITOR => self.network.monitor(),
            _ => {
                self.look();
                Some(SAMPLE_INTERVAL)
            }
        };
        let next = next.map(|further| self.network.now + further);
        self.network.events.set(clock, next);
    }

    fn end_warmup(&mut self) {
        for node in &mut self.network.nodes {
            node.record.at_warmup = *node.link.stats();
        }
        for flow in self.parts.iter_mut().filter_map(|part| part.app.flow()) {
            flow.warm();
        }
    }

    /// Looks at the flows whose turn it is.
    fn look(&mut self) {
        for part in turn(&mut self.parts, self.looks) {
            part.app.look(&self.hosts, self.network.now);
        }
        self.looks += 1;
    }

    /// A point for the curves of those whose turn it is.
    fn sample(&mut self) {
        for part in turn(&mut self.parts, self.points) {
            part.app.sample(&self.hosts, self.network.now);
        }
        self.points += 1;
    }
}

/// Whose turn it is: everybody's, as long as they are no more than [`LOOKS`].
fn turn(parts: &mut [Part], number: usize) -> impl Iterator<Item = &mut Part> {
    let strides = parts.len().div_ceil(LOOKS).max(1);
    parts.iter_mut().skip(number % strides).step_by(strides)
}

/// Whether an application would be woken: there is something to read, the stream has ended, or a third
/// of the send buffer is free (`sk_stream_write_space`).
fn is_news(end: &Connection) -> bool {
    end.readable() > 0 || end.writable() >= SEND_BUFFER / 3 || end.at_end()
}

/// An application wants to be woken.
fn grant(network: &mut Network, number: usize, wish: Option<Instant>) {
    if let Some(at) = wish {
        let target = Target::new(Kind::App, number);
        network.events.wake_by(target, at);
    }
}

#[cfg(test)]
mod tests;
