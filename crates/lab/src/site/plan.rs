//! Which workloads share hosts, and which of the server's addresses each one uses.

use crate::emulator::Ways;
use tidegate_scenario::{Direction, Scenario, Workload, WorkloadKind};

/// The workloads of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Residents {
    /// All that a law sees: it is at these hosts.
    Steered,
    /// All that no law sees.
    Unsteered,
    /// The workload of that number, whose packets use several paths at once.
    Alone(usize),
}

impl Residents {
    fn of(number: usize, workload: &Workload) -> Self {
        match &workload.does {
            WorkloadKind::Mpath(_) | WorkloadKind::Mptcp { .. } => Self::Alone(number),
            _ if workload.steered => Self::Steered,
            _ => Self::Unsteered,
        }
    }
}

/// A site before it is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Its workloads.
    pub residents: Residents,
    /// The links that packets of each of the server's addresses cross. A workload without its own address (its packets
    /// cross all links, or it has its own hosts) uses the first.
    pub ways: Vec<Ways>,
}

impl Plan {
    /// The only workload of the site, if it has its own hosts.
    pub fn sole_resident<'a>(&self, scenario: &'a Scenario) -> Option<&'a Workload> {
        match self.residents {
            Residents::Alone(number) => Some(&scenario.workloads[number]),
            _ => None,
        }
    }
}

/// A workload's site and address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// Number of the site.
    pub site: usize,
    /// Number of the server's address there.
    pub address: usize,
}

/// Every site of a run, first the steered one, and the home of each workload.
pub fn plan(scenario: &Scenario) -> (Vec<Plan>, Vec<Home>) {
    let mut plans = vec![Plan {
        residents: Residents::Steered,
        ways: vec![ways(scenario, None)],
    }];
    let workloads = scenario.workloads.iter().enumerate();
    let homes = workloads.map(|(number, workload)| {
        let chosen = ways(scenario, workload.links.as_deref());
        let residents = Residents::of(number, workload);
        let first = match residents {
            Residents::Alone(_) => chosen.clone(),
            _ => ways(scenario, None),
        };
        let site = place_of(
            &mut plans,
            |plan| plan.residents == residents,
            || Plan {
                residents,
                ways: vec![first],
            },
        );
        let address = place_of(&mut plans[site].ways, |w| *w == chosen, || chosen.clone());
        Home { site, address }
    });
    let homes = homes.collect();
    (plans, homes)
}

/// The index of the element for which `is_meant` is true; without one, adds the result of `make`.
fn place_of<T>(all: &mut Vec<T>, is_meant: impl Fn(&T) -> bool, make: impl FnOnce() -> T) -> usize {
    let place = all.iter().position(is_meant);
    place.unwrap_or_else(|| {
        all.push(make());
        all.len() - 1
    })
}

fn ways(scenario: &Scenario, chosen: Option<&[String]>) -> Ways {
    let [down, up] = [Direction::Down, Direction::Up].map(|way| scenario.way(chosen, way));
    Ways { down, up }
}

#[cfg(test)]
mod tests;
