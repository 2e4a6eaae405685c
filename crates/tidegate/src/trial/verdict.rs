//! From what was measured to a verdict: no clock, no link, no agent.

use super::plan::Purpose;
use super::sign_flip::SignFlip;
use super::slot::{CutShort, Measured, Slot, median, quantile};
use serde::Serialize;
use tidegate_agent::{Direction, Holding};

/// A difference of the median delay that is smaller than this nobody notices, in ms: no verdict is made of it, however
/// certain it is.
pub const NOTICEABLE_MS: f64 = 10.0;

/// A queue that adds less than this under load is a short one, in ms: what is called no bufferbloat elsewhere, too.
pub const SHORT_MS: f64 = 30.0;

/// A part of the delay that would be worth having: where a trial does not rule it out it cannot tell.
const WORTH_PERCENT: f64 = 30.0;

/// Where the law reaches less than this part of the load, chance has made what difference there is.
const REACHES: f64 = 0.1;

/// A part of the load's rate whose loss is said,
const RATE_LOST: f64 = 0.1;

/// and one that is too much to lose for nothing.
const GIVES_WAY: f64 = 1.0 / 3.0;

/// Answers that a slot has to have for its median to mean anything.
const ENOUGH: usize = 10;

/// A load that carries less than this is none, in bit/s.
const NO_LOAD_BPS: f64 = 100e3;

/// With twice the load the link has carried more by this factor: the load was the limit, not the link.
const MORE: f64 = 1.3;

/// A load that is silent for a larger part of the time than this does not keep the link busy.
const SILENT: f64 = 0.3;

/// More signs of loss than this in half of the slots are no accident.
const LOSSES: u64 = 2;

/// What steering does here.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The delay under load is shorter with it.
    Helps,
    /// It is longer.
    Hurts,
    /// It is the same.
    NoDifference,
    /// This trial cannot tell.
    Undecided,
}

/// Why steering makes no difference, or why nothing can be told.
#[derive(Clone, Debug, Serialize, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Because {
    /// What loads the link is of this kind, which has no window.
    Windowless(String),
    /// The load's connections are left alone.
    LeftAlone,
    /// The link carries more than the load brings: its server or application is the limit.
    ServerLimited,
    /// The load pauses.
    NotSaturated,
    /// The load gives its share to others: what it loses is more than what the delay gains.
    GivesWay,
    /// Drops or marks keep the queue short already.
    ManagedQueue,
    /// No queue builds up, and nothing is dropped.
    NoQueue,
    /// A queue stands, and steering these connections does not shorten it: it is others' or elsewhere.
    OthersQueue,
    /// The delay varies too much.
    TooVariable,
    /// Too few pairs of slots have enough answers.
    TooFewPairs,
    /// No load was seen on the interfaces that are steered.
    NoLoad,
    /// It would take, or has taken, more data than it may.
    TooMuchData,
}

/// With steering and without.
#[derive(Clone, Copy, Debug, Serialize, PartialEq)]
pub struct Both {
    /// With steering.
    pub with: f64,
    /// Without.
    pub without: f64,
}

/// What a trial has found.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// What steering does here.
    pub verdict: Verdict,
    /// Why it does nothing, or why nothing can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<Because>,
    /// Which way the load goes.
    pub direction: Direction,
    /// Median round trip before the load began, in ms.
    pub idle_ms: f64,
    /// The least round trip of the whole trial, in ms.
    pub least_ms: f64,
    /// Whether the link was loaded before the load began, by others.
    pub others_load: bool,
    /// Median round trip under load, of the slots' medians, in ms.
    pub loaded_ms: Option<Both>,
    /// What the pairs tell of it.
    pub tested: Option<SignFlip>,
    /// Parts of the delay that steering takes away, in %, or adds where they are below 0: what such a trial would not rule
    /// out, from the least to the most.
    pub saved_percent: Option<[f64; 2]>,
    /// The 95th percentile, likewise; nothing is concluded from it.
    pub p95_ms: Option<Both>,
    /// The load's bits a second, likewise.
    pub bps: Option<Both>,
    /// What the pairs tell of the rate without steering by that with it.
    pub rate_tested: Option<SignFlip>,
    /// A difference of the rate smaller than this part of it would not have shown.
    pub rate_would_have_shown: Option<f64>,
    /// The part of the load that has no window and was held.
    pub held: f64,
    /// Why what has no window was left alone, where the hold had a say.
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
    // Delays multiply: a slow hour doubles both slots of a pair, and so their difference.
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

/// Whether it has to be known whether the link carries more than it did: where no queue built up, and that is not known.
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

    /// What load adds to the delay without steering, in ms; others' load, too.
    pub fn rise_ms(&self) -> Option<f64> {
        Some(self.loaded_ms?.without - self.base_ms())
    }

    /// The parts of the rate that steering costs the load, in %, from the least to the most that such a trial would not
    /// rule out; none where it might cost nothing, or where the difference is too small to be noticed.
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

/// Those of which both slots have enough answers.
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

/// The medians of what slots have, of either kind.
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

/// The way that most bytes went.
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

/// The load's rates without steering by those with it, in logarithms.
fn rates(pairs: &[Pair], direction: Direction) -> Option<SignFlip> {
    let ratio = |pair: &Pair| libm::log(pair.without.bps(direction) / pair.with.bps(direction));
    SignFlip::of(&pairs.iter().map(ratio).collect::<Vec<_>>())
}

/// The least round trip, before the load and beside it; not a number where nothing was answered.
fn least_ms(measured: &Measured) -> f64 {
    let slots = measured.slots.iter().flat_map(Slot::delays_ms);
    let all = measured.idle_ms.iter().copied().chain(slots);
    all.fold(f64::NAN, f64::min)
}

/// Of the logarithm of what was measured without steering by that with it.
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

/// Whether the load loses a larger part of its rate than the delay does.
fn gives_way(finding: &Finding, claim: Option<Verdict>) -> bool {
    let gained = match (claim, finding.tested) {
        (Some(Verdict::Helps), Some(tested)) => tested.mean,
        _ => 0.0,
    };
    let lost = finding.rate_tested.filter(SignFlip::is_significant);
    lost.is_some_and(|lost| lost.mean > gained && 1.0 - libm::exp(-lost.mean) >= GIVES_WAY)
}

/// What is certain enough, and large enough to be noticed: both have to say the same.
fn claim(tested: &SignFlip, loaded: Both) -> Option<Verdict> {
    let saved_ms = loaded.without - loaded.with;
    let is_one = tested.is_significant() && saved_ms.abs() >= NOTICEABLE_MS;
    match (is_one, tested.mean > 0.0, saved_ms > 0.0) {
        (true, true, true) => Some(Verdict::Helps),
        (true, false, false) => Some(Verdict::Hurts),
        _ => None,
    }
}

/// Why no difference has shown.
fn reason(measured: &Measured, finding: &Finding, load: &Load) -> Because {
    if let Some(because) = load.out_of_reach() {
        return because;
    }
    if !finding.queue_is_short() {
        // What the trial does not rule out, and would be worth having.
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

/// What the load was. What the law reaches is read from slots with steering, since nothing is held in the others; all else
/// from slots without.
struct Load {
    /// The part of it that the law reaches: by its window, or held.
    reached: f64,
    /// The part of it that is held.
    held: f64,
    /// What it mostly is, if that has no window and is not held,
    windowless: Option<String>,
    /// and why it is not.
    unheld: Option<Holding>,
    /// Whether the law leaves most of it alone.
    left_alone: bool,
    /// Whether it pauses.
    silent: bool,
    /// Whether its queue drops or marks.
    loses: bool,
    /// The most that a slot carried.
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
    /// Why the law does not reach most of it, if it does not.
    fn out_of_reach(&self) -> Option<Because> {
        let windowless = self.windowless.clone().map(Because::Windowless);
        windowless.or(self.left_alone.then_some(Because::LeftAlone))
    }
}

/// What a trial that was cut short has to do with data, for words.
impl CutShort {
    /// Bytes that it would have taken, if that is known.
    pub fn would_take(self) -> Option<u64> {
        match self {
            Self::WouldTake(bytes) => Some(bytes),
            Self::Taken => None,
        }
    }
}

#[cfg(test)]
mod tests;
