//! Which packets a queue drops when it is full, or before: from the packets of a train that were lost (thesis §4.3,
//! Fig. 4.9).
//!
//! * **Tail.** The queue drops packets that come while it is full: losses are where most packets stand ahead.
//! * **Head.** For every packet that comes to a full queue, the one that has waited longest is dropped: losses are
//!   where most packets stand behind. When no more come than leave, losses end: of the last packets before that, as
//!   many as the queue holds, all arrive ("no losses for the final batch of 400 packets").
//! * **AQM.** The queue drops packets that have waited too long, and goes on while it empties, until the wait is below
//!   the bound.

use super::flights::{Flight, Flights};
use super::threshold::{Threshold, threshold};
use crate::Stage;
use serde::{Deserialize, Serialize};

/// Which packets a queue drops when there are too many.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropPolicy {
    /// Drops arriving packets.
    Tail,
    /// Drops the packet that has waited longest.
    Head,
    /// Drops packets that have waited too long, before it is full.
    Aqm,
}

impl DropPolicy {
    /// In words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Tail => "drop-tail",
            Self::Head => "drop-head",
            Self::Aqm => "AQM",
        }
    }
}

/// What a train shows about a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overflow {
    /// Which packets the queue drops.
    pub policy: DropPolicy,
    /// Packets that it held when it began to drop.
    pub packets: f64,
    /// How long they waited then, in seconds.
    pub wait_s: f64,
    /// How much the wait at losses varies: (90th − 10th percentile) ÷ median.
    pub wait_spread: f64,
    /// The same for the packets ahead.
    pub packets_spread: f64,
    /// Share of the losses with a full queue ahead: near 1 only with drop-tail.
    pub at_the_tail: f64,
    /// Share of the losses with a full queue behind: near 1 with drop-head, and with drop-tail.
    pub at_the_head: f64,
}

/// The queue counts as full from this share of the most packets that ever stood ahead or behind.
const TOP: f64 = 0.9;

/// Shares of the losses that a full queue explains: certainly, and probably; the rest is chance.
const CERTAIN: f64 = 0.9;
const LIKELY: f64 = 0.75;

/// Share of losses by chance, or of packets that were just being sent: the least and the most assumed.
const CHANCE: f64 = 0.04;
const MOST_BY_CHANCE: f64 = 0.3;

/// Share of packets lost by chance: twice as much as is much for a link, for unlucky cases.
const BY_CHANCE: f64 = 0.004;

/// From this factor on it is clearly more than a queue holds.
const MORE: f64 = 1.2;
const A_FEW: f64 = 4.0;

/// A queue of fewer packets cannot be told from a managed one.
const LEAST_HEAD: f64 = 20.0;

/// Evidence that a bound of the wait explains the losses of a drain.
const ENOUGH: f64 = 8.0;

/// And this many times as many packets are lost above it.
const CLEARLY: f64 = 4.0;

/// Losses by chance come at any wait, and are at most this share of those that an AQM leaves.
const LEAST_WAITS: f64 = 0.1;

/// Fewer losses than this are chance.
const LEAST_LOSSES: usize = 6;
const LEAST_SHARE: f64 = 0.004;

/// What the losses of a train show; none if there are too few.
pub fn overflow(flights: &Flights) -> Option<Overflow> {
    let busy = flights.busy();
    let lost = busy.iter().filter(|p| p.left_s.is_none()).count();
    if lost < LEAST_LOSSES || (lost as f64) < LEAST_SHARE * busy.len() as f64 {
        return None;
    }
    let limits = Limits::of(&busy);
    let policy = decide(&busy, &limits, lost as f64);
    let (packets, wait_s) = match policy {
        DropPolicy::Tail => tail_size(&busy, &limits),
        DropPolicy::Head => head_size(&busy, &limits),
        DropPolicy::Aqm => aqm_size(&busy),
    };
    let relevant = |p: &&&Flight| p.left_s.is_none() && f64::from(p.ahead) >= 0.5 * limits.ahead;
    let at_loss =
        |read: fn(&Flight) -> f64| spread(busy.iter().filter(relevant).map(|p| read(p)).collect());
    Some(Overflow {
        policy,
        packets,
        wait_s,
        wait_spread: at_loss(|p| p.waited_s),
        packets_spread: at_loss(|p| p.ahead.into()),
        at_the_tail: limits.share(&busy, lost as f64, |p| limits.at_the_tail(p)),
        at_the_head: limits.share(&busy, lost as f64, |p| limits.at_the_head(p)),
    })
}

/// How far the queue went.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Most packets that stood ahead of an arriving one.
    ahead: f64,
    /// Most packets that stood behind one that left.
    behind: f64,
    /// Packets that stood behind nearly all lost ones.
    pushed: f64,
    /// Share of the packets that arrived with clearly more behind.
    beyond: f64,
}

impl Limits {
    fn of(busy: &[&Flight]) -> Self {
        let delivered = || busy.iter().filter(|p| p.left_s.is_some());
        let lost = busy.iter().filter(|p| p.left_s.is_none());
        let mut behind: Vec<f64> = delivered().map(|p| p.behind.into()).collect();
        let mut pushed: Vec<f64> = lost.map(|p| p.behind.into()).collect();
        // Random losses may be anywhere, and are more frequent if the queue took longer to fill.
        let by_chance = BY_CHANCE * busy.len() as f64 / pushed.len().max(1) as f64;
        let pushed = super::quantile(&mut pushed, by_chance.clamp(CHANCE, MOST_BY_CHANCE));
        let beyond = behind
            .iter()
            .filter(|&&b| b > MORE * pushed + A_FEW)
            .count();
        Self {
            ahead: busy.iter().map(|p| p.ahead).max().unwrap_or(0).into(),
            beyond: beyond as f64 / behind.len().max(1) as f64,
            // One in a thousand may have been overtaken by the sender's clock.
            behind: super::quantile(&mut behind, 0.999),
            pushed,
        }
    }

    /// Whether the packet came to a full queue: it was at its tail.
    fn at_the_tail(&self, packet: &Flight) -> bool {
        f64::from(packet.ahead) >= TOP * self.ahead
    }

    /// Drop-head: a packet that leaves has at most a full queue behind it, and a dropped one no less. A packet that is
    /// being sent has left the queue; on a link that pauses, others come behind it.
    fn push_out(&self) -> bool {
        self.pushed >= LEAST_HEAD && self.beyond <= CHANCE
    }

    /// Whether the packet had a full queue behind it: it was at its head.
    fn at_the_head(&self, packet: &Flight) -> bool {
        f64::from(packet.behind) >= TOP * self.behind
    }

    /// Share of the losses for which `holds` is true.
    fn share(&self, busy: &[&Flight], lost: f64, holds: impl Fn(&Flight) -> bool) -> f64 {
        let held = busy.iter().filter(|p| p.left_s.is_none() && holds(p));
        held.count() as f64 / lost
    }
}

fn decide(busy: &[&Flight], limits: &Limits, lost: f64) -> DropPolicy {
    let tail = limits.share(busy, lost, |p| limits.at_the_tail(p));
    let aqm = is_bounded(busy, limits);
    match () {
        () if tail >= CERTAIN => DropPolicy::Tail,
        () if limits.push_out() => DropPolicy::Head,
        () if aqm => DropPolicy::Aqm,
        () if tail >= LIKELY => DropPolicy::Tail,
        () => DropPolicy::Aqm,
    }
}

/// Waits of a drain, each with whether the packet was lost.
fn drained(busy: &[&Flight]) -> Vec<(f64, bool)> {
    let drain = busy.iter().filter(|p| p.stage == Stage::Drain);
    // The first of them may have met packets that were sent just before.
    let drain: Vec<_> = drain.skip(2).collect();
    let lost = |n: usize| drain.get(n).is_some_and(|p| p.left_s.is_none());
    // Losses in a row happen at once: an AQM catches up after a pause, and only the last one was near its bound.
    let counted = (0..drain.len()).filter(|&n| !lost(n) || !lost(n + 1));
    counted.map(|n| (drain[n].waited_s, lost(n))).collect()
}

/// Whether the drain shows a bound. The queue is not full in a drain, unless the link has become still slower: losses
/// from a full queue do not count.
fn is_bounded(busy: &[&Flight], limits: &Limits) -> bool {
    let passes =
        |p: &&&Flight| p.left_s.is_some() || !limits.at_the_tail(p) && !limits.at_the_head(p);
    let counted: Vec<&Flight> = busy.iter().filter(passes).copied().collect();
    bound(&[drained(&counted)]).is_some()
}

/// The bound of the wait, in seconds, above which packets are lost.
fn bound(drains: &[Vec<(f64, bool)>]) -> Option<Threshold> {
    let clear = |b: &Threshold| b.evidence >= ENOUGH && b.shares[1] > CLEARLY * b.shares[0];
    threshold(drains).filter(clear)
}

/// The bound that explains the drains of all trains together: a random loss near the bound in one train is outweighed
/// by packets of other trains that passed there.
pub fn common_bound(trains: &[&Flights]) -> Option<Threshold> {
    let drains: Vec<_> = trains.iter().map(|train| drained(&train.busy())).collect();
    bound(&drains)
}

/// The median queue ahead of dropped packets: the limit.
fn tail_size(busy: &[&Flight], limits: &Limits) -> (f64, f64) {
    let refused = |p: &&&Flight| p.left_s.is_none() && limits.at_the_tail(p);
    let of = |read: fn(&Flight) -> f64| {
        super::median(busy.iter().filter(refused).map(|p| read(p)).collect())
    };
    (of(|p| p.ahead.into()), of(|p| p.waited_s))
}

/// The queue behind nearly all dropped packets: the limit.
fn head_size(busy: &[&Flight], limits: &Limits) -> (f64, f64) {
    let kept = |p: &&&Flight| p.left_s.is_some() && limits.at_the_head(p);
    let waits = busy.iter().filter(kept).map(|p| p.waited_s);
    (limits.pushed, super::median(waits.collect()))
}

/// The bound of the drain. If the AQM had brought the queue down to its bound before, so that the drain met no losses,
/// the least waits with losses are just above it.
fn aqm_size(busy: &[&Flight]) -> (f64, f64) {
    let least = || {
        let lost = busy.iter().filter(|p| p.left_s.is_none());
        super::quantile(
            &mut lost.map(|p| p.waited_s).collect::<Vec<f64>>(),
            LEAST_WAITS,
        )
    };
    let wait_s = bound(&[drained(busy)]).map_or_else(least, |b| b.value);
    let near = |p: &&&Flight| (p.waited_s - wait_s).abs() < 0.1 * wait_s && p.left_s.is_some();
    let ahead = busy.iter().filter(near).map(|p| p.ahead.into());
    (super::median(ahead.collect()), wait_s)
}

fn spread(mut values: Vec<f64>) -> f64 {
    let [low, middle, high] = [0.1, 0.5, 0.9].map(|q| super::quantile(&mut values, q));
    (high - low) / middle
}
