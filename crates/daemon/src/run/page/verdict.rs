//! What the page says first: how long packets wait now, in plain words.

use super::history::Point;
use super::now::Way;
use crate::about::About;
use crate::account::Account;
use serde::Serialize;
use tidegate_agent::Direction;
use tidegate_terminal::units::{delay, share};

/// A queue that people feel, and one that stalls what they do: the same as in `tidegate top`.
pub const FELT_US: u32 = 100_000;
/// See [`FELT_US`].
pub const STALLS_US: u32 = 250_000;
/// A lower rate is no load, and its queue is not worth mentioning.
const LOAD_BPS: f64 = 100e3;
/// Traffic that is left alone gets a line if it is at least this part of the whole.
const WORTH: f64 = 0.1;

/// How bad the queue is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// There is no traffic.
    Idle,
    /// There is traffic, but its queueing delay cannot be measured.
    Unknown,
    /// Packets hardly wait.
    Short,
    /// People in calls and games feel it.
    Felt,
    /// Calls and games stall.
    Long,
}

/// The verdict in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// How bad the queue is.
    pub level: Level,
    /// The longer of the two directions' queues; absent if neither is known.
    pub queue_us: Option<u32>,
    /// The verdict in a sentence.
    pub headline: String,
    /// Further sentences, one each.
    pub lines: Vec<String>,
}

impl Level {
    fn of(queue_us: u32) -> Self {
        match queue_us {
            us if us >= STALLS_US => Self::Long,
            us if us >= FELT_US => Self::Felt,
            _ => Self::Short,
        }
    }
}

impl Verdict {
    /// The verdict on both directions now, with what the comparison has found of late.
    pub fn of(about: &About, ways: &[Way], account: &Account) -> Self {
        let loaded = ways.iter().any(|way| way.rate_bps >= LOAD_BPS);
        let longest = ways.iter().filter_map(|way| way.queue_us).max();
        let level = match longest {
            _ if !loaded => Level::Idle,
            None => Level::Unknown,
            Some(us) => Level::of(us),
        };
        let said = [
            nothing_changed(about),
            both(ways).filter(|_| loaded),
            compared(account),
        ];
        // A direction that carries little but acknowledgements of the other gets no line.
        let most = ways.iter().map(|way| way.rate_bps).fold(0.0, f64::max);
        let left = ways.iter().filter(|way| way.rate_bps >= WORTH * most);
        let left = left.filter_map(left_alone).filter(|_| loaded);
        Self {
            level,
            queue_us: longest.filter(|_| loaded),
            headline: headline(level, about).into(),
            lines: said.into_iter().flatten().chain(left).collect(),
        }
    }
}

impl Verdict {
    /// The same, with a line for each direction in which another machine seems to fill the link.
    #[must_use]
    pub fn beside(mut self, others: &[Direction]) -> Self {
        if self.level == Level::Idle {
            return self;
        }
        let said = others.iter().map(|direction| {
            format!(
                "{}: another machine fills the link, or the way has become longer. An even share is taken beside it, and the \
                 queue is as long as the other makes it.",
                label(*direction)
            )
        });
        self.lines.extend(said);
        self
    }
}

fn headline(level: Level, about: &About) -> &'static str {
    match level {
        _ if about.interfaces.is_empty() => "Waiting for an interface: nothing is steered yet.",
        Level::Idle => "The link is quiet: nothing waits.",
        Level::Unknown => {
            "How long packets wait is not known: nothing that goes now can be measured."
        }
        Level::Short => "The queue is short.",
        Level::Felt => "The queue is long enough to be felt in calls and games.",
        Level::Long => "The queue is long: calls and games stall.",
    }
}

fn nothing_changed(about: &About) -> Option<String> {
    let why = if about.law.is_none() {
        "no law is in force".into()
    } else if about.dry_run {
        "this is a dry run".into()
    } else if let Some(paused) = &about.paused {
        format!("{paused}, as was asked for")
    } else if about.passes {
        "for some seconds, to compare".into()
    } else {
        return None;
    };
    Some(format!("Nothing is steered: {why}."))
}

/// How long packets wait in each direction.
fn both(ways: &[Way]) -> Option<String> {
    let each = ways.iter().filter_map(|way| {
        let (median, p95) = (way.queue_us?, way.p95_us);
        let most = p95.map_or(String::new(), |us| {
            format!(" (19 of 20 less than {})", delay(us))
        });
        Some(format!("{} wait {}{most}", way.label, delay(median)))
    });
    let each: Vec<_> = each.collect();
    (!each.is_empty()).then(|| format!("{}.", each.join(", ").replace(", Uploads", ", uploads")))
}

/// The queue with steering and without, if the user lets some time pass unsteered.
fn compared(account: &Account) -> Option<String> {
    let each = account.ways.iter().filter_map(|way| {
        let compared = way.compared?;
        let (with, without) = (compared.with.median_us, compared.without.median_us);
        let times = match compared.pairs {
            1 => "one comparison".into(),
            pairs => format!("the last {pairs} comparisons"),
        };
        Some(format!(
            "{}: {} with steering, {} without, in {times}",
            label(way.direction),
            delay(with),
            delay(without),
        ))
    });
    let each: Vec<_> = each.collect();
    (!each.is_empty()).then(|| format!("{}.", each.join("; ")))
}

/// Why most of a direction's traffic is left alone.
fn left_alone(way: &Way) -> Option<String> {
    let all = way.rate_bps;
    let left = way.kinds.iter().filter(|kind| !kind.steered);
    let left: Vec<_> = left.collect();
    let sum: f64 = left.iter().map(|kind| kind.rate_bps).sum();
    if all < LOAD_BPS || sum < WORTH * all {
        return None;
    }
    let most = left
        .iter()
        .max_by(|a, b| a.rate_bps.total_cmp(&b.rate_bps))?;
    let what = match way.direction {
        Direction::Down => "arrives",
        Direction::Up => "leaves",
    };
    Some(format!(
        "{} of what {what} now is left alone, most of it {}.",
        share(sum, all),
        most.name
    ))
}

/// What a direction's data are called on the page.
pub fn label(direction: Direction) -> &'static str {
    match direction {
        Direction::Down => "Downloads",
        Direction::Up => "Uploads",
    }
}

/// Median and 95th percentile of a direction's queue: from the last second's packets, or else from its flows.
pub fn queue(point: Option<Point>, flows_us: u32) -> (Option<u32>, Option<u32>) {
    match point.and_then(|point| point.queue) {
        Some(queue) => (Some(queue.median_us), Some(queue.p95_us)),
        None => (Some(flows_us).filter(|us| *us > 0), None),
    }
}

#[cfg(test)]
mod tests;
