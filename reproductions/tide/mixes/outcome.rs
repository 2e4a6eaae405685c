//! The outcome of a mix with one contender.

use super::mix::Mix;
use crate::means::mean;
use crate::tide::contenders::Contender;
use tidegate_scenario::{FetchResult, FlowDirection, RunResult, Workload, WorkloadKind};
use tidegate_study::Sample;

/// The outcome of a mix; each number is a mean over the seeds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Lasting flows: their names and goodputs in bit/s.
    pub flows: Vec<(String, f64)>,
    /// Workloads of short flows.
    pub fetches: Vec<Fetched>,
    /// Mean queueing delay at each link in ms: downlink, uplink, hops.
    pub queues_ms: Vec<f64>,
}

/// Fetches of a workload of short flows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fetched {
    /// The workload.
    pub name: String,
    /// Payload in bit/s.
    pub bps: f64,
    /// Mean time of a fetch in ms, every size weighing the same.
    pub mean_ms: f64,
}

impl Outcome {
    /// The outcome of `mix` with that contender.
    pub fn read(sample: &Sample, mix: &Mix, contender: Contender) -> Self {
        let seeds: Vec<Self> = sample
            .runs(&mix.by(contender))
            .map(|run| Self::of(mix, run))
            .collect();
        Self::mean(&seeds)
    }

    fn of(mix: &Mix, run: &RunResult) -> Self {
        let lasting = run.flows.iter();
        let lasting = lasting.filter(|flow| flow.direction != FlowDirection::Echo);
        let short = mix.scenario.workloads.iter().filter(|w| is_short(w));
        let hops = run.hops.iter().map(|hop| &hop.link);
        let links = [&run.link, &run.uplink].into_iter().chain(hops);
        Self {
            flows: lasting
                .map(|flow| (flow.name.clone(), flow.goodput_bps))
                .collect(),
            fetches: short
                .map(|workload| Fetched::of(mix, &workload.name, &run.fetches))
                .collect(),
            queues_ms: links.map(|link| link.queue_delay_ms.mean).collect(),
        }
    }

    /// The mean of each number over the seeds.
    fn mean(seeds: &[Self]) -> Self {
        let mut together = seeds.first().cloned().unwrap_or_default();
        let over = |read: &dyn Fn(&Self) -> f64| mean(seeds.iter().map(read));
        for (nth, flow) in together.flows.iter_mut().enumerate() {
            flow.1 = over(&|seed| seed.flows[nth].1);
        }
        for (nth, fetched) in together.fetches.iter_mut().enumerate() {
            fetched.bps = over(&|seed| seed.fetches[nth].bps);
            fetched.mean_ms = over(&|seed| seed.fetches[nth].mean_ms);
        }
        for (nth, queue) in together.queues_ms.iter_mut().enumerate() {
            *queue = over(&|seed| seed.queues_ms[nth]);
        }
        together
    }

    /// All goodput, in bit/s.
    pub fn total_bps(&self) -> f64 {
        let lasting: f64 = self.flows.iter().map(|flow| flow.1).sum();
        let fetched: f64 = self.fetches.iter().map(|fetched| fetched.bps).sum();
        lasting + fetched
    }
}

impl Fetched {
    fn of(mix: &Mix, name: &str, fetches: &[FetchResult]) -> Self {
        let sizes: Vec<&FetchResult> = fetches.iter().filter(|fetch| fetch.name == name).collect();
        let bytes = sizes.iter().map(|fetch| (fetch.count * fetch.bytes) as f64);
        Self {
            name: name.into(),
            bps: bytes.sum::<f64>() * 8.0 / mix.counted_s(),
            mean_ms: match sizes.is_empty() {
                // Nothing arrived in the whole time.
                true => mix.counted_s() * 1e3,
                false => mean(sizes.iter().map(|fetch| fetch.time_ms.mean)),
            },
        }
    }
}

/// Whether a workload's connections last no longer than an object or a page.
pub fn is_short(workload: &Workload) -> bool {
    matches!(
        workload.does,
        WorkloadKind::Web { .. } | WorkloadKind::Page { .. }
    )
}
