//! A source that sends at a rate for a while and falls silent for a while, over TCP or in datagrams.

use super::{Application, Context, Flow};
use crate::hosts::Hosts;
use crate::packet::Datagram;
use crate::random;
use rand_pcg::Pcg64Mcg;
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_measure::Window;
use tidegate_scenario::{Carrier, OnOffSpec, RunResult, Side};
use tidegate_tcp::Connection;

/// Payload of a full segment in bytes: what TCP is given at a time.
const SEGMENT: u64 = 1448;

/// IP and UDP headers, in bytes.
const HEADERS: u64 = 28;

/// A source and its sink.
pub struct OnOff {
    flow: Flow,
    source: Source,
    carrier: Carrier,
    /// Bytes sent so far.
    sent: u64,
    over: bool,
}

/// What has been produced, in whole units: the part of a unit left when a period ends is completed in the next period.
struct Source {
    spec: OnOffSpec,
    rng: Pcg64Mcg,
    unit: u64,
    is_on: bool,
    /// The period in hand; none before the first.
    period: Option<[Instant; 2]>,
    /// Bytes produced before it.
    before: f64,
}

impl Source {
    /// Enters the periods that have begun by `now`.
    fn advance(&mut self, now: Instant) {
        loop {
            let from = match self.period {
                Some([_, to]) if to > now => return,
                Some([from, to]) => {
                    self.before += self.produced_in(to - from);
                    to
                }
                None => now,
            };
            self.is_on = !self.is_on;
            let of = match self.is_on {
                true => self.spec.on,
                false => self.spec.off,
            };
            // A drawn period can be longer than any run, or be rounded to nothing.
            let seconds = of.draw(&mut self.rng).clamp(1e-9, 1e8);
            self.period = Some([from, from + Duration::from_secs_f64(seconds)]);
        }
    }

    fn produced_in(&self, time: Duration) -> f64 {
        match self.is_on {
            true => self.bytes_per_second() * time.as_secs_f64(),
            false => 0.0,
        }
    }

    fn bytes_per_second(&self) -> f64 {
        self.spec.mbps * 1e6 / 8.0
    }

    /// Bytes of the units that are complete by `now`.
    fn owed(&mut self, now: Instant) -> u64 {
        self.advance(now);
        let [from, _] = self.period.unwrap_or([now; 2]);
        let produced = self.before + self.produced_in(now - from);
        // A unit is due at a whole nanosecond, which can lie slightly before it is complete.
        (produced + 1e-3) as u64 / self.unit * self.unit
    }

    /// When there can be more than `bytes`.
    fn next(&self, now: Instant, bytes: u64) -> Instant {
        let [from, to] = self.period.unwrap_or([now; 2]);
        if !self.is_on {
            return to;
        }
        let missing = (bytes + self.unit) as f64 - self.before;
        let whole = from + Duration::from_secs_f64(missing.max(0.0) / self.bytes_per_second());
        const NEXT: Duration = Duration::from_nanos(1);
        whole.max(now + NEXT).min(to)
    }
}

impl OnOff {
    /// A source of that name.
    pub fn new(name: &str, spec: &OnOffSpec, seed: u64, window: Window) -> Self {
        Self {
            flow: Flow::new(name.to_owned(), spec.direction, window),
            source: Source {
                spec: spec.clone(),
                rng: random::stream(seed, name),
                unit: match spec.transport {
                    Carrier::Tcp => SEGMENT,
                    Carrier::Udp => spec.packet_bytes,
                },
                is_on: false,
                period: None,
                before: 0.0,
            },
            carrier: spec.transport,
            sent: 0,
            over: false,
        }
    }

    /// Writes the bytes owed. Returns when there will be more.
    fn write(&mut self, now: Instant, end: &mut Connection) -> Instant {
        let owed = self.source.owed(now);
        if end.is_established() {
            self.sent += end.write(owed - self.sent);
        }
        self.source.next(now, owed)
    }

    fn send(&mut self, context: &mut Context) -> Instant {
        let now = context.now();
        let owed = self.source.owed(now);
        while self.sent < owed {
            context.send(self.flow.direction, self.source.unit);
            self.sent += self.source.unit;
        }
        self.source.next(now, owed)
    }
}

impl Application for OnOff {
    fn wake(&mut self, context: &mut Context) -> Option<Instant> {
        let now = context.now();
        self.flow.began.get_or_insert(now);
        if self.carrier == Carrier::Udp {
            return Some(self.send(context));
        }
        let connection = match self.flow.connection {
            Some(connection) => connection,
            None => *self.flow.connection.insert(context.open(0)),
        };
        let sender = self.flow.sender();
        // The server's end, which appears with the SYN, is told of its progress.
        context.with(connection, sender, |end| self.write(now, end))
    }

    fn progress(
        &mut self,
        now: Instant,
        _tag: u32,
        side: Side,
        end: &mut Connection,
    ) -> Option<Instant> {
        if side == self.flow.sender() {
            return Some(self.write(now, end));
        }
        self.flow.received += end.read(now, u64::MAX);
        None
    }

    fn datagram(&mut self, _now: Instant, _side: Side, _datagram: &Datagram) -> Option<u64> {
        if !self.over {
            self.flow.received += self.source.unit - HEADERS;
        }
        None
    }

    fn stop(&mut self, context: &mut Context) {
        self.over = true;
        self.flow.stop(context);
    }

    fn flow(&mut self) -> Option<&mut Flow> {
        Some(&mut self.flow)
    }

    fn report(&mut self, hosts: &Hosts, end: Instant, result: &mut RunResult) {
        self.flow.report(hosts, end, result);
    }
}
