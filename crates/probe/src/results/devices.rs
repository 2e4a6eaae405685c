//! Two devices at once (thesis §4.3, Figs. 4.11 to 4.13).

use crate::analysis::queues::{Queues, jain, queues, shares_bps};
use crate::{Arrival, Stage};
use serde::{Deserialize, Serialize};

/// How they share the link.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Devices {
    /// Whether they share a queue; none if the busy one's packets hardly waited.
    pub queues: Option<Queues>,
    /// What each got while both wanted more, in bit/s: with a small window, and with as much as the queue takes.
    pub shares_bps: [f64; 2],
    /// Jain's index of that: 1 is fair, a half is all for one.
    pub jain: f64,
}

impl Devices {
    /// From a quiet device beside a busy one, and from two that both want more; none if nothing arrived of one.
    pub fn of([quiet, busy]: [&[Arrival]; 2], both: [&[Arrival]; 2]) -> Option<Self> {
        let filling = both.map(|train| train.iter().filter(|a| a.stage == Stage::Fill));
        let [first, second] = filling.map(|train| {
            let mut times = train.map(|a| a.arrived);
            times
                .next()
                .map(|first| (first, times.next_back().unwrap_or(first)))
        });
        let (first, second) = first.zip(second)?;
        // Rates are found in the first half.
        let (from, to) = (first.0.max(second.0), first.1.min(second.1));
        if to <= from {
            return None;
        }
        let middle = from + (to - from) / 2;
        let shares = shares_bps(&both, middle, to);
        Some(Self {
            queues: queues(quiet, busy),
            shares_bps: [shares[0], shares[1]],
            jain: jain(&shares),
        })
    }

    /// In words.
    pub fn words(&self) -> String {
        let queue = match self.queues {
            Some(Queues::Own) => "each device has its own queue",
            Some(Queues::Shared) => "the devices share one queue",
            None => "whether the devices share a queue cannot be told: nothing waited",
        };
        let [modest, greedy] = self.shares_bps.map(|bps| bps / 1e6);
        format!(
            "{queue}; together, 64 KB in flight get {modest:.2} Mbit/s and a full queue {greedy:.2} (Jain's index {:.2})",
            self.jain
        )
    }
}
