//! The event loop.

use crate::applications::{self, Context, Ingredients, ScheduledApplication};
use crate::events::{Kind, Target, clock};
use crate::hosts::Hosts;
use crate::network::Network;
use crate::packet::{Body, ConnectionId, Datagram, Message, Packet, SproutMessage, side};
use crate::route::RouteId;
use crate::run::{Options, Unsupported};
use crate::settings::SEND_BUFFER;
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_measure::{SAMPLE_INTERVAL, Window};
use tidegate_scenario::{LinkInputs, Run, Scenario, Side};
use tidegate_tcp::{Connection, Segment};

/// Flows observed in one [`SAMPLE_INTERVAL`], at most. With more flows each is observed less often, or observing would
/// cost more than running.
const MAX_OBSERVED: usize = 100;

/// Hosts, links, applications and the observers of one run.
pub struct World {
    /// Links and clock.
    pub network: Network,
    /// Connections.
    pub hosts: Hosts,
    /// Applications.
    pub applications: Vec<ScheduledApplication>,
    /// Which part of the run counts.
    pub window: Window,
    /// Time from one point of a curve to the next, if there are curves.
    bin: Option<Duration>,
    /// Observations of the flows so far, and points of curves.
    observations: usize,
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
        let mut network = Network::build(scenario, inputs, run, window, (bin, options.wake));
        let hosts = Hosts::new(scenario, run, options.own.clone())?;
        let applications = applications::build(&Ingredients {
            scenario,
            inputs,
            window,
            bin,
        })?;
        for (number, scheduled) in applications.iter().enumerate() {
            network
                .events
                .wake_by(Target::new(Kind::Application, number), scheduled.start);
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
            applications,
            window,
            bin,
            observations: 0,
            points: 0,
        })
    }

    /// Runs everything that happens before `until`, and sets the time to it.
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
            Kind::Interface => {
                let side = side(target.index());
                while let Some(packet) = self.network.entry(side) {
                    self.deliver(packet, side);
                }
            }
            Kind::Edge => self.network.wake_edge(target.index()),
            Kind::End => self.wake_end(target),
            Kind::Application => self.wake_application(target.index()),
        }
    }

    fn deliver(&mut self, mut packet: Packet, side: Side) {
        if side == Side::Client && !self.network.admits(&mut packet) {
            return;
        }
        match packet.body {
            Body::Echo(echo) => self.network.echo(echo, packet.route, side),
            Body::Probe(probe) => self.network.probe(probe, side),
            Body::Segment(id, mut segment) => self.segment(id, side, &mut segment),
            Body::Datagram(datagram) => self.datagram(&datagram, packet.route, side),
            Body::Mpath(app, message) => self.message(app as usize, side, &message),
            Body::Sprout(app, message) => self.sprout(app as usize, side, &message),
        }
    }

    fn segment(&mut self, id: ConnectionId, side: Side, segment: &mut Segment) {
        // Segments that arrive after their connection's end are dropped.
        if let Some(pair) = self.hosts.pair_mut(id) {
            pair.receive(&mut self.network, side, segment);
            self.progress(id, side);
        }
    }

    fn wake_end(&mut self, target: Target) {
        let Some((id, side)) = self.hosts.by_number(target.index()) else {
            return;
        };
        if let Some(pair) = self.hosts.pair_mut(id) {
            pair.wake(&mut self.network, side);
            self.progress(id, side);
        }
    }

    /// Something has happened at an end: its application may read or write.
    fn progress(&mut self, id: ConnectionId, side: Side) {
        let Self {
            network,
            hosts,
            applications,
            ..
        } = self;
        let Some(pair) = hosts.pair_mut(id) else {
            return;
        };
        let (number, tag) = (pair.app as usize, pair.tag);
        let scheduled = &mut applications[number];
        if let Some(end) = pair.end_mut(side).filter(|end| is_ready(end)) {
            let wake_at = scheduled.application.progress(network.now, tag, side, end);
            schedule(network, number, wake_at);
        }
        pair.settle(network, side);
        if pair.is_over() {
            let wake_at = scheduled.application.closed(network.now, tag, hosts);
            schedule(network, number, wake_at);
            hosts.remove(network, id);
        }
    }

    fn datagram(&mut self, datagram: &Datagram, route: RouteId, side: Side) {
        let app = &mut self.applications[datagram.app as usize].application;
        if let Some(bytes) = app.datagram(self.network.now, side, datagram) {
            let answer = Packet::datagram(*datagram, bytes, route.reversed());
            self.network.send(answer);
        }
    }

    fn message(&mut self, number: usize, side: Side, message: &Message) {
        let (scheduled, mut context) = self.context(number);
        let wake_at = scheduled.application.message(&mut context, side, message);
        schedule(&mut self.network, number, wake_at);
    }

    fn sprout(&mut self, number: usize, side: Side, message: &SproutMessage) {
        let (scheduled, mut context) = self.context(number);
        let wake_at = scheduled.application.sprout(&mut context, side, message);
        schedule(&mut self.network, number, wake_at);
    }

    /// An application, and the context in which it is called.
    fn context(&mut self, number: usize) -> (&mut ScheduledApplication, Context<'_>) {
        let scheduled = &mut self.applications[number];
        let context = Context {
            app: number as u32,
            workload: scheduled.workload,
            hosts: &mut self.hosts,
            network: &mut self.network,
        };
        (scheduled, context)
    }

    fn wake_application(&mut self, number: usize) {
        let (scheduled, mut context) = self.context(number);
        let next = if context.now() >= scheduled.stop {
            scheduled.application.stop(&mut context);
            None
        } else {
            let next = scheduled.application.wake(&mut context);
            Some(next.map_or(scheduled.stop, |next| next.min(scheduled.stop)))
        };
        let target = Target::new(Kind::Application, number);
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
                self.observe();
                Some(SAMPLE_INTERVAL)
            }
        };
        let next = next.map(|further| self.network.now + further);
        self.network.events.set(clock, next);
    }

    fn end_warmup(&mut self) {
        for measured in &mut self.network.links {
            measured.record.at_warmup = *measured.link.stats();
        }
        for flow in self
            .applications
            .iter_mut()
            .filter_map(|scheduled| scheduled.application.flow())
        {
            flow.end_warmup();
        }
    }

    /// Observes the next flows in turn.
    fn observe(&mut self) {
        for scheduled in turn(&mut self.applications, self.observations) {
            scheduled.application.observe(&self.hosts, self.network.now);
        }
        self.observations += 1;
    }

    /// Records a point for the curves of the next flows in turn.
    fn sample(&mut self) {
        for scheduled in turn(&mut self.applications, self.points) {
            scheduled.application.sample(&self.hosts, self.network.now);
        }
        self.points += 1;
    }
}

/// The applications whose turn it is: all, as long as there are no more than [`MAX_OBSERVED`].
fn turn(
    applications: &mut [ScheduledApplication],
    number: usize,
) -> impl Iterator<Item = &mut ScheduledApplication> {
    let strides = applications.len().div_ceil(MAX_OBSERVED).max(1);
    applications
        .iter_mut()
        .skip(number % strides)
        .step_by(strides)
}

/// Whether an application would be woken: there is something to read, the stream has ended, or a third
/// of the send buffer is free (`sk_stream_write_space`).
fn is_ready(end: &Connection) -> bool {
    end.readable() > 0 || end.writable() >= SEND_BUFFER / 3 || end.at_end()
}

/// Schedules when an application is woken next, if it asks for that.
fn schedule(network: &mut Network, number: usize, wake_at: Option<Instant>) {
    if let Some(at) = wake_at {
        let target = Target::new(Kind::Application, number);
        network.events.wake_by(target, at);
    }
}

#[cfg(test)]
mod tests;
