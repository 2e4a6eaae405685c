//! Records of a flow and of fetches.

use super::Context;
use crate::hosts::{Hosts, Pair};
use crate::packet::ConnectionId;
use std::collections::BTreeMap;
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_measure::{Distribution, Window, ratio};
use tidegate_scenario::{Direction, FetchResult, FlowResult, RunResult, Side};
use tidegate_tcp::Connection;

/// One connection that lives for as long as its workload, from one direction's point of view.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Bytes that the application has received.
    pub received: u64,
    /// The connection, once there is one.
    pub connection: Option<ConnectionId>,
    /// When the client began to connect.
    pub began: Option<Instant>,
    /// When the last byte arrived, if the flow has a last byte.
    pub completed: Option<Instant>,
    /// Which way the data goes.
    pub direction: Direction,
    /// Its name in the results.
    pub name: String,
    /// The sender's smoothed RTT, sampled after the warm-up.
    pub srtt: Distribution,
    /// Samples over time, if curves are wanted.
    pub samples: Vec<Sample>,
    /// Retransmitted packets.
    pub retransmits: u64,
    received_in_warmup: u64,
    window: Window,
}

/// A flow at one time.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// When.
    pub at: Instant,
    /// Bytes that the application had received.
    pub received: u64,
    /// The sender's smoothed RTT.
    pub srtt: Option<Duration>,
    /// The sender's congestion window in segments.
    pub cwnd: u32,
    /// The window that the receiver has advertised, as the sender has it, in bytes.
    pub peer_window: u64,
    /// The sender's retransmission timeouts so far.
    pub timeouts: u64,
    /// The last round trip that a law measured with the flow's data.
    pub law_rtt: Option<Duration>,
}

impl Flow {
    /// A flow that has not begun.
    pub fn new(name: String, direction: Direction, window: Window) -> Self {
        Self {
            received: 0,
            connection: None,
            began: None,
            completed: None,
            direction,
            name,
            srtt: Distribution::default(),
            samples: Vec::new(),
            received_in_warmup: 0,
            retransmits: 0,
            window,
        }
    }

    /// The side that sends the data.
    pub fn sender(&self) -> Side {
        match self.direction {
            Direction::Down => Side::Server,
            Direction::Up => Side::Client,
        }
    }

    /// The warm-up is over.
    pub fn end_warmup(&mut self) {
        self.received_in_warmup = self.received;
    }

    /// The sender's smoothed RTT is this now.
    pub fn note_rtt(&mut self, now: Instant, rtt: Duration) {
        if self.window.counts(now) {
            self.srtt.record(rtt);
        }
    }

    /// The connection and its sending end, while there are both.
    pub fn sending<'a>(&self, hosts: &'a Hosts) -> Option<(&'a Pair, &'a Connection)> {
        let pair = hosts.pair(self.connection?)?;
        Some((pair, pair.end(self.sender())?))
    }

    /// Records the sender's RTT and retransmissions.
    pub fn observe(&mut self, hosts: &Hosts, now: Instant) {
        let Some((_, end)) = self.sending(hosts) else {
            return;
        };
        let info = end.info();
        self.retransmits = self.retransmits.max(info.retransmits);
        if !is_open(end) {
            return;
        }
        if let Some(srtt) = info.srtt {
            self.note_rtt(now, srtt);
        }
    }

    /// Its term is over: resets a connection that has no end of its own.
    pub fn stop(&mut self, context: &mut Context) {
        if let (Some(connection), None) = (self.connection, self.completed) {
            self.observe(context.hosts, context.now());
            context.abort(connection);
        }
    }

    /// Records a sample of the sender's state for curves.
    pub fn sample(&mut self, hosts: &Hosts, now: Instant) {
        let Some((pair, end)) = self.sending(hosts) else {
            return;
        };
        if !is_open(end) {
            return;
        }
        let info = end.info();
        self.samples.push(Sample {
            at: now,
            received: self.received,
            srtt: info.srtt,
            cwnd: info.cwnd,
            peer_window: info.peer_window,
            timeouts: info.timeouts,
            law_rtt: pair.law_rtt_us(self.direction).map(micros),
        });
    }

    /// Adds the flow to the results; `end` is the end of its term.
    pub fn report(&mut self, hosts: &Hosts, end: Instant, result: &mut RunResult) {
        self.observe(hosts, end);
        result.flows.push(self.result(end));
    }

    /// The flow in the schema's terms; `end` is the end of its term.
    pub fn result(&self, end: Instant) -> FlowResult {
        let from = self.began.unwrap_or(end).max(self.window.warmup);
        // It may have ended in the warm-up.
        let to = self.completed.unwrap_or(end).min(end).max(from);
        let bytes = self.received - self.received_in_warmup;
        FlowResult {
            name: self.name.clone(),
            direction: self.direction.into(),
            goodput_bps: ratio(bytes as f64 * 8.0, (to - from).as_secs_f64()),
            from_s: (from - Instant::ZERO).as_secs_f64(),
            to_s: (to - Instant::ZERO).as_secs_f64(),
            rtt_ms: self.srtt.quantiles_ms(),
            retransmits: self.retransmits,
            completion_s: self
                .completed
                .zip(self.began)
                .map(|(end, start)| (end - start).as_secs_f64()),
            age_ms: None,
        }
    }
}

/// Whether the application still holds the connection: once its peer has closed, it closes too and asks no more.
fn is_open(end: &Connection) -> bool {
    end.is_established() && !end.at_end()
}

fn micros(us: u32) -> Duration {
    Duration::from_micros(us.into())
}

/// A workload's fetches, by size.
#[derive(Clone, Debug)]
pub struct Fetches {
    name: String,
    by_size: BTreeMap<u64, Distribution>,
    window: Window,
}

impl Fetches {
    /// None yet.
    pub fn new(name: String, window: Window) -> Self {
        Self {
            name,
            by_size: BTreeMap::new(),
            window,
        }
    }

    /// An object of `bytes` has arrived completely; objects requested during the warm-up do not count.
    pub fn push(&mut self, bytes: u64, began: Instant, ended: Instant) {
        if self.window.counts(began) {
            self.by_size.entry(bytes).or_default().record(ended - began);
        }
    }

    /// The fetches in the schema's terms.
    pub fn results(&self) -> impl Iterator<Item = FetchResult> {
        self.by_size.iter().map(|(&bytes, times)| FetchResult {
            name: self.name.clone(),
            bytes,
            count: times.count(),
            time_ms: times.quantiles_ms(),
        })
    }
}
