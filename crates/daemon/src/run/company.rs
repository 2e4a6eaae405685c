//! Logs once when another machine fills the link, and once when no flow competes with it any more: the other machine
//! has stopped, or the flows have ended. Looking only once a minute keeps brief competition, and verdicts that are soon
//! revised, out of the log.

use crate::clock::now_us;
use crate::log::Log;
use crate::service::Shared;
use crate::snapshot::Snapshot;
use serde_json::json;
use std::collections::BTreeMap;
use tidegate_agent::{FlowView, PathView};
use tidegate_terminal::units::duration;

/// Time between two looks.
const LOOKS_US: u64 = 60_000_000;

/// A flow whose last data are older says nothing about the present.
const LIVELY_US: u64 = 5_000_000;

/// An interface and a direction, by their names.
type Way = (String, &'static str);

/// When to look next, and since when each announced competition has lasted, both in µs of `CLOCK_MONOTONIC`.
pub struct Company {
    due_us: u64,
    said: BTreeMap<Way, u64>,
}

/// What has changed in a direction, and how long it has lasted.
#[derive(Debug, PartialEq)]
enum News {
    Competes { seconds: u64 },
    Ended { seconds: u64 },
}

impl Company {
    /// The first look is a minute from now.
    pub fn new(now_us: u64) -> Self {
        Self {
            due_us: now_us + LOOKS_US,
            said: BTreeMap::new(),
        }
    }

    /// When the next look is due, µs of `CLOCK_MONOTONIC`.
    pub fn next_us(&self) -> u64 {
        self.due_us
    }

    /// Looks if a look is due.
    pub fn step(&mut self, shared: &Shared, log: Log) {
        let now_us = now_us();
        if now_us < self.due_us {
            return;
        }
        self.due_us = now_us + LOOKS_US;
        if let Some(Ok(snapshot)) = shared.with(|watched| watched.snapshot()) {
            for (way, news) in self.news(ways(&snapshot), now_us) {
                line(&way, &news, log);
            }
        }
    }

    /// What has changed, given the directions in which flows compete now and since when.
    fn news(&mut self, now: BTreeMap<Way, u64>, now_us: u64) -> Vec<(Way, News)> {
        let seconds = |since_us: u64| now_us.saturating_sub(since_us) / 1_000_000;
        let came = now.iter().filter(|(way, _)| !self.said.contains_key(*way));
        let came = came.map(|(way, since_us)| {
            let seconds = seconds(*since_us);
            (way.clone(), News::Competes { seconds })
        });
        let gone = self.said.iter().filter(|(way, _)| !now.contains_key(*way));
        let gone = gone.map(|(way, since_us)| {
            let seconds = seconds(*since_us);
            (way.clone(), News::Ended { seconds })
        });
        let news = came.chain(gone).collect();
        self.said.retain(|way, _| now.contains_key(way));
        for (way, since_us) in now {
            self.said.entry(way).or_insert(since_us);
        }
        news
    }
}

/// Since when live flows compete, by interface and direction.
fn ways(snapshot: &Snapshot) -> BTreeMap<Way, u64> {
    let mut ways = BTreeMap::new();
    for flow in &snapshot.flows {
        if flow.closed || flow.arrived_us + LIVELY_US < snapshot.at_us {
            continue;
        }
        if let Some(since_us) = competing_since_us(flow, &snapshot.paths) {
            let way = (
                snapshot.agent.interface(flow.ifindex),
                flow.direction.name(),
            );
            let first_us = ways.entry(way).or_insert(since_us);
            *first_us = since_us.min(*first_us);
        }
    }
    ways
}

/// Since when the flow competes, by its group's record or its own.
fn competing_since_us(flow: &FlowView, paths: &[PathView]) -> Option<u64> {
    let path = |p: &&PathView| p.ifindex == flow.ifindex && p.direction == flow.direction;
    let groups = paths.iter().filter(path).flat_map(|p| &p.groups);
    let group = groups.into_iter().find(|g| Some(g.group) == flow.group);
    let record = group.map(|g| g.record).or(flow.record)?;
    record.competing_since_us
}

fn line((interface, direction): &Way, news: &News, log: Log) {
    let fields =
        |seconds| json!({ "interface": interface, "direction": direction, "seconds": seconds });
    match *news {
        News::Competes { seconds } => {
            let message = format!(
                "{interface}, {direction}: for {} another machine has filled the link, or the path has been longer: competing for an even share",
                duration(seconds)
            );
            log.info("competing", &message, fields(seconds));
        }
        News::Ended { seconds } => {
            let message = format!(
                "{interface}, {direction}: nothing competes with another machine any more, {} after it began to",
                duration(seconds)
            );
            log.info("competing_ended", &message, fields(seconds));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Company, News, ways};
    use crate::fixtures::{RECORD, download, path, snapshot};
    use std::collections::BTreeMap;
    use tidegate_agent::RecordView;

    const NOW_US: u64 = 100_000_000;

    #[test]
    fn each_change_is_said_once() {
        let mut company = Company::new(0);
        let way = || ("wwan0".to_string(), "down");
        let competing = || BTreeMap::from([(way(), 7_000_000)]);
        let seconds = |s: u64| s * 1_000_000;
        let came = (way(), News::Competes { seconds: 53 });
        assert_eq!(company.news(competing(), seconds(60)), [came]);
        assert_eq!(company.news(competing(), seconds(120)), []);
        let gone = (way(), News::Ended { seconds: 173 });
        assert_eq!(company.news(BTreeMap::new(), seconds(180)), [gone]);
        assert_eq!(company.news(BTreeMap::new(), seconds(240)), []);
    }

    #[test]
    fn a_flow_competes_by_its_own_record_or_its_groups_while_it_has_data() {
        let competing = RecordView {
            competing_since_us: Some(3),
            ..RECORD
        };
        let mut group = path(&[]);
        group.groups[0].record = competing;
        let number = group.groups[0].group;
        let since = |change: &dyn Fn(&mut tidegate_agent::FlowView)| {
            let mut one = download(50_000, 9, NOW_US);
            change(&mut one);
            let mut snapshot = snapshot(NOW_US, vec![one]);
            snapshot.paths = vec![group.clone()];
            ways(&snapshot).into_values().next()
        };
        assert_eq!(since(&|f| (f.group, f.record) = (None, Some(RECORD))), None);
        assert_eq!(
            since(&|f| (f.group, f.record) = (None, Some(competing))),
            Some(3)
        );
        assert_eq!(
            since(&|f| (f.group, f.record) = (Some(number), None)),
            Some(3)
        );
        assert_eq!(since(&|f| (f.group, f.closed) = (Some(number), true)), None);
        assert_eq!(
            since(&|f| (f.group, f.arrived_us) = (Some(number), 1)),
            None
        );
    }
}
