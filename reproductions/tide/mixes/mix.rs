//! A mix: workloads side by side on one interface, and the capacities of its links.

use super::draw::Draw;
use super::families::Family;
use crate::means::mean;
use crate::tide::contenders::Contender;
use anyhow::Result;
use std::path::Path;
use tidegate_link::{Capacity, Instant};
use tidegate_scenario::{
    DOWN, Direction, LinkInputs, LinkSpec, Scenario, UP, Workload, WorkloadKind,
};
use tidegate_study::Case;

/// Share of a full packet that is payload, with TCP timestamps.
const PAYLOAD: f64 = 1448.0 / 1500.0;

/// Share of mixes whose senders use BBR.
const BBR: f64 = 1.0 / 3.0;

/// By how much later each workload begins than the one before it, in [`Mix::later`].
const LATER_S: f64 = 0.037;

/// A mix of workloads side by side.
#[derive(Clone, Debug)]
pub struct Mix {
    /// Its family.
    pub family: &'static str,
    /// Identifies it, and allows it to be drawn again.
    pub name: String,
    /// Congestion control of its senders.
    pub sender: &'static str,
    /// The scenario, with a run of untouched Linux.
    pub scenario: Scenario,
    /// Upper bound of all traffic, in Mbit/s.
    pub carried_mbps: f64,
    /// Payload that each link can carry while numbers count, in bit/s: downlink, uplink, hops.
    pub capacities: Vec<f64>,
}

impl Mix {
    /// The mix with that number in a family: always the same one.
    ///
    /// # Errors
    /// When it makes no sense, which is a mistake in its family.
    pub fn draw(family: &Family, number: usize) -> Result<Self> {
        let name = format!("{} {number}", family.name);
        let mut draw = Draw::new(seed(&name));
        let sender = if draw.chance(BBR) { "bbr" } else { "cubic" };
        let draft = (family.draft)(&mut draw);
        let carried_mbps = draft.carried_mbps();
        let scenario = draft.scenario(&name, Contender::linux(sender).run());
        Ok(Self {
            family: family.name,
            capacities: capacities(&scenario)?,
            name,
            sender,
            carried_mbps,
            scenario,
        })
    }

    /// The same for that many seconds, with that warm-up.
    ///
    /// # Errors
    /// As [`Self::draw`].
    pub fn lasting(mut self, warmup_s: f64, duration_s: f64) -> Result<Self> {
        self.name = format!("{}, {duration_s} s", self.name);
        self.scenario.warmup_s = warmup_s;
        self.scenario.duration_s = duration_s;
        self.capacities = capacities(&self.scenario)?;
        Ok(self)
    }

    /// The same, with its workloads begun some hundredths of a second later, each by a different time: any difference
    /// in results is chance.
    #[must_use]
    pub fn later(&self) -> Self {
        let mut later = self.clone();
        later.name.push_str(", a little later");
        for (workload, place) in later.scenario.workloads.iter_mut().zip(1..) {
            workload.start_s += LATER_S * f64::from(place);
        }
        later
    }

    /// The name of its case with that contender.
    pub fn by(&self, contender: Contender) -> String {
        format!("{}, {}", self.name, contender.title())
    }

    /// Its case with that contender.
    pub fn case(&self, contender: Contender) -> Case {
        Case::new(Scenario {
            name: self.by(contender),
            runs: vec![contender.run()],
            ..self.scenario.clone()
        })
    }

    /// The name of its link with that index.
    pub fn link_name(&self, link: usize) -> &str {
        match link {
            DOWN => "downlink",
            UP => "uplink",
            hop => &self.scenario.hops[hop - UP - 1].name,
        }
    }

    /// Indices of the links that a workload's data cross.
    pub fn way(&self, workload: &Workload) -> Vec<usize> {
        let direction = match workload.does {
            WorkloadKind::Bulk { direction, .. } => direction,
            _ => Direction::Down,
        };
        self.scenario.way(workload.links.as_deref(), direction)
    }

    /// Mean base RTT in ms of the workloads that cross a link.
    pub fn rtt_ms(&self, link: usize) -> f64 {
        let workloads = self.scenario.workloads.iter();
        let crossing = workloads.filter(|workload| self.way(workload).contains(&link));
        mean(crossing.map(|workload| self.base_rtt_ms(workload)))
    }

    /// Base RTT of a workload in ms.
    pub fn base_rtt_ms(&self, workload: &Workload) -> f64 {
        let ways = [Direction::Down, Direction::Up];
        let links = ways.map(|way| self.scenario.way(workload.links.as_deref(), way));
        let delays = links.iter().flatten().map(|&link| self.link(link).delay_ms);
        delays.sum()
    }

    fn link(&self, link: usize) -> &LinkSpec {
        match link {
            DOWN => &self.scenario.down,
            UP => &self.scenario.up,
            hop => &self.scenario.hops[hop - UP - 1].link,
        }
    }

    /// Whether the laboratory has all of its workloads.
    pub fn is_for_kernels(&self) -> bool {
        let mut workloads = self.scenario.workloads.iter();
        workloads.all(|workload| {
            !matches!(
                workload.does,
                WorkloadKind::Video { .. } | WorkloadKind::Page { .. }
            )
        })
    }

    /// For how long numbers count, in seconds.
    pub fn counted_s(&self) -> f64 {
        self.scenario.duration_s - self.scenario.warmup_s
    }
}

/// FNV-1a (Fowler, Noll, Vo): a seed for each name, so that adding or removing a family changes no other mix.
fn seed(name: &str) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

fn capacities(scenario: &Scenario) -> Result<Vec<f64>> {
    let LinkInputs { down, up, hops, .. } = scenario.link_inputs(Path::new(""))?;
    let [from, to] = [scenario.warmup_s, scenario.duration_s].map(Instant::from_secs_f64);
    let seconds = scenario.duration_s - scenario.warmup_s;
    let capacity = |link: &tidegate_link::Config| {
        PAYLOAD * Capacity::new(&link.rate).bytes(from, to) as f64 * 8.0 / seconds
    };
    Ok([&down, &up]
        .into_iter()
        .chain(&hops)
        .map(capacity)
        .collect())
}
