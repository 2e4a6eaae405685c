//! Which numbers are compared, and how far they may differ.

use super::reasons::{Known, Reasons};
use tidegate_scenario::{Comparison, Direction, FlowDirection, FlowResult, LinkResult, RunResult};

/// A number that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Payload delivered to the applications, all flows together.
    Goodput,
    /// Median of the sender's smoothed RTT; of several flows, the mean of their medians.
    MedianRtt,
    /// 95th percentile of the queueing delay before the link that the data cross.
    QueueP95,
}

impl Quantity {
    /// All quantities, in the table's order.
    pub const ALL: [Self; 3] = [Self::Goodput, Self::MedianRtt, Self::QueueP95];

    /// Its name in the result schema.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Goodput => "goodput_bps",
            Self::MedianRtt => "rtt_ms.p50",
            Self::QueueP95 => "queue_delay_ms.p95",
        }
    }

    /// The largest error that passes, as a share of the kernel's value.
    const fn allowed(self) -> f64 {
        match self {
            Self::Goodput => 0.03,
            Self::MedianRtt => 0.05,
            Self::QueueP95 => 0.10,
        }
    }

    /// Its value in a run.
    fn of(self, run: &RunResult) -> f64 {
        let flows = || run.flows.iter().filter(|f| carries(f));
        match self {
            Self::Goodput => {
                let ways = [Direction::Down, Direction::Up];
                let parts = ways.iter().filter_map(|&way| run.goodput_bps(way));
                parts.fold(0.0, |sum, part| sum + part)
            }
            Self::MedianRtt => {
                flows().map(|f| f.rtt_ms.p50).sum::<f64>() / flows().count().max(1) as f64
            }
            Self::QueueP95 => crossed(run).queue_delay_ms.p95,
        }
    }
}

/// The uplink if all data are uploads; else the downlink.
fn crossed(run: &RunResult) -> &LinkResult {
    let mut flows = run.flows.iter().filter(|f| carries(f)).peekable();
    let uploads = flows.peek().is_some() && flows.all(|f| f.direction == FlowDirection::Up);
    if uploads { &run.uplink } else { &run.link }
}

/// Whether the flow is a connection rather than a ping.
fn carries(flow: &FlowResult) -> bool {
    flow.direction != FlowDirection::Echo
}

/// Compares every quantity of one run, with repetitions on both sides.
pub fn compare(
    label: &str,
    kernel: &[RunResult],
    sim: &[RunResult],
    reasons: &Reasons,
) -> Vec<Comparison> {
    Quantity::ALL
        .iter()
        .map(|&quantity| {
            let of = |runs: &[RunResult]| median(runs.iter().map(|r| quantity.of(r)).collect());
            let (kernel, sim) = (of(kernel), of(sim));
            let error = error(kernel, sim);
            let usual = error <= quantity.allowed();
            let known = reasons.of(label, quantity);
            let (allowed, reason) = match known {
                Some(Known::Wider { within, because }) => {
                    (*within, (error <= *within).then_some(because))
                }
                Some(Known::Miss(because)) => (quantity.allowed(), Some(because)),
                None => (quantity.allowed(), None),
            };
            Comparison {
                scenario: label.to_owned(),
                quantity: quantity.name().to_owned(),
                kernel,
                sim,
                error,
                allowed,
                ok: error <= allowed,
                // A usual difference needs no reason.
                reason: reason.filter(|_| !usual).cloned(),
            }
        })
        .collect()
}

/// The error relative to the kernel's value; if that is zero, any other value has error 1.
fn error(kernel: f64, sim: f64) -> f64 {
    let base = if kernel == 0.0 { sim } else { kernel };
    if base == 0.0 {
        return 0.0;
    }
    ((sim - kernel) / base).abs()
}

/// The median; NaN without values.
fn median(values: Vec<f64>) -> f64 {
    tidegate_measure::median(&values).unwrap_or(f64::NAN)
}

/// Whether a number differs without a known reason.
pub fn is_failure(comparison: &Comparison) -> bool {
    !comparison.ok && comparison.reason.is_none()
}

#[cfg(test)]
mod tests;
