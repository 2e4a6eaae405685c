//! The criteria: what a contender must not take away, and what it must shorten.

use super::mix::Mix;
use super::outcome::{Fetched, Outcome};
use super::share::{Demand, Shares};
use tidegate_scenario::{DOWN, UP, Workload, WorkloadKind};

/// A queue of up to this many milliseconds and full packets is short enough, whatever Linux's was: a ratio of two
/// short queues says nothing.
const SHORT_MS: f64 = 2.0;
const SHORT_PACKETS: f64 = 2.0;

/// Packets of the smallest window: many flows fill a link with these, and the excess has to wait.
const SMALLEST_WINDOW: f64 = 2.0;

/// Bits of a full packet.
const PACKET_BITS: f64 = 12_000.0;

/// Criteria for every mix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Criterion {
    /// All goodput together, beside Linux's.
    Total,
    /// Each lasting flow's goodput, beside its due: the smaller of Linux's goodput and its max-min fair share.
    Flow,
    /// Mean time of fetches, beside Linux's.
    Fetch,
    /// The mean queue of the access link if that is a bottleneck, beside Linux's.
    Access,
    /// The mean queue of a bottleneck elsewhere, beside Linux's.
    Elsewhere,
    /// With BBR senders, the mean queue of any bottleneck beside Linux's.
    Bbr,
}

impl Criterion {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Total,
        Self::Flow,
        Self::Fetch,
        Self::Access,
        Self::Elsewhere,
        Self::Bbr,
    ];

    /// The ratio that just passes.
    pub const fn bound(self) -> f64 {
        match self {
            Self::Total => 0.97,
            Self::Flow => 0.90,
            Self::Fetch => 1.10,
            Self::Access => 0.20,
            Self::Elsewhere => 0.25,
            Self::Bbr => 1.0,
        }
    }

    /// Whether a larger ratio is better.
    pub const fn rises(self) -> bool {
        matches!(self, Self::Total | Self::Flow)
    }

    /// In a few words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Total => "total goodput ÷ Linux's",
            Self::Flow => "a flow's goodput ÷ what it is entitled to",
            Self::Fetch => "time of fetches ÷ Linux's",
            Self::Access => "queue of the access link ÷ Linux's",
            Self::Elsewhere => "queue of a bottleneck elsewhere ÷ Linux's",
            Self::Bbr => "BBR: queue of a bottleneck ÷ Linux's",
        }
    }

    /// Unit of its numbers.
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Total | Self::Flow => "Mbit/s",
            _ => "ms",
        }
    }

    /// A finding without a measure passes.
    fn passes(self, ratio: f64) -> bool {
        match self.rises() {
            _ if ratio.is_nan() => true,
            true => ratio >= self.bound(),
            false => ratio <= self.bound(),
        }
    }
}

/// A finding in a mix.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The criterion.
    pub criterion: Criterion,
    /// The flow or link; empty for the whole mix.
    pub of: String,
    /// Linux's number, in the criterion's unit, and that of its other run.
    pub linux: [f64; 2],
    /// The divisor of the contender's number, and the same from Linux's other run.
    pub measure: [f64; 2],
    /// The contender's number.
    pub ours: f64,
}

impl Finding {
    /// The number that is compared with the bound.
    pub fn ratio(&self) -> f64 {
        self.ours / self.measure[0]
    }

    /// Whether the criterion is met.
    pub fn passes(&self) -> bool {
        self.criterion.passes(self.ratio())
    }

    /// Whether it is met beside at least one of Linux's two runs. If it passes beside only one, it is within what
    /// chance alone does to Linux.
    pub fn passes_beside_either(&self) -> bool {
        let mut measures = self.measure.iter();
        measures.any(|measure| self.criterion.passes(self.ours / measure))
    }
}

/// All findings in a mix, compared with Linux's outcome in each of two runs.
pub fn judge(mix: &Mix, linux: [&Outcome; 2], ours: &Outcome) -> Vec<Finding> {
    let demands = demands(mix, ours);
    let shares = Shares::fill(&mix.capacities, &demands);
    let full = (0..mix.capacities.len()).filter(|&link| shares.is_full(link));
    let mut findings = vec![total(linux, ours)];
    findings.extend(flows(linux, ours, &shares));
    findings.extend(fetches(linux, ours));
    findings.extend(full.map(|link| {
        let short_ms = short_ms(mix, link, &demands);
        queue(mix, link, short_ms, linux, ours)
    }));
    findings
}

/// Demands of the flows, then of the workloads of short flows: their fetches were all that they asked for.
fn demands(mix: &Mix, outcome: &Outcome) -> Vec<Demand> {
    let workload = |name: &str| {
        let own = name.split('#').next().unwrap_or(name);
        let mut workloads = mix.scenario.workloads.iter();
        workloads
            .find(|workload| workload.name == own)
            .expect("a workload of that name")
    };
    let lasting = outcome.flows.iter().map(|(name, _)| {
        let workload = workload(name);
        demand(mix, workload, demand_bps(workload))
    });
    let short = outcome.fetches.iter();
    let short = short.map(|fetched| demand(mix, workload(&fetched.name), fetched.bps));
    lasting.chain(short).collect()
}

fn demand(mix: &Mix, workload: &Workload, demand_bps: f64) -> Demand {
    Demand {
        links: mix.way(workload),
        demand_bps,
    }
}

/// Demand of a lasting flow: a stream or a video its own rate, all others unlimited.
fn demand_bps(workload: &Workload) -> f64 {
    match workload.does {
        WorkloadKind::ConstantRate { mbps, .. } | WorkloadKind::Video { mbps, .. } => mbps * 1e6,
        _ => f64::INFINITY,
    }
}

fn total(linux: [&Outcome; 2], ours: &Outcome) -> Finding {
    let mbps = |outcome: &Outcome| outcome.total_bps() / 1e6;
    Finding {
        criterion: Criterion::Total,
        of: String::new(),
        linux: linux.map(mbps),
        measure: linux.map(mbps),
        ours: mbps(ours),
    }
}

fn flows(linux: [&Outcome; 2], ours: &Outcome, shares: &Shares) -> Vec<Finding> {
    let finding = |(nth, ((name, ours_bps), share)): (usize, (&(String, f64), &f64))| {
        let bps = linux.map(|run| run.flows[nth].1);
        Finding {
            criterion: Criterion::Flow,
            of: name.clone(),
            linux: bps.map(|bps| bps / 1e6),
            measure: bps.map(|bps| bps.min(*share) / 1e6),
            ours: ours_bps / 1e6,
        }
    };
    let pairs = ours.flows.iter().zip(&shares.bps);
    pairs.enumerate().map(finding).collect()
}

fn fetches(linux: [&Outcome; 2], ours: &Outcome) -> Vec<Finding> {
    let finding = |(nth, ours): (usize, &Fetched)| {
        let linux = linux.map(|run| run.fetches[nth].mean_ms);
        Finding {
            criterion: Criterion::Fetch,
            of: ours.name.clone(),
            linux,
            measure: linux,
            ours: ours.mean_ms,
        }
    };
    ours.fetches.iter().enumerate().map(finding).collect()
}

fn queue(mix: &Mix, link: usize, short_ms: f64, linux: [&Outcome; 2], ours: &Outcome) -> Finding {
    let criterion = match (mix.sender, link) {
        ("bbr", _) => Criterion::Bbr,
        (_, DOWN | UP) => Criterion::Access,
        _ => Criterion::Elsewhere,
    };
    let linux = linux.map(|run| run.queues_ms[link]);
    Finding {
        criterion,
        of: mix.link_name(link).into(),
        linux,
        // A measure with which a short queue passes.
        measure: linux.map(|ms| ms.max(short_ms / criterion.bound())),
        ours: ours.queues_ms[link],
    }
}

/// Length of a queue that is short enough at that link, in ms.
fn short_ms(mix: &Mix, link: usize, demands: &[Demand]) -> f64 {
    let packet_ms = PACKET_BITS / mix.capacities[link] * 1e3;
    let crossing = demands.iter().filter(|demand| demand.links.contains(&link));
    let smallest_ms = SMALLEST_WINDOW * packet_ms * crossing.count() as f64;
    SHORT_MS + SHORT_PACKETS * packet_ms + (smallest_ms - mix.rtt_ms(link)).max(0.0)
}

#[cfg(test)]
mod tests;
