//! From measurements to a verdict; it needs no clock, link or agent.

use super::plan::Purpose;
use super::sign_flip::SignFlip;
use super::slot::{CutShort, Measured, Slot};
use serde::Serialize;
use tidegate_agent::{Direction, Holding};
use tidegate_measure::{median, quantile};

/// Nobody notices a smaller difference of the median delay, in ms: it gives no verdict, however significant it is.
pub const NOTICEABLE_MS: f64 = 10.0;

/// A queue that adds less than this under load is short, in ms; other tests call that no bufferbloat, too.
pub const SHORT_MS: f64 = 30.0;

/// Saving this part of the delay would be worthwhile: if the trial cannot rule it out, it is undecided.
const WORTH_PERCENT: f64 = 30.0;

/// If the law reaches less than this part of the load, any difference is chance.
const REACHES: f64 = 0.1;

/// A loss of rate is mentioned from this part on,
const RATE_LOST: f64 = 0.1;

/// and from this part on it is too much for nothing in return.
const GIVES_WAY: f64 = 1.0 / 3.0;

/// How many answers a slot needs for its median to mean anything.
const ENOUGH: usize = 10;

/// A lower rate counts as no load, in bit/s.
const NO_LOAD_BPS: f64 = 100e3;

/// If twice the load carries more by this factor, the load was the bottleneck, not the link.
const MORE: f64 = 1.3;

/// A load that is silent for more than this part of the time does not keep the link busy.
const SILENT: f64 = 0.3;

/// More signs of loss than this, in half of the slots, are no accident.
const LOSSES: u64 = 2;

/// What steering does on this link.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It makes the delay under load shorter.
    Helps,
    /// It makes it longer.
    Hurts,
    /// It makes no difference.
    NoDifference,
    /// This trial cannot tell.
    Undecided,
}

/// Why steering makes no difference, or why nothing can be told.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    /// Most of the load is of this kind, which has no window.
    Windowless(String),
    /// The load's connections are left alone.
    LeftAlone,
    /// The link could carry more: the load's server or application is the bottleneck.
    ServerLimited,
    /// The load pauses.
    NotSaturated,
    /// The load yields to other flows, and loses more rate than it gains in delay.
    GivesWay,
    /// Drops or marks already keep the queue short.
    ManagedQueue,
    /// No queue builds up, and no packet is lost.
    NoQueue,
    /// There is a queue that steering does not shorten: other flows fill it, or it is elsewhere.
    OthersQueue,
    /// The delay varies too much.
    TooVariable,
    /// Too few pairs of slots have enough answers.
    TooFewPairs,
    /// No load was seen on the interfaces that are steered.
    NoLoad,
    /// It would transfer, or has transferred, more data than allowed.
    TooMuchData,
}

/// A value with steering and without.
#[derive(Clone, Copy, Debug, Serialize, PartialEq)]
pub struct Both {
    /// With steering.
    pub with: f64,
    /// Without steering.
    pub without: f64,
}

/// What a trial has found.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What steering does on this link.
    pub verdict: Verdict,
    /// Why it makes no difference, or why the trial is undecided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<Because>,
    /// The direction of the load.
    pub direction: Direction,
    /// Median round trip before the load began, in ms.
    pub idle_ms: f64,
    /// The least round trip of the whole trial, in ms.
    pub least_ms: f64,
    /// Whether others already loaded the link before our load began.
    pub others_load: bool,
    /// Median round trip under load, over the slots' medians, in ms.
    pub loaded_ms: Option<Both>,
    /// The test of these.
    pub tested: Option<SignFlip>,
    /// Confidence interval of the delay that steering saves, in % (negative: it adds), from the least to the most.
    pub saved_percent: Option<[f64; 2]>,
    /// The same for the 95th percentile; no conclusion is drawn from it.
    pub p95_ms: Option<Both>,
    /// The load's rate in bit/s.
    pub bps: Option<Both>,
    /// The test of the rate without steering divided by the rate with it.
    pub rate_tested: Option<SignFlip>,
    /// The trial could not have detected a smaller relative difference of the rate.
    pub rate_would_have_shown: Option<f64>,
    /// The part of the load that has no window and was held.
    pub held: f64,
    /// Why traffic without a window was left alone, if the hold could have taken it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unheld: Option<Holding>,
}

/// Judges a trial.
pub fn judge(measured: &Measured) -> Finding {
    let direction = direction(measured);
    let load = Load::of(measured, direction);
    let pairs = pairs(measured);
    let column = |of: &dyn Fn(&Slot) -> Option<f64>| both(&pairs, of);
    let delay = |slot: &Slot| median(&slot.delays_ms());
    // Compare ratios: delays multiply, so that in a slow hour both slots of a pair double, and with them their
    // difference.
    let ratios = pairs
        .iter()
        .filter_map(|pair| Some(libm::log(delay(pair.without)? / delay(pair.with)?)));
    let tested = SignFlip::of(&ratios.collect::<Vec<_>>());
    let rate_tested = rates(&pairs, direction);
    let least_ms = least_ms(measured);
    let idle_ms = median(&measured.idle_ms).unwrap_or(f64::NAN);
    let mut finding = Finding {
        verdict: Verdict::Undecided,
        because: None,
        direction,
        idle_ms,
        least_ms,
        others_load: idle_ms - least_ms >= SHORT_MS,
        loaded_ms: column(&delay),
        tested,
        saved_percent: tested.map(|test| [test.low, test.high].map(saved_percent)),
        p95_ms: column(&|slot| quantile(&slot.delays_ms(), 0.95)),
        bps: column(&|slot| Some(slot.bps(direction))),
        rate_tested,
        rate_would_have_shown: rate_tested.map(|test| libm::exp(test.would_have_shown()) - 1.0),
        held: load.held,
        unheld: load.unheld,
    };
    (finding.verdict, finding.because) = decide(measured, &finding, &load);
    finding
}

/// Whether a check slot must show if the link carries more: no queue built up, perhaps because the load is too small.
pub fn wants_check(measured: &Measured) -> bool {
    let finding = judge(measured);
    finding.verdict == Verdict::NoDifference
        && finding.queue_is_short()
        && check(measured).is_none()
        && !matches!(finding.because, Some(Because::Windowless(_)))
}

impl Finding {
    /// The round trip without a queue, in ms, as far as the trial has seen it.
    pub fn base_ms(&self) -> f64 {
        match self.others_load {
            true => self.least_ms,
            false => self.idle_ms,
        }
    }

    /// What load adds to the delay without steering, in ms; others' load included.
    pub fn rise_ms(&self) -> Option<f64> {
        Some(self.loaded_ms?.without - self.base_ms())
    }

    /// Confidence interval of the rate that steering costs the load, in %, from the least to the most; none if it may
    /// cost nothing, or too little to notice.
    pub fn rate_lost_percent(&self) -> Option<[f64; 2]> {
        let tested = self.rate_tested.filter(SignFlip::is_significant)?;
        (1.0 - libm::exp(-tested.mean) >= RATE_LOST)
            .then(|| [tested.low, tested.high].map(saved_percent))
    }

    fn queue_is_short(&self) -> bool {
        self.rise_ms().is_some_and(|rise| rise < SHORT_MS)
    }
}

/// A pair that counts.
struct Pair<'a> {
    with: &'a Slot,
    without: &'a Slot,
}

/// The pairs whose slots both have enough answers.
fn pairs(measured: &Measured) -> Vec<Pair<'_>> {
    let counts = |slot: &&Slot| slot.purpose == Purpose::Counts;
    let slots: Vec<_> = measured.slots.iter().filter(counts).collect();
    let pairs = slots.chunk_by(|one, other| one.pair == other.pair);
    pairs
        .filter_map(|pair| match *pair {
            [with, without] if with.steered && !without.steered => Some(Pair { with, without }),
            [without, with] if with.steered && !without.steered => Some(Pair { with, without }),
            _ => None,
        })
        .filter(|pair| {
            [pair.with, pair.without]
                .iter()
                .all(|s| s.round_trips.len() >= ENOUGH)
        })
        .collect()
}

/// Medians over the slots with steering and those without.
fn both(pairs: &[Pair], of: &dyn Fn(&Slot) -> Option<f64>) -> Option<Both> {
    let of_kind = |slot: for<'a> fn(&'a Pair) -> &'a Slot| {
        let values: Vec<_> = pairs.iter().filter_map(|pair| of(slot(pair))).collect();
        median(&values)
    };
    Some(Both {
        with: of_kind(|pair| pair.with)?,
        without: of_kind(|pair| pair.without)?,
    })
}

/// The direction with the most bytes.
fn direction(measured: &Measured) -> Direction {
    let sum = |direction: Direction| -> u64 {
        let slots = measured.slots.iter();
        slots
            .map(|slot| slot.carried[direction as usize].bytes())
            .sum()
    };
    if sum(Direction::Up) > sum(Direction::Down) {
        Direction::Up
    } else {
        Direction::Down
    }
}

/// Tests the load's rate without steering divided by that with it, in logarithms.
fn rates(pairs: &[Pair], direction: Direction) -> Option<SignFlip> {
    let ratio = |pair: &Pair| libm::log(pair.without.bps(direction) / pair.with.bps(direction));
    SignFlip::of(&pairs.iter().map(ratio).collect::<Vec<_>>())
}

/// The shortest round trip, with or without load; NaN if there were no answers.
fn least_ms(measured: &Measured) -> f64 {
    let slots = measured.slots.iter().flat_map(Slot::delays_ms);
    let all = measured.idle_ms.iter().copied().chain(slots);
    all.fold(f64::NAN, f64::min)
}

/// The part of the delay saved, in %, from the logarithm of the delay without steering divided by that with it.
fn saved_percent(ratio: f64) -> f64 {
    (1.0 - libm::exp(-ratio)) * 100.0
}

type Decision = (Verdict, Option<Because>);

fn decide(measured: &Measured, finding: &Finding, load: &Load) -> Decision {
    let undecided = |because| (Verdict::Undecided, Some(because));
    if measured.cut_short.is_some() {
        return undecided(Because::TooMuchData);
    }
    let (Some(tested), Some(loaded), Some(bps)) = (finding.tested, finding.loaded_ms, finding.bps)
    else {
        return undecided(Because::TooFewPairs);
    };
    if bps.with.max(bps.without) < NO_LOAD_BPS {
        return undecided(Because::NoLoad);
    }
    if load.reached < REACHES {
        let because = load.out_of_reach().unwrap_or(Because::LeftAlone);
        return (Verdict::NoDifference, Some(because));
    }
    let claim = claim(&tested, loaded);
    if gives_way(finding, claim) {
        return (Verdict::Hurts, Some(Because::GivesWay));
    }
    if let Some(claim) = claim {
        return (claim, None);
    }
    match reason(measured, finding, load) {
        Because::TooVariable => undecided(Because::TooVariable),
        because => (Verdict::NoDifference, Some(because)),
    }
}

/// Whether the load loses a larger part of its rate than the delay shrinks by.
fn gives_way(finding: &Finding, claim: Option<Verdict>) -> bool {
    let gained = match (claim, finding.tested) {
        (Some(Verdict::Helps), Some(tested)) => tested.mean,
        _ => 0.0,
    };
    let lost = finding.rate_tested.filter(SignFlip::is_significant);
    lost.is_some_and(|lost| lost.mean > gained && 1.0 - libm::exp(-lost.mean) >= GIVES_WAY)
}

/// The verdict, if a difference is significant and large enough to notice.
fn claim(tested: &SignFlip, loaded: Both) -> Option<Verdict> {
    let saved_ms = loaded.without - loaded.with;
    let is_one = tested.is_significant() && saved_ms.abs() >= NOTICEABLE_MS;
    match (is_one, tested.mean > 0.0, saved_ms > 0.0) {
        (true, true, true) => Some(Verdict::Helps),
        (true, false, false) => Some(Verdict::Hurts),
        _ => None,
    }
}

/// Why no difference was found.
fn reason(measured: &Measured, finding: &Finding, load: &Load) -> Because {
    if let Some(because) = load.out_of_reach() {
        return because;
    }
    if !finding.queue_is_short() {
        // A saving that the trial cannot rule out, and that would be worthwhile.
        let wide = finding
            .saved_percent
            .is_some_and(|[least, most]| most > WORTH_PERCENT || least < -WORTH_PERCENT);
        return match wide {
            true => Because::TooVariable,
            false => Because::OthersQueue,
        };
    }
    if load.silent {
        return Because::NotSaturated;
    }
    let most = load.most_bps;
    if check(measured).is_some_and(|slot| slot.bps(finding.direction) > MORE * most) {
        return Because::ServerLimited;
    }
    if load.loses {
        Because::ManagedQueue
    } else {
        Because::NoQueue
    }
}

/// The slot with twice the load.
fn check(measured: &Measured) -> Option<&Slot> {
    let mut slots = measured.slots.iter();
    slots.find(|slot| slot.purpose == Purpose::Check)
}

/// Properties of the load. What the law reaches comes from slots with steering, as nothing is held in the others; all
/// else comes from slots without.
struct Load {
    /// The part of it that the law steers by its window or holds.
    reached: f64,
    /// The part of it that is held.
    held: f64,
    /// Its main kind, if that has no window and is not held,
    windowless: Option<String>,
    /// and the reason why it is not held.
    unheld: Option<Holding>,
    /// Whether the law leaves most of it alone.
    left_alone: bool,
    /// Whether it pauses.
    silent: bool,
    /// Whether packets are lost or marked.
    loses: bool,
    /// The highest rate in any slot.
    most_bps: f64,
}

impl Load {
    fn of(measured: &Measured, direction: Direction) -> Self {
        let pairs = pairs(measured);
        let ways: Vec<_> = pairs
            .iter()
            .map(|pair| &pair.with.carried[direction as usize])
            .collect();
        let sum = |of: fn(&super::slot::Way) -> u64| ways.iter().map(|way| of(way)).sum::<u64>();
        let all = sum(|way| way.bytes());
        let half = all / 2;
        let windowless = ways.iter().max_by_key(|way| way.windowless_bytes);
        let windowless = windowless.filter(|_| sum(|way| way.windowless_bytes) > half);
        let part = |bytes: u64| bytes as f64 / all.max(1) as f64;
        let active = |pair: &Pair| pair.without.carried[direction as usize].active;
        let active: Vec<_> = pairs.iter().map(active).collect();
        let losses = |pair: &Pair| {
            let marks = pair.without.carried[direction as usize].marked_packets;
            (pair.without.lost + marks) as f64
        };
        let losses: Vec<_> = pairs.iter().map(losses).collect();
        let rates = pairs.iter().map(|pair| pair.without.bps(direction));
        Self {
            reached: part(sum(|way| way.reached_bytes + way.held_bytes)),
            held: part(sum(|way| way.held_bytes)),
            unheld: windowless.and_then(|way| way.unheld),
            windowless: windowless.and_then(|way| way.windowless.clone()),
            left_alone: sum(|way| way.left_bytes) > half,
            silent: median(&active).unwrap_or(0.0) < 1.0 - SILENT,
            loses: median(&losses).unwrap_or(0.0) > LOSSES as f64,
            most_bps: rates.fold(0.0, f64::max),
        }
    }
}

impl Load {
    /// Why the law does not reach most of it; none if it does.
    fn out_of_reach(&self) -> Option<Because> {
        let windowless = self.windowless.clone().map(Because::Windowless);
        windowless.or(self.left_alone.then_some(Because::LeftAlone))
    }
}

/// The data of a trial that was cut short, for words.
impl CutShort {
    /// How many bytes it would have transferred, if that is known.
    pub fn would_take(self) -> Option<u64> {
        match self {
            Self::WouldTake(bytes) => Some(bytes),
            Self::Taken => None,
        }
    }
}

#[cfg(test)]
mod tests;
