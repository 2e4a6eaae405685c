//! Flows that arrive one after another, whether or not earlier ones have ended, each on its own connection.

use super::{Application, Context};
use crate::hosts::Hosts;
use crate::idle::IdleWay;
use crate::packet::ConnectionId;
use crate::random;
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_measure::{Window, quantiles, ratio};
use tidegate_scenario::{
    ArrivalsResult, Direction, FlowClassResult, FlowsSpec, RunResult, Side, SizeDistribution,
};
use tidegate_tcp::Connection;

/// Senders and receivers of flows.
pub struct Flows {
    name: String,
    spec: FlowsSpec,
    sizes: SizeDistribution,
    idle: IdleWay,
    /// Mean time between two arrivals.
    mean_gap: f64,
    /// When the next flow arrives, in mean gaps since the term began; none before the term.
    next: Option<f64>,
    began: Instant,
    /// Separate streams for arrival times and sizes, so that a change of one leaves the other as it was.
    gaps: Pcg64Mcg,
    lengths: Pcg64Mcg,
    /// Flows in progress, by the tag of their connection.
    live: BTreeMap<u32, Live>,
    arrived: u32,
    log: Log,
    window: Window,
}

/// A flow that has not ended.
struct Live {
    bytes: u64,
    unwritten: u64,
    began: Instant,
    connection: ConnectionId,
}

/// Records of flows that arrived after the warm-up.
#[derive(Default)]
struct Log {
    /// Arrivals of each class.
    started: Vec<u64>,
    finished: Vec<Finished>,
    offered: u64,
    delivered: u64,
}

/// A flow whose last byte has arrived.
#[derive(Clone, Copy)]
struct Finished {
    class: usize,
    took: Duration,
    slowdown: f64,
}

impl Flows {
    /// The flows of the workload with that name over that path.
    pub fn new(
        name: &str,
        spec: &FlowsSpec,
        sizes: SizeDistribution,
        idle: IdleWay,
        (seed, window): (u64, Window),
    ) -> Self {
        let per_second = spec.arrivals.per_second(sizes.mean(), idle.bps);
        Self {
            name: name.to_owned(),
            mean_gap: 1.0 / per_second,
            next: None,
            began: Instant::ZERO,
            gaps: random::stream(seed, &format!("{name} arrivals")),
            lengths: random::stream(seed, &format!("{name} sizes")),
            live: BTreeMap::new(),
            arrived: 0,
            log: Log {
                started: vec![0; spec.class_bytes.len() + 1],
                ..Log::default()
            },
            spec: spec.clone(),
            sizes,
            idle,
            window,
        }
    }

    fn sender(&self) -> Side {
        match self.spec.direction {
            Direction::Down => Side::Server,
            Direction::Up => Side::Client,
        }
    }

    /// When the next flow arrives.
    fn due(&mut self, now: Instant) -> Instant {
        let next = match self.next {
            Some(next) => next,
            None => {
                self.began = now;
                *self.next.insert(self.spec.arrivals.gap(&mut self.gaps))
            }
        };
        // Later than the end of every run.
        const MOST: f64 = 1e8;
        self.began + Duration::from_secs_f64((next * self.mean_gap).min(MOST))
    }

    fn begin(&mut self, context: &mut Context) {
        let (bytes, now) = (self.sizes.draw(&mut self.lengths), context.now());
        let tag = self.arrived;
        self.arrived += 1;
        if self.window.counts(now) {
            self.log.started[self.spec.class_of(bytes)] += 1;
            self.log.offered += bytes;
        }
        let live = Live {
            bytes,
            unwritten: bytes,
            began: now,
            connection: context.open(tag),
        };
        self.live.insert(tag, live);
    }

    /// All bytes have arrived.
    fn end(&mut self, now: Instant, tag: u32) {
        let Some(flow) = self.live.remove(&tag) else {
            return;
        };
        if self.window.counts(flow.began) {
            let took = now - flow.began;
            self.log.finished.push(Finished {
                class: self.spec.class_of(flow.bytes),
                took,
                slowdown: took.as_secs_f64() / self.idle.completion(flow.bytes).as_secs_f64(),
            });
        }
    }
}

impl Application for Flows {
    fn wake(&mut self, context: &mut Context) -> Option<Instant> {
        while self.due(context.now()) <= context.now() {
            self.begin(context);
            let gap = self.spec.arrivals.gap(&mut self.gaps);
            self.next = self.next.map(|next| next + gap);
        }
        Some(self.due(context.now()))
    }

    fn progress(
        &mut self,
        now: Instant,
        tag: u32,
        side: Side,
        end: &mut Connection,
    ) -> Option<Instant> {
        let sender = self.sender();
        // Connections of flows that have ended close by themselves.
        let flow = self.live.get_mut(&tag)?;
        if side == sender {
            if end.is_established() && flow.unwritten > 0 {
                flow.unwritten -= end.write(flow.unwritten);
                if flow.unwritten == 0 {
                    end.close();
                }
            }
            return None;
        }
        let read = end.read(now, u64::MAX);
        if self.window.counts(now) {
            self.log.delivered += read;
        }
        if end.at_end() {
            end.close();
            self.end(now, tag);
        }
        None
    }

    /// If the flow was still live, its connection broke: it never finishes.
    fn closed(&mut self, _now: Instant, tag: u32, _hosts: &Hosts) -> Option<Instant> {
        self.live.remove(&tag);
        None
    }

    fn stop(&mut self, context: &mut Context) {
        for flow in std::mem::take(&mut self.live).into_values() {
            context.abort(flow.connection);
        }
    }

    fn report(&mut self, _hosts: &Hosts, end: Instant, result: &mut RunResult) {
        let from = self.began.max(self.window.warmup);
        let to = end.max(from);
        let seconds = (to - from).as_secs_f64();
        let classes = 0..self.log.started.len();
        result.arrivals.push(ArrivalsResult {
            name: self.name.clone(),
            direction: self.spec.direction.into(),
            offered_bps: ratio(self.log.offered as f64 * 8.0, seconds),
            goodput_bps: ratio(self.log.delivered as f64 * 8.0, seconds),
            from_s: (from - Instant::ZERO).as_secs_f64(),
            to_s: (to - Instant::ZERO).as_secs_f64(),
            all: FlowClassResult {
                started: self.log.started.iter().sum(),
                ..self.log.result(|_| true)
            },
            classes: classes.map(|class| self.class(class)).collect(),
        });
    }
}

impl Flows {
    fn class(&self, class: usize) -> FlowClassResult {
        let ends = &self.spec.class_bytes;
        FlowClassResult {
            from_bytes: class.checked_sub(1).map_or(0, |before| ends[before]),
            below_bytes: ends.get(class).copied(),
            started: self.log.started[class],
            ..self.log.result(|flow| flow.class == class)
        }
    }
}

impl Log {
    /// The result of those flows, without their sizes and the number of arrivals.
    fn result(&self, of: impl Fn(&&Finished) -> bool) -> FlowClassResult {
        let flows = || self.finished.iter().filter(&of);
        FlowClassResult {
            finished: flows().count() as u64,
            fct_ms: quantiles(flows().map(|flow| flow.took.as_secs_f64() * 1e3).collect()),
            slowdown: quantiles(flows().map(|flow| flow.slowdown).collect()),
            ..FlowClassResult::default()
        }
    }
}
