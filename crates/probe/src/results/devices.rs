//! Several devices at once (thesis §4.3, Figs. 4.11 to 4.13).

use super::rate;
use crate::analysis::queues::{Queues, jain, queues, shares_bps};
use crate::{Arrival, Stage};
use serde::{Deserialize, Serialize};

/// How they share the link.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Devices {
    /// Whether two share a queue; none if the busy one's packets hardly waited.
    pub queues: Option<Queues>,
    /// The shares of two together, and of three if there are as many.
    pub together: Vec<Shares>,
}

/// The share of each device while all wanted more.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Shares {
    /// In bit/s: with a small window each, and the last one with as much as the queue takes.
    pub bps: Vec<f64>,
    /// Jain's index of that: 1 is fair, 1/n is all for one.
    pub jain: f64,
}

impl Devices {
    /// From a quiet device beside a busy one, and from several that all want more.
    pub fn of(quiet: &[Arrival], busy: &[Arrival], together: &[Vec<Vec<Arrival>>]) -> Self {
        Self {
            queues: queues(quiet, busy),
            together: together.iter().filter_map(|all| Shares::of(all)).collect(),
        }
    }

    /// In words.
    pub fn words(&self) -> String {
        let queue = match self.queues {
            Some(Queues::Own) => "each device has its own queue",
            Some(Queues::Shared) => "the devices share one queue",
            None => "whether the devices share a queue cannot be told: nothing waited",
        };
        let together = self.together.iter().map(Shares::words);
        [queue.to_owned()]
            .into_iter()
            .chain(together)
            .collect::<Vec<_>>()
            .join("; ")
    }
}

impl Shares {
    /// From the arrivals of each device's train; none if one has none.
    fn of(trains: &[Vec<Arrival>]) -> Option<Self> {
        let filling = |train: &Vec<Arrival>| {
            let filling = train.iter().filter(|a| a.stage == Stage::Fill);
            let times: Vec<_> = filling.map(|a| a.arrived).collect();
            times.first().copied().zip(times.last().copied())
        };
        let times: Vec<_> = trains.iter().map(filling).collect::<Option<_>>()?;
        let from = times.iter().map(|t| t.0).max()?;
        let to = times.iter().map(|t| t.1).min()?;
        if to <= from {
            return None;
        }
        // The first half is for finding rates.
        let bps = shares_bps(trains, from + (to - from) / 2, to);
        Some(Self {
            jain: jain(&bps),
            bps,
        })
    }

    fn words(&self) -> String {
        let rates: Vec<String> = self.bps.iter().map(|bps| rate(*bps)).collect();
        let (greedy, modest) = rates.split_last().expect("two devices at least");
        let modest = modest.join(" and ");
        format!(
            "of {} together 64 KB in flight get {modest} and a full queue {greedy} (Jain's index {:.2})",
            self.bps.len(),
            self.jain
        )
    }
}
