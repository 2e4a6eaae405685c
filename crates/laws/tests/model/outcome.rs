//! The results of an experiment.

use super::{Data, MSS};
use tidegate_link::{Delivery, Instant, Packet};

/// Width of a bin, in ns.
const BIN_NS: u64 = 100_000_000;

/// Rate, delays and bins are the first link's.
#[derive(Debug, Default)]
pub struct Outcome {
    pub utilisation: f64,
    pub mean_delay_ms: f64,
    pub p95_delay_ms: f64,
    pub peak_delay_ms: f64,
    /// Bytes that each link could have carried after the warm-up, headers included.
    pub capacities: Vec<u64>,
    /// Bytes received after the warm-up, by flow.
    pub bytes: Vec<u64>,
    /// Mean time that these bytes spent in queues, in ms, by flow.
    pub queued_ms: Vec<f64>,
    /// When each flow's group changed, in s, and the name of the new one; `None` for a record of its own.
    pub groups: Vec<Vec<(f64, Option<u32>)>>,
    /// Times at which each flow's chunks were complete, in s.
    pub chunk_s: Vec<Vec<f64>>,
    /// Times that `tide` asked whose queue it is.
    pub questions: u32,
    /// Mean delay in ms and payload bytes of every 100 ms.
    pub bins: Vec<(f64, u64)>,
}

impl Outcome {
    /// The group of a flow at a time in s.
    pub fn group(&self, flow: usize, at_s: f64) -> Option<u32> {
        let past = self.groups[flow].iter().rev().find(|(s, _)| *s <= at_s);
        past.and_then(|(_, group)| *group)
    }

    /// The times in s, from and to, in which two flows steered by one record.
    #[allow(dead_code, reason = "not every test asks who shares")]
    pub fn together(&self, one: usize, other: usize) -> Vec<(f64, f64)> {
        let changes = self.groups[one].iter().chain(&self.groups[other]);
        let mut times: Vec<f64> = changes.map(|(s, _)| *s).collect();
        times.sort_by(f64::total_cmp);
        let end_s = self.bins.len() as f64 / 10.0;
        let mut spans: Vec<(f64, f64)> = Vec::new();
        for (i, &from_s) in times.iter().enumerate() {
            let until_s = times.get(i + 1).copied().unwrap_or(end_s);
            let mine = self.group(one, from_s);
            if mine.is_none() || mine != self.group(other, from_s) {
                continue;
            }
            match spans.last_mut() {
                Some(last) if last.1 == from_s => last.1 = until_s,
                _ => spans.push((from_s, until_s)),
            }
        }
        spans
    }

    /// The share of a link that `flows` used.
    #[allow(dead_code, reason = "most tests have one link")]
    pub fn used(&self, link: usize, flows: &[usize]) -> f64 {
        let payload: u64 = flows.iter().map(|&flow| self.bytes[flow]).sum();
        let wire = payload / u64::from(MSS) * (u64::from(MSS) + super::HEADERS as u64);
        wire as f64 / self.capacities[link] as f64
    }
}

/// Takes notes on the way.
pub struct Record {
    warm: Instant,
    delivered: u64,
    delays_ms: Vec<f64>,
    out: Outcome,
}

impl Record {
    pub fn new(flows: usize, warm: Instant) -> Self {
        let out = Outcome {
            bytes: vec![0; flows],
            queued_ms: vec![0.0; flows],
            groups: vec![Vec::new(); flows],
            chunk_s: vec![Vec::new(); flows],
            ..Outcome::default()
        };
        Self {
            warm,
            delivered: 0,
            delays_ms: Vec::new(),
            out,
        }
    }

    /// A segment leaves a link.
    pub fn crossed(&mut self, link: usize, delivery: &Delivery<Data>) {
        if link > 0 {
            return;
        }
        let queued_ms = delivery.queued.as_secs_f64() * 1e3;
        self.bin(delivery.due, queued_ms);
        if delivery.due >= self.warm {
            self.delays_ms.push(queued_ms);
            self.delivered += delivery.packet.wire_bytes() as u64;
        }
    }

    /// The segment arrives, and its flow is in `group` now.
    pub fn arrived(&mut self, data: &Data, now: Instant, group: Option<u32>) {
        let groups = &mut self.out.groups[data.flow];
        if groups.last().and_then(|last| last.1) != group {
            groups.push((now.as_nanos() as f64 / 1e9, group));
        }
        if now >= self.warm {
            let bytes = &mut self.out.bytes[data.flow];
            *bytes += u64::from(MSS);
            let mean_ms = &mut self.out.queued_ms[data.flow];
            *mean_ms +=
                (data.queued.as_secs_f64() * 1e3 - *mean_ms) / (*bytes / u64::from(MSS)) as f64;
        }
    }

    fn bin(&mut self, due: Instant, queued_ms: f64) {
        let bin = (due.as_nanos() / BIN_NS) as usize;
        if self.out.bins.len() <= bin {
            self.out.bins.resize(bin + 1, (0.0, 0));
        }
        let (mean, bytes) = &mut self.out.bins[bin];
        *bytes += u64::from(MSS);
        *mean += (queued_ms - *mean) / (*bytes / u64::from(MSS)) as f64;
    }

    pub fn chunk(&mut self, flow: usize, now: Instant) {
        self.out.chunk_s[flow].push(now.as_nanos() as f64 / 1e9);
    }

    /// Sums up. `capacities`: bytes that each link could have carried after the warm-up.
    pub fn outcome(mut self, capacities: Vec<u64>, questions: u32) -> Outcome {
        let delays = &mut self.delays_ms;
        delays.sort_by(f64::total_cmp);
        let count = delays.len().max(1);
        let at = |share: usize| delays.get(delays.len() * share / 100).copied();
        self.out.utilisation = self.delivered as f64 / capacities[0] as f64;
        self.out.capacities = capacities;
        self.out.mean_delay_ms = delays.iter().sum::<f64>() / count as f64;
        self.out.p95_delay_ms = at(95).unwrap_or(0.0);
        self.out.peak_delay_ms = delays.last().copied().unwrap_or(0.0);
        self.out.questions = questions;
        self.out
    }
}
