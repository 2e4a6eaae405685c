//! The few numbers of a run that tables, figures and the reading all use.

use crate::fairness::jain;
use tidegate_scenario::{
    Direction, FlowDirection, FlowResult, LinkResult, Quantiles, ResultSet, RunResult,
};

/// One run in the direction under study, with the other direction's numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digest<'a> {
    /// The run itself.
    pub(crate) run: &'a RunResult,
    /// Of all flows together, in bit/s.
    pub(crate) goodput_bps: Option<f64>,
    /// The sender's RTT. With several flows, the largest of each number.
    pub(crate) rtt_ms: Option<Quantiles>,
    /// Segments retransmitted by all flows.
    pub(crate) retransmits: Option<u64>,
    /// Seconds to the last byte, of a lone flow.
    pub(crate) completion_s: Option<f64>,
    /// Jain's index of the goodputs, if there are several flows that were there at one time.
    pub(crate) jain: Option<f64>,
    /// The link that they share.
    pub(crate) link: &'a LinkResult,
    /// Queueing delay on it.
    pub(crate) queue_ms: Option<Quantiles>,
    /// Of all flows the other way together, in bit/s.
    pub(crate) other_goodput_bps: Option<f64>,
    /// Queueing delay of the other direction.
    pub(crate) other_queue_ms: Option<Quantiles>,
}

/// Digests of all runs. The direction under study is down, unless all runs have only uploads.
pub(crate) fn digests(set: &ResultSet) -> Vec<Digest<'_>> {
    let direction = studied(set);
    set.runs
        .iter()
        .map(|run| Digest::new(run, direction))
        .collect()
}

/// The direction that a result set is about.
pub(crate) fn studied(set: &ResultSet) -> Direction {
    let any = |direction| {
        let mut runs = set.runs.iter();
        runs.any(|run| run.goodput_bps(direction).is_some())
    };
    let fetched = set.runs.iter().any(|run| !run.fetches.is_empty());
    if any(Direction::Up) && !any(Direction::Down) && !fetched {
        Direction::Up
    } else {
        Direction::Down
    }
}

impl<'a> Digest<'a> {
    /// The digest of one run.
    pub(crate) fn new(run: &'a RunResult, direction: Direction) -> Self {
        let (other, link, other_link) = match direction {
            Direction::Down => (Direction::Up, &run.link, &run.uplink),
            Direction::Up => (Direction::Down, &run.uplink, &run.link),
        };
        let own: Vec<&FlowResult> = flows(run, direction).collect();
        let goodputs: Vec<f64> = own.iter().map(|flow| flow.goodput_bps).collect();
        let rival = run.goodput_bps(other);
        let shared = own.len() > 1 && run.flows_met(direction);
        Self {
            run,
            goodput_bps: run.goodput_bps(direction),
            rtt_ms: own
                .iter()
                .filter_map(|flow| counted(flow.rtt_ms))
                .reduce(larger),
            retransmits: run
                .flows
                .iter()
                .map(|flow| flow.retransmits)
                .reduce(|a, b| a + b),
            completion_s: own
                .first()
                .filter(|_| own.len() == 1)
                .and_then(|f| f.completion_s),
            jain: if shared { jain(&goodputs) } else { None },
            link,
            queue_ms: counted(link.queue_delay_ms),
            other_goodput_bps: rival,
            other_queue_ms: counted(other_link.queue_delay_ms).filter(|_| rival.is_some()),
        }
    }

    /// 95th percentile of the queueing delay.
    pub(crate) fn queue_delay_p95_ms(&self) -> Option<f64> {
        self.queue_ms.map(|queue| queue.p95)
    }
}

fn flows(run: &RunResult, direction: Direction) -> impl Iterator<Item = &FlowResult> {
    let direction = FlowDirection::from(direction);
    let flows = run.flows.iter();
    flows.filter(move |flow| flow.direction == direction)
}

/// A distribution, unless it is empty.
pub(crate) fn counted(quantiles: Quantiles) -> Option<Quantiles> {
    (quantiles.max > 0.0 || quantiles.mean > 0.0).then_some(quantiles)
}

/// `value ÷ base`, if both are known and the base is not zero.
pub(crate) fn ratio(value: Option<f64>, base: Option<f64>) -> Option<f64> {
    let (value, base) = (value?, base?);
    (base > 0.0).then(|| value / base)
}

fn larger(a: Quantiles, b: Quantiles) -> Quantiles {
    Quantiles {
        mean: a.mean.max(b.mean),
        p50: a.p50.max(b.p50),
        p95: a.p95.max(b.p95),
        p99: a.p99.max(b.p99),
        max: a.max.max(b.max),
    }
}

#[cfg(test)]
mod tests;
