//! What the flows of a direction carried together.

use crate::{FlowDirection, RunResult};

/// What a flow, or a workload's flows, brought, and when.
#[derive(Clone, Copy, Debug)]
struct Share {
    bps: f64,
    from_s: f64,
    to_s: f64,
}

impl RunResult {
    /// Payload that arrived in a second, in bit/s: that of all flows in this direction, divided by the time in which
    /// there was at least one. Like any one flow's it is thus never more than the link carried. None if there were no
    /// flows.
    ///
    /// The flows of a result that does not say when they were there are taken to have been there together.
    pub fn goodput_bps(&self, direction: impl Into<FlowDirection>) -> Option<f64> {
        let shares = self.shares(direction.into());
        if shares.is_empty() {
            return None;
        }
        let together_s = union_s(&shares);
        // A flow that was there all the time has exactly the goodput that its result states.
        let part = |share: &Share| match together_s {
            0.0 => share.bps,
            _ => share.bps * ((share.to_s - share.from_s) / together_s),
        };
        Some(shares.iter().fold(0.0, |sum, share| sum + part(share)))
    }

    /// Whether there was a time when all flows of this direction were there: only then do their goodputs tell how they
    /// share. One that never began, because others left it nothing, is no exception.
    pub fn flows_met(&self, direction: impl Into<FlowDirection>) -> bool {
        let direction = direction.into();
        let own = self.flows.iter().filter(|f| f.direction == direction);
        let there: Vec<_> = own.filter(|f| f.to_s > f.from_s).collect();
        let last_began = there.iter().map(|f| f.from_s).fold(0.0, f64::max);
        let first_ended = there.iter().map(|f| f.to_s).fold(f64::INFINITY, f64::min);
        last_began < first_ended
    }

    fn shares(&self, direction: FlowDirection) -> Vec<Share> {
        let flows = self.flows.iter().filter(|f| f.direction == direction);
        let flows = flows.map(|f| Share {
            bps: f.goodput_bps,
            from_s: f.from_s,
            to_s: f.to_s,
        });
        let arrivals = self.arrivals.iter().filter(|a| a.direction == direction);
        let arrivals = arrivals.map(|a| Share {
            bps: a.goodput_bps,
            from_s: a.from_s,
            to_s: a.to_s,
        });
        flows.chain(arrivals).collect()
    }
}

/// For how many seconds there was at least one of them.
fn union_s(shares: &[Share]) -> f64 {
    let mut spans: Vec<(f64, f64)> = shares.iter().map(|s| (s.from_s, s.to_s)).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut merged: Vec<(f64, f64)> = Vec::new();
    for (from, to) in spans.into_iter().filter(|(from, to)| to > from) {
        match merged.last_mut() {
            Some(last) if from <= last.1 => last.1 = last.1.max(to),
            _ => merged.push((from, to)),
        }
    }
    merged.iter().map(|(from, to)| to - from).sum()
}

#[cfg(test)]
mod tests;
