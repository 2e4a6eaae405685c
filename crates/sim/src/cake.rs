//! Shapers with CAKE's queues at the client's router, behind the downlink and in front of the uplink, and
//! cake-autorate, which adjusts their rates.
//!
//! The queues are FQ-CoDel with CAKE's target (5 ms, or the time of one and a half packets at the shaper's rate) and
//! CAKE's quantum, which is smaller at slow rates. Left out is what does not affect some flows of one host: isolation
//! of hosts, priorities, BLUE, and the filter of acknowledgements, which is off by default.

mod autorate;

use crate::events::{EventQueue, Kind, Target, clock};
use crate::packet::Probe;
use crate::route::RouteId;
use autorate::{Autorate, Bounds, PING_INTERVAL, PINGERS};
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_link::{Config, FqCodelPolicy, Marking, Policy, QueueConfig, Rate, Stats};
use tidegate_measure::{Window, curve};
use tidegate_scenario::{CakeSpec, Series, ShapedSpec};

/// Bytes that CAKE's queue holds, at least.
const QUEUE_BYTES: usize = 4 << 20;

/// The packet whose transmission time lengthens CAKE's target, in bits.
const PACKET_BITS: f64 = 8.0 * 1514.0;

/// Bytes that a device counts beyond each IP packet: an Ethernet header.
const HEADER_BYTES: u64 = 14;

/// CAKE's quantum, in bytes.
const LEAST_QUANTUM: f64 = 300.0;
const MOST_QUANTUM: f64 = 1514.0;

/// CAKE's target and interval, at least.
const TARGET: Duration = Duration::from_millis(5);
const INTERVAL: Duration = Duration::from_millis(100);

/// The two shapers' rates over time, and the controller that steers them.
#[derive(Debug)]
pub struct Cake {
    autorate: Option<Autorate>,
    /// Numbers of the shapers among the links, down and up.
    pub shapers: [usize; 2],
    /// Routes of an echo, down and up.
    pub routes: [RouteId; 2],
    /// The next echo's number.
    pings: u64,
    /// Bytes that had passed at the last measurement, each packet's Ethernet header included.
    passed: [u64; 2],
    /// Each rate in kbit/s, with the time since when it is in force.
    rates: [Vec<(Instant, f64)>; 2],
}

impl Cake {
    /// Shapers of those numbers, and echoes over those routes.
    pub fn new(spec: &CakeSpec, shapers: [usize; 2], routes: [RouteId; 2]) -> Self {
        let both = [spec.down, spec.up];
        let bounds = both.map(|shaped| {
            let [least, base, most] = shaped.bounds().map(|mbps| (mbps * 1e3).round() as i64);
            Bounds { least, base, most }
        });
        Self {
            autorate: spec.is_steered().then(|| Autorate::new(bounds)),
            shapers,
            routes,
            pings: 0,
            passed: [0; 2],
            rates: both.map(|shaped| vec![(Instant::ZERO, shaped.mbps * 1e3)]),
        }
    }

    /// Begins to steer, if there is a controller.
    pub fn start(&self, events: &mut EventQueue) {
        if let Some(autorate) = &self.autorate {
            let first = Instant::ZERO + autorate.monitor_interval();
            events.wake_by(Target::new(Kind::Clock, clock::PING), Instant::ZERO);
            events.wake_by(Target::new(Kind::Clock, clock::MONITOR), first);
        }
    }

    /// The next echo, and when the one after it follows.
    pub fn ping(&mut self, now: Instant) -> (Probe, Duration) {
        let pinger = (self.pings % PINGERS as u64) as u8;
        self.pings += 1;
        let probe = Probe { pinger, sent: now };
        (probe, PING_INTERVAL / PINGERS as u32)
    }

    /// `passed` bytes have passed the shapers' devices so far. Returns the time until the next measurement.
    pub fn monitor(&mut self, passed: [u64; 2]) -> Option<Duration> {
        let autorate = self.autorate.as_mut()?;
        let further = [0, 1].map(|direction| passed[direction] - self.passed[direction]);
        autorate.achieved(further);
        self.passed = passed;
        Some(autorate.monitor_interval())
    }

    /// An echo is back. Returns the rates that have changed, in bit/s, with the shapers' numbers.
    pub fn answered(&mut self, now: Instant, probe: Probe) -> Vec<(usize, f64)> {
        let Some(autorate) = &mut self.autorate else {
            return Vec::new();
        };
        let before = autorate.rates();
        autorate.answered(now, probe.pinger.into(), now - probe.sent);
        let after = autorate.rates();
        let changed = (0..2).filter(|&direction| after[direction] != before[direction]);
        changed
            .map(|direction| {
                let kbps = after[direction] as f64;
                self.rates[direction].push((now, kbps));
                (self.shapers[direction], kbps * 1e3)
            })
            .collect()
    }

    /// The mean of a shaper's rate within the window, in bit/s.
    pub fn mean_bps(&self, direction: usize, window: Window) -> f64 {
        let rates = &self.rates[direction];
        let ends = rates.iter().skip(1).map(|&(at, _)| at).chain([window.end]);
        let bits = rates.iter().zip(ends).map(|(&(from, kbps), end)| {
            let counted = end.max(window.warmup) - from.max(window.warmup);
            kbps * 1e3 * counted.as_secs_f64()
        });
        bits.sum::<f64>() / (window.end - window.warmup).as_secs_f64()
    }

    /// Curves of the rates: `shaper_bps`, `up_shaper_bps`.
    pub fn curves(&self) -> Vec<Series> {
        let names = ["shaper_bps", "up_shaper_bps"];
        let of = |(name, rates): (&str, &Vec<(Instant, f64)>)| {
            let points = rates.iter().map(|&(at, kbps)| (at, kbps * 1e3));
            curve(name, "", points.collect())
        };
        names.into_iter().zip(&self.rates).map(of).collect()
    }
}

/// Bytes that have passed a shaper's device, as the kernel counts them there.
pub fn passed(stats: &Stats) -> u64 {
    stats.delivered_bytes + HEADER_BYTES * stats.delivered_packets
}

/// The link model of a shaper.
pub fn shaper(shaped: &ShapedSpec) -> Config {
    let bps = shaped.mbps * 1e6;
    Config {
        queue: QueueConfig {
            packets: None,
            bytes: Some(QUEUE_BYTES),
            policy: Policy::FqCodel(queues(bps)),
            // CAKE always marks packets that are ECN-capable.
            marking: Marking {
                ecn: true,
                ..Marking::default()
            },
        },
        rate: Rate::constant(bps),
        ..Config::default()
    }
}

/// CAKE's target, interval and quantum at that rate (`cake_set_rate` of sch_cake.c). The quantum is what passes in
/// 1/4096 s, within its bounds.
pub fn queues(bps: f64) -> FqCodelPolicy {
    let target = TARGET.max(Duration::from_secs_f64(1.5 * PACKET_BITS / bps));
    FqCodelPolicy {
        target,
        interval: (INTERVAL + target - TARGET).max(2 * target),
        quantum: (bps / 8.0 / 4096.0).clamp(LEAST_QUANTUM, MOST_QUANTUM) as u32,
        ..FqCodelPolicy::default()
    }
}

#[cfg(test)]
mod tests;
