//! What a queue does when it is full, or before: from which packets of a train were lost (thesis §4.3,
//! Fig. 4.9).
//!
//! * **Tail.** Lost is what comes while the queue is full: losses are where most packets stand ahead.
//! * **Head.** Lost is what has waited longest, for every packet that comes to a full queue. When no
//!   more come than leave, nothing is lost any more: of the last packets before that, as many as the
//!   queue holds, all arrive ("no losses for the final batch of 400 packets").
//! * **AQM.** Lost is what has waited too long, and that goes on while the queue empties, until the wait is
//!   below the bound.

use super::flights::{Flight, Flights};
use super::threshold::threshold;
use crate::Stage;
use serde::{Deserialize, Serialize};

/// What a queue does with too many packets.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropPolicy {
    /// Drops what arrives.
    Tail,
    /// Drops what has waited longest.
    Head,
    /// Drops what has waited too long, before it is full.
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

/// What a train says of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overflow {
    /// What the queue does.
    pub policy: DropPolicy,
    /// Packets that it held when it began to.
    pub packets: f64,
    /// How long they waited then, in seconds.
    pub wait_s: f64,
    /// How much the wait at losses differs: (90th − 10th percentile) ÷ median.
    pub wait_spread: f64,
    /// The same of the packets ahead.
    pub packets_spread: f64,
    /// Share of the losses where the queue was fullest: near 1 with drop-tail only.
    pub at_the_top: f64,
}

/// Losses with at least this share of the longest queue ahead are at its top.
const TOP: f64 = 0.9;

/// A drop-tail queue has at least this share of its losses there; the rest is chance.
const TAIL_SHARE: f64 = 0.75;

/// Losses by chance are fewer than this share, those of an overflow more.
const CHANCE: f64 = 0.02;
const OVERFLOW: f64 = 0.1;

/// Evidence that a bound of the wait explains the losses of a drain.
const ENOUGH: f64 = 8.0;

/// Fewer losses are chance.
const LEAST_LOSSES: usize = 6;

/// What the losses of a train say; none if there are too few.
pub fn overflow(flights: &Flights) -> Option<Overflow> {
    let busy: Vec<&Flight> = (flights.packets.iter())
        .filter(|p| p.stage != Stage::Quiet)
        .collect();
    let lost = busy.iter().filter(|p| p.left_s.is_none()).count();
    if lost < LEAST_LOSSES || (lost as f64) < 0.004 * busy.len() as f64 {
        return None;
    }
    let most = f64::from(flights.most_ahead());
    let at_the_top = share_at_the_top(&busy, most, lost);
    let policy = decide(flights, at_the_top);
    let (packets, wait_s) = match policy {
        DropPolicy::Tail => tail_size(&busy, most),
        DropPolicy::Head => head_size(flights, most),
        DropPolicy::Aqm => aqm_size(flights),
    };
    let relevant = |p: &&&Flight| p.left_s.is_none() && f64::from(p.ahead) >= 0.5 * most;
    let at_loss = |read: fn(&Flight) -> f64| spread(busy.iter().filter(relevant).map(|p| read(p)).collect());
    Some(Overflow {
        policy,
        packets,
        wait_s,
        wait_spread: at_loss(|p| p.waited_s),
        packets_spread: at_loss(|p| p.ahead.into()),
        at_the_top,
    })
}

fn share_at_the_top(busy: &[&Flight], most: f64, lost: usize) -> f64 {
    let top = |p: &&&Flight| p.left_s.is_none() && f64::from(p.ahead) >= TOP * most;
    busy.iter().filter(top).count() as f64 / lost as f64
}

fn decide(flights: &Flights, at_the_top: f64) -> DropPolicy {
    if drops_while_it_empties(flights) {
        return DropPolicy::Aqm;
    }
    if at_the_top >= TAIL_SHARE {
        return DropPolicy::Tail;
    }
    match keeps_the_last(flights) {
        true => DropPolicy::Head,
        false => DropPolicy::Aqm,
    }
}

/// Whether packets are lost that were sent in the drain, and above a bound of the wait only. A drain meets no
/// full queue, so neither drop-tail nor drop-head does that.
fn drops_while_it_empties(flights: &Flights) -> bool {
    let drain = flights.packets.iter().filter(|p| p.stage == Stage::Drain);
    // The first of them may have met what was sent just before.
    let packets = drain.skip(2).map(|p| (p.waited_s, p.left_s.is_none()));
    threshold(packets.collect()).is_some_and(|t| t.evidence >= ENOUGH && t.shares[1] > CHANCE)
}

/// Whether of the last packets before the drain, as many as were in the queue then, all arrived, and of those
/// before them many did not.
fn keeps_the_last(flights: &Flights) -> bool {
    let Some(drain) = flights.drain() else {
        return false;
    };
    let kept = flights.packets[drain].ahead as usize;
    let share = |packets: &[Flight]| {
        let lost = packets.iter().filter(|p| p.left_s.is_none()).count();
        lost as f64 / packets.len().max(1) as f64
    };
    // One in twenty at either edge belongs to the other side.
    let last = &flights.packets[drain - (kept * 19 / 20).min(drain)..drain];
    let before_end = drain.saturating_sub(kept * 21 / 20);
    let before = &flights.packets[before_end.saturating_sub(kept.max(50))..before_end];
    share(last) < CHANCE && share(before) > OVERFLOW.min(1.0)
}

/// The median of those that were refused: it is the limit.
fn tail_size(busy: &[&Flight], most: f64) -> (f64, f64) {
    let refused = |p: &&&Flight| p.left_s.is_none() && f64::from(p.ahead) >= TOP * most;
    let of = |read: fn(&Flight) -> f64| {
        super::median(busy.iter().filter(refused).map(|p| read(p)).collect())
    };
    (of(|p| p.ahead.into()), of(|p| p.waited_s))
}

/// What stood in the queue when the overload ended: the only moment of which nothing was dropped later.
fn head_size(flights: &Flights, most: f64) -> (f64, f64) {
    let drain = flights.drain().map(|at| flights.packets[at]);
    drain.map_or((most, f64::NAN), |p| (p.ahead.into(), p.waited_s))
}

/// The bound of the wait above which packets are lost, from the first loss on: before it the wait had not been
/// above for long enough.
fn aqm_size(flights: &Flights) -> (f64, f64) {
    let busy = || flights.packets.iter().filter(|p| p.stage != Stage::Quiet);
    let lost: Vec<f64> = busy().filter(|p| p.left_s.is_none()).map(|p| p.waited_s).collect();
    let typical = super::median(lost);
    // Losses by chance come at any wait; the first that counts is near the others.
    let first = busy().position(|p| p.left_s.is_none() && p.waited_s > 0.3 * typical);
    let after = busy().skip(first.unwrap_or(0));
    let bound = threshold(after.map(|p| (p.waited_s, p.left_s.is_none())).collect());
    let wait_s = bound.map_or(typical, |t| t.value);
    let near = |p: &&Flight| (p.waited_s - wait_s).abs() < 0.1 * wait_s && p.left_s.is_some();
    // A queue's length is what follows the packet that leaves; of one that is sent now, what is ahead.
    (super::median(busy().filter(near).map(|p| p.ahead.into()).collect()), wait_s)
}

fn spread(mut values: Vec<f64>) -> f64 {
    let [low, middle, high] = [0.1, 0.5, 0.9].map(|q| super::quantile(&mut values, q));
    (high - low) / middle
}
