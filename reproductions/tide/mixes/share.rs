//! Max-min fair shares.

/// A link that is filled to this share is a bottleneck.
const FULL: f64 = 0.99;

/// A flow's links, and its demand.
#[derive(Clone, Debug, PartialEq)]
pub struct Demand {
    /// Indices of the links that its data cross.
    pub links: Vec<usize>,
    /// In bit/s; infinite for a bulk flow.
    pub demand_bps: f64,
}

/// Shares of flows, and which links they fill.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// In bit/s, in the order of the flows.
    pub bps: Vec<f64>,
    full: Vec<bool>,
}

impl Shares {
    /// Max-min fair shares by progressive filling (Bertsekas and Gallager, "Data Networks", section 6.5.2): all shares
    /// rise together, until a flow has what it wants or one of its links is full.
    pub fn fill(capacities_bps: &[f64], demands: &[Demand]) -> Self {
        let mut left = capacities_bps.to_vec();
        let mut bps = vec![0.0; demands.len()];
        let mut rising: Vec<usize> = (0..demands.len()).collect();
        while !rising.is_empty() {
            let mut crossing = vec![0.0; left.len()];
            for &link in rising.iter().flat_map(|&flow| &demands[flow].links) {
                crossing[link] += 1.0;
            }
            let room = |flow: &usize| {
                let demand = &demands[*flow];
                let links = demand.links.iter().map(|&link| left[link] / crossing[link]);
                links.fold(demand.demand_bps - bps[*flow], f64::min)
            };
            let rooms: Vec<f64> = rising.iter().map(room).collect();
            let step = rooms.iter().copied().fold(f64::INFINITY, f64::min);
            for &flow in &rising {
                bps[flow] += step;
            }
            for (link, crossing) in left.iter_mut().zip(&crossing) {
                *link = (*link - step * crossing).max(0.0);
            }
            // Flows with the least room stop rising here, so that each round stops at least one.
            let mut rooms = rooms.into_iter();
            rising.retain(|_| rooms.next().is_some_and(|room| room > step));
        }
        let filled = left.iter().zip(capacities_bps);
        let full = filled.map(|(left, capacity)| *left <= (1.0 - FULL) * capacity);
        Self {
            full: full.collect(),
            bps,
        }
    }

    /// Whether the flows fill that link.
    pub fn is_full(&self, link: usize) -> bool {
        self.full[link]
    }
}

#[cfg(test)]
mod tests;
