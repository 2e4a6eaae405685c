//! A satellite link that is reconfigured every 15 seconds, with another base delay and another rate.

use super::contenders::{Contender, Shown};
use super::links::Link;
use super::paths::Path;
use super::score::Score;
use super::trials::Trial;
use crate::means::{geometric_mean, least, mean};
use crate::workloads::download;
use anyhow::Result;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_scenario::{DelayStep, RateSpec};
use tidegate_study::{Case, Claim, Extent, Figure, Quantity, Sample};

/// When the link first changes, and how often, in seconds.
const FIRST_S: f64 = 12.0;
const PERIOD_S: f64 = 15.0;

/// Length of the gap without deliveries at each change, in seconds; the queue is kept.
const GAP_S: (f64, f64) = (0.02, 0.1);
/// Range of the rate after a change, in Mbit/s,
const RATE_MBPS: (f64, f64) = (30.0, 100.0);
/// and of the base RTT above the smallest, in milliseconds.
const ABOVE_MS: (f64, f64) = (0.0, 30.0);

/// Between changes the data's delay grows by up to this many milliseconds, each time for that many seconds.
const JITTER_MS: f64 = 4.0;
const JITTER_S: f64 = 0.02;

/// Smallest base RTTs in milliseconds, and seeds of the link.
const RTTS_MS: [u32; 3] = [20, 50, 100];
const SEEDS: [u64; 3] = [1, 2, 3];
const QUICK: usize = 1;

const DURATION_S: f64 = 105.0;
const WARMUP_S: f64 = 5.0;

const SENDERS: [(&str, &str); 2] = [("CUBIC", "cubic"), ("BBR", "bbr")];

/// Share of untouched Linux's goodput that tide must reach.
const GOAL: f64 = 0.98;

const CURVES: [&str; 3] = ["delivered_bps", "capacity_bps", "queue_delay_ms"];

/// Reads a number from the runs of all downloads.
type Read = Box<dyn Fn(&[Orbit], &Sample) -> f64 + Send + Sync>;

/// The link between two changes.
struct Slot {
    at_s: f64,
    gap_s: f64,
    mbps: f64,
    above_ms: f64,
}

/// A download over such a link.
struct Orbit {
    trial: Trial,
    rtt_ms: u32,
    down: Vec<DelayStep>,
    up: Vec<DelayStep>,
}

/// The figure.
///
/// # Errors
/// When a link makes no sense.
pub fn figure(extent: &Extent) -> Result<Figure> {
    let orbits: Arc<[Orbit]> = orbits(extent)?.into();
    let cases = orbits.iter().flat_map(Orbit::cases).collect();
    let drawn = orbits.clone();
    Ok(Figure {
        id: "starlink",
        title: "A base delay that keeps changing",
        claim: "Where base delay and rate are others every 15 s, as on Starlink, as much arrives as with untouched Linux.",
        method: "Every 15 s the link carries nothing for 20 to 100 ms, and then has a rate of 30 to 100 Mbit/s and a base \
                 RTT of 0 to 30 ms above the smallest, half of it in each direction. All the time the data's way is up \
                 to 4 ms longer, anew each 20 ms. Three seeds, smallest base RTTs of 20, 50 and 100 ms.",
        cases,
        quantities: SENDERS
            .into_iter()
            .flat_map(|sender| quantities(sender, &orbits))
            .collect(),
        draw: Box::new(move |sample| {
            let pictures = |sender| pictures(sample, sender, &drawn[0]);
            SENDERS.into_iter().flat_map(pictures).collect()
        }),
    })
}

fn orbits(extent: &Extent) -> Result<Vec<Orbit>> {
    let seeds = &SEEDS[..if extent.quick { QUICK } else { SEEDS.len() }];
    let of = |&seed| RTTS_MS.map(|rtt_ms| Orbit::new(seed, rtt_ms));
    seeds.iter().flat_map(of).collect()
}

impl Orbit {
    fn new(seed: u64, rtt_ms: u32) -> Result<Self> {
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let slots = slots(&mut rng);
        let link = Link::new(format!("orbit-{seed}"), RateSpec::Steps(rates(&slots)));
        let path = Path::over(&link, rtt_ms)?;
        let trial = Trial::new("every 15 s", &path, DURATION_S, vec![download()])
            .warmed_up(WARMUP_S)
            .curves(&CURVES);
        let least_ms = f64::from(rtt_ms) / 2.0;
        Ok(Self {
            trial,
            rtt_ms,
            down: trembling(&slots, least_ms, &mut rng),
            up: slots.iter().map(|slot| slot.delay(least_ms)).collect(),
        })
    }

    fn cases(&self) -> Vec<Case> {
        let contenders = SENDERS.into_iter().flat_map(|(_, sender)| trio(sender));
        contenders.map(|(_, c, _)| self.case(c)).collect()
    }

    fn case(&self, contender: Contender) -> Case {
        let mut case = self.trial.case(contender);
        case.scenario.down.delay_steps.clone_from(&self.down);
        case.scenario.up.delay_steps.clone_from(&self.up);
        case
    }

    fn score(&self, sample: &Sample, contender: Contender) -> Score {
        Score::read(sample, &self.trial.by(contender))
    }

    /// Goodput with tide, over goodput with another contender.
    fn kept(&self, sample: &Sample, sender: &'static str, other: Contender) -> f64 {
        let of = |contender| sample.goodput(&self.trial.by(contender));
        of(Contender::tide(sender)) / of(other)
    }
}

impl Slot {
    /// Its delay in one direction, at least `least_ms`.
    fn delay(&self, least_ms: f64) -> DelayStep {
        DelayStep {
            at_s: self.at_s + self.gap_s,
            ms: least_ms + self.above_ms / 2.0,
        }
    }
}

fn between(rng: &mut Pcg64Mcg, (from, to): (f64, f64)) -> f64 {
    rng.random_range(from..to)
}

/// The states of the link, the first from the start.
fn slots(rng: &mut Pcg64Mcg) -> Vec<Slot> {
    let changes = (0..).map(|nth| FIRST_S + PERIOD_S * f64::from(nth));
    let begins = [0.0]
        .into_iter()
        .chain(changes.take_while(|&at_s| at_s < DURATION_S));
    begins
        .map(|at_s| Slot {
            at_s,
            gap_s: between(rng, GAP_S) * f64::from(u8::from(at_s > 0.0)),
            mbps: between(rng, RATE_MBPS),
            above_ms: between(rng, ABOVE_MS),
        })
        .collect()
}

fn rates(slots: &[Slot]) -> Vec<[f64; 2]> {
    let of = |slot: &Slot| {
        let gap = (slot.gap_s > 0.0).then_some([slot.at_s, 0.0]);
        gap.into_iter()
            .chain([[slot.at_s + slot.gap_s, slot.mbps]])
            .collect::<Vec<_>>()
    };
    slots.iter().flat_map(of).collect()
}

/// The data's delay, with jitter.
fn trembling(slots: &[Slot], least_ms: f64, rng: &mut Pcg64Mcg) -> Vec<DelayStep> {
    let ends = slots.iter().skip(1).map(|next| next.at_s + next.gap_s);
    let mut steps = Vec::new();
    for (slot, end_s) in slots.iter().zip(ends.chain([DURATION_S])) {
        let DelayStep { at_s, ms } = slot.delay(least_ms);
        let times = (0..).map(|nth| at_s + JITTER_S * f64::from(nth));
        steps.extend(times.take_while(|&t| t < end_s).map(|at_s| DelayStep {
            at_s,
            ms: ms + between(rng, (0.0, JITTER_MS)),
        }));
    }
    steps
}

fn trio(sender: &'static str) -> [Shown; 3] {
    [
        ("Linux", Contender::linux(sender), 2),
        ("DRWA λ = 3", Contender::drwa(sender, 3.0), 0),
        ("tide", Contender::tide(sender), 1),
    ]
}

fn quantities((name, sender): (&str, &'static str), orbits: &Arc<[Orbit]>) -> Vec<Quantity> {
    let quantity = |what: String, claim, read: Read| {
        let orbits = orbits.clone();
        Quantity::new(format!("{name}: {what}"), "", claim, move |sample| {
            read(&orbits, sample)
        })
    };
    let [linux, drwa, tide] = trio(sender).map(|(_, contender, _)| contender);
    let kept = move |orbits: &[Orbit], sample: &Sample, rtt_ms: u32| {
        let at = orbits.iter().filter(|orbit| orbit.rtt_ms == rtt_ms);
        mean(at.map(|orbit| orbit.kept(sample, sender, linux)))
    };
    let mut quantities: Vec<Quantity> = RTTS_MS
        .map(|rtt_ms| {
            quantity(
                format!("what arrives ÷ untouched Linux's, {rtt_ms} ms"),
                Claim::at_least(GOAL, 0.5),
                Box::new(move |orbits, sample| kept(orbits, sample, rtt_ms)),
            )
        })
        .into();
    quantities.extend([
        quantity(
            "what arrives ÷ untouched Linux's, worst case".into(),
            Claim::at_least(GOAL, 0.5),
            Box::new(move |orbits, s| least(orbits.iter().map(|o| o.kept(s, sender, linux)))),
        ),
        quantity(
            "what arrives ÷ DRWA's, mean".into(),
            Claim::at_least(1.0, 0.5),
            Box::new(move |orbits, s| mean(orbits.iter().map(|o| o.kept(s, sender, drwa)))),
        ),
    ]);
    for (whose, other) in [("untouched Linux's", linux), ("DRWA's", drwa)] {
        quantities.push(quantity(
            format!("mean queueing delay ÷ {whose}, geometric mean"),
            Claim::at_most(1.0, 2.0),
            Box::new(move |orbits, s| {
                let ratio = |o: &Orbit| o.score(s, tide).mean_ms / o.score(s, other).mean_ms;
                geometric_mean(orbits.iter().map(ratio))
            }),
        ));
    }
    quantities
}

/// Throughput and queue over time.
fn pictures(
    sample: &Sample,
    (name, sender): (&str, &'static str),
    orbit: &Orbit,
) -> [plot::Figure; 2] {
    let of = |curve: &'static str, unit: f64| {
        trio(sender).map(|(label, contender, nth)| {
            let curve = sample.curve(&orbit.trial.by(contender), curve);
            let points = curve.into_iter().map(|(t, value)| (t, value * unit));
            Curve::new(label, Pen::nth(nth), Mark::Line, points.collect())
        })
    };
    let [delivered, capacity, queue] = CURVES;
    let [(_, contender, _), ..] = trio(sender);
    let carried = sample.curve(&orbit.trial.by(contender), capacity);
    let carried = carried.into_iter().map(|(t, bps)| (t, bps * 1e-6));
    let link = Curve::new(
        "link",
        Pen::nth(0).shade(1, 2),
        Mark::Area,
        carried.collect(),
    );
    let picture = |what, y, curves| plot::Figure {
        title: format!("{name}, {}: {what}", orbit.trial.path.name),
        x: Axis::new("time, s", Scale::Linear),
        y,
        curves,
        size: plot::Figure::WIDE,
    };
    [
        picture(
            "throughput",
            Axis::new("Mbit/s", Scale::FromZero),
            [link].into_iter().chain(of(delivered, 1e-6)).collect(),
        ),
        picture(
            "queueing delay",
            Axis::new("ms", Scale::Log),
            of(queue, 1.0).into(),
        ),
    ]
}
