//! A UDP echo: the round trip that other traffic sees.

use super::{Application, Context};
use crate::hosts::Hosts;
use crate::packet::Datagram;
use std::collections::BTreeMap;
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_measure::{Distribution, Window, curve, ms};
use tidegate_scenario::{Direction, FlowDirection, FlowResult, RunResult, Side};

/// Sum and number of the round trips of each bin.
type Bins = BTreeMap<u64, (Duration, u32)>;

/// A client that measures, and the server that reflects.
pub struct Ping {
    name: String,
    interval: Duration,
    /// Length of the IP packet of an echo.
    bytes: u64,
    next: Option<Instant>,
    times: Distribution,
    /// Sum and number of the round trips by the bin in which they began, with the length of a bin; none without
    /// curves.
    curve: Option<(Duration, Bins)>,
    window: Window,
    over: bool,
}

impl Ping {
    /// Sends an echo at each interval.
    pub fn new(
        name: &str,
        interval_ms: f64,
        bytes: u64,
        window: Window,
        bin: Option<Duration>,
    ) -> Self {
        Self {
            name: name.to_owned(),
            interval: Duration::from_secs_f64(interval_ms / 1e3),
            bytes,
            next: None,
            times: Distribution::default(),
            curve: bin.map(|bin| (bin, Bins::new())),
            window,
            over: false,
        }
    }

    fn came_back(&mut self, sent: Instant, took: Duration) {
        if self.window.counts(sent) {
            self.times.record(took);
        }
        if let Some((width, bins)) = &mut self.curve {
            let bin = bins
                .entry(sent.as_nanos() / width.as_nanos() as u64)
                .or_default();
            *bin = (bin.0 + took, bin.1 + 1);
        }
    }
}

impl Application for Ping {
    fn wake(&mut self, context: &mut Context) -> Option<Instant> {
        let now = context.now();
        let next = *self.next.get_or_insert(now);
        if now >= next {
            context.send(Direction::Up, self.bytes);
            self.next = Some(next + self.interval);
        }
        self.next
    }

    fn datagram(&mut self, now: Instant, side: Side, datagram: &Datagram) -> Option<u64> {
        if self.over {
            return None;
        }
        match side {
            Side::Server => Some(self.bytes),
            Side::Client => {
                self.came_back(datagram.sent, now - datagram.sent);
                None
            }
        }
    }

    fn stop(&mut self, _context: &mut Context) {
        self.over = true;
    }

    fn report(&mut self, _hosts: &Hosts, _end: Instant, result: &mut RunResult) {
        // A ping is a flow without payload, in both directions at once.
        result.flows.push(FlowResult {
            name: self.name.clone(),
            direction: FlowDirection::Echo,
            rtt_ms: self.times.quantiles_ms(),
            ..FlowResult::default()
        });
        result
            .series
            .extend(self.curve.as_ref().map(|(width, bins)| {
                let point = |(&bin, &(sum, count)): (&u64, &(Duration, u32))| {
                    let at = Instant::from_nanos(bin * width.as_nanos() as u64);
                    (at, ms(sum) / f64::from(count))
                };
                curve("rtt_ms", &self.name, bins.iter().map(point).collect())
            }));
    }
}
