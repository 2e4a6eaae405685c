//! Routes: the links that a packet passes from one host to the other.

use tidegate_scenario::{Direction, Scenario, Side, Workload, WorkloadKind};

/// A way from one host to the other.
#[derive(Clone, Debug)]
pub struct Route {
    /// Numbers of its links, in the order in which they are passed.
    pub links: Vec<usize>,
    /// The host at its end.
    pub to: Side,
}

/// The number of a route. A workload's two are neighbours: even down, odd up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteId(u32);

impl RouteId {
    /// The route of workload number `workload` in `direction`, without a proxy.
    pub fn of(workload: usize, direction: Direction) -> Self {
        let up = u32::from(direction == Direction::Up);
        Self(workload as u32 * 2 + up)
    }

    /// The workload's route in the other direction. Routes through proxies have none.
    pub fn reversed(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// All routes of a run.
#[derive(Debug)]
pub struct Routes {
    /// Two for each workload, down and up, then those through proxies, then those of echoes.
    routes: Vec<Route>,
    /// For each workload, the route through its first proxy.
    proxied: Vec<RouteId>,
}

impl Routes {
    /// The routes of the scenario's workloads.
    pub fn new(scenario: &Scenario) -> Self {
        let mut all = Self {
            routes: Vec::new(),
            proxied: Vec::new(),
        };
        for workload in &scenario.workloads {
            for direction in [Direction::Down, Direction::Up] {
                all.add(direct(scenario, workload, direction));
            }
        }
        for workload in &scenario.workloads {
            all.proxied.push(all.next());
            all.routes.extend(proxied(scenario, workload));
        }
        all
    }

    /// Adds routes over all links of each direction. Returns them: down and up.
    pub fn add_full(&mut self, scenario: &Scenario) -> [RouteId; 2] {
        [Direction::Down, Direction::Up].map(|direction| {
            self.add(Route {
                links: scenario.way(None, direction),
                to: destination(direction),
            })
        })
    }

    /// Adds a router's links at the client, down and up, to all routes: last on the way to the client, first on the
    /// way from it.
    pub fn pass_router(&mut self, [down, up]: [usize; 2]) {
        for route in self.routes.iter_mut().filter(|r| !r.links.is_empty()) {
            match route.to {
                Side::Client => route.links.push(down),
                Side::Server => route.links.insert(0, up),
            }
        }
    }

    /// The route of that number.
    pub fn get(&self, id: RouteId) -> &Route {
        &self.routes[id.0 as usize]
    }

    /// The route through the `proxy`-th proxy of a workload.
    pub fn through_proxy(&self, workload: usize, proxy: u32) -> RouteId {
        RouteId(self.proxied[workload].0 + proxy)
    }

    /// The workload of a route; none for routes through proxies and those of echoes.
    pub fn workload(&self, id: RouteId) -> Option<usize> {
        let workload = id.0 as usize / 2;
        (workload < self.proxied.len()).then_some(workload)
    }

    fn add(&mut self, route: Route) -> RouteId {
        let id = self.next();
        self.routes.push(route);
        id
    }

    fn next(&self) -> RouteId {
        RouteId(self.routes.len() as u32)
    }
}

/// The route of a workload's packets in one direction.
fn direct(scenario: &Scenario, workload: &Workload, direction: Direction) -> Route {
    Route {
        links: scenario.way(workload.links.as_deref(), direction),
        to: destination(direction),
    }
}

/// The routes through a workload's proxies, in the direction of its data.
fn proxied(scenario: &Scenario, workload: &Workload) -> impl Iterator<Item = Route> {
    let to = match &workload.does {
        WorkloadKind::Mpath(transfer) => transfer.receiver(),
        _ => Side::Client,
    };
    let ways = scenario.further_ways(workload).into_iter();
    ways.map(move |links| Route { links, to })
}

/// The host that packets of a direction go to.
fn destination(direction: Direction) -> Side {
    match direction {
        Direction::Down => Side::Client,
        Direction::Up => Side::Server,
    }
}
