//! Uploads without a window: the hold's effect in front of an uplink, alone, and beside others.

use super::super::contenders::{Contender, LINUX, TIDE};
use super::super::links::{self, Link};
use super::super::paths::{self, Path, WARMUP_S};
use super::super::trials::Trial;
use super::measure::{Bound, Measure};
use super::{HOLD, talk};
use crate::means::{mean, most};
use crate::workloads::{bulk, download};
use anyhow::Result;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_scenario::{Direction, RunResult, Udp, Workload};
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

/// Mbit/s of the uplinks that never change, and of the downlink.
const STEADY_MBPS: [f64; 5] = [1.0, 2.0, 5.0, 20.0, 100.0];
const DOWN_MBPS: f64 = 50.0;

/// Packets that an uplink's buffer holds.
const PACKETS: usize = 1000;

/// With `--quick` the second.
const RTTS_MS: [u32; 4] = [20, 50, 100, 200];
const QUICK_RTTS_MS: [u32; 1] = [50];

/// Base RTT of cases with company.
const COMPANY_RTT_MS: [u32; 1] = [50];

const DURATION_S: f64 = 60.0;

/// When numbers begin to count, in seconds: the effects of the others' start are over.
const SETTLED_S: f64 = 15.0;
const OTHER_STARTS_S: f64 = 5.0;

/// Senders that fill a buffer, and senders at a rate, which leave little to gain.
const SENDERS: [(&str, &str, Gain); 4] = [
    ("CUBIC", "cubic", Gain::Much),
    ("Reno", "reno", Gain::Much),
    ("BBR", "bbr", Gain::Little),
    ("BBR 3", "bbr3", Gain::Little),
];

/// The gain that is possible.
#[derive(Clone, Copy)]
enum Gain {
    Much,
    Little,
}

const FLOOR_MS: f64 = 0.5;

/// Largest number of signalled packets in a thousand that leave.
const SIGNALLED: f64 = 1.0;

const ROUNDS: &str = "an echo's round trip holds the downlink's queue as well, and what another machine's download keeps there is \
                      taken for the uplink's until a question has told that it is not ours";

const GOODPUT: Measure = Measure {
    name: "goodput",
    read: |run| of(run, 0),
    bound: Bound::Least(0.95),
    reason: "on EVDO's links each signal is a loss in a window of a dozen packets; on the others CUBIC's and Reno's windows have \
             just been told when the rate rises",
};

/// Bounds for a held upload, alone.
const HELD: [Measure; 4] = [
    GOODPUT,
    Measure {
        name: "mean queueing delay",
        read: |run| run.uplink.queue_delay_ms.mean.max(FLOOR_MS),
        bound: Bound::Most(1.0 / 12.0),
        reason: SHALLOW,
    },
    Measure {
        name: "95th percentile of the queueing delay",
        read: |run| run.uplink.queue_delay_ms.p95.max(FLOOR_MS),
        bound: Bound::Most(0.1),
        reason: SHALLOW,
    },
    Measure {
        name: "95th percentile of its own round trip",
        read: |run| {
            let first = run.flows.first();
            first.map_or(FLOOR_MS, |flow| flow.rtt_ms.p95.max(FLOOR_MS))
        },
        bound: Bound::Most(0.25),
        reason: "what the sender has beyond the window waits here until it is signalled, on cells for as long as a fade lasts",
    },
];

const WAY: &str =
    "what waits here for seconds in an outage a sender at a rate takes for a longer way";

const SHALLOW: &str = "where a round trip is long or the link fast, untouched Linux's queue in 1000 packets is little more than what \
                       the link's swings need";

/// Goodput in bit/s of the `nth` flow.
fn of(run: &RunResult, nth: usize) -> f64 {
    run.flows
        .get(nth)
        .map_or(0.0, |flow| flow.goodput_bps)
        .max(1.0)
}

/// A sender of that congestion control, held.
const fn held(sender: &'static str) -> Contender {
    Contender::tide(sender).windowless(Udp::Hold)
}

fn upload() -> Workload {
    Workload {
        windowless: true,
        ..bulk("upload", Direction::Up, None, 1)
    }
}

/// The traffic beside it.
struct Company {
    words: &'static str,
    trials: Arc<[Trial]>,
    quantities: &'static [(&'static str, Measure)],
}

const OWN: (&str, Measure) = (
    "its goodput",
    Measure {
        bound: Bound::Least(0.8),
        reason: ROUNDS,
        ..GOODPUT
    },
);
const THEIRS: (&str, Measure) = (
    "the other's goodput",
    Measure {
        read: |run| of(run, 1),
        bound: Bound::Least(0.95),
        ..GOODPUT
    },
);

/// The figure.
///
/// # Errors
/// When a recording cannot be read.
pub fn figure(extent: &Extent) -> Result<Figure> {
    let alone: Arc<[Trial]> = trials(extent, "an upload", &[])?.into();
    let company = company(extent)?;
    let talks = talks(extent)?;
    let senders = SENDERS.iter().flat_map(|&(_, sender, _)| {
        let both = [held(sender).untouched(), held(sender)];
        alone
            .iter()
            .flat_map(move |trial| both.map(|by| trial.case(by)))
    });
    let beside = company.iter().flat_map(|company| {
        let of = |trial: &Trial| [TIDE.untouched(), held("cubic")].map(|by| trial.case(by));
        company.trials.iter().flat_map(of).collect::<Vec<_>>()
    });
    let talking = talks
        .iter()
        .flat_map(|trial| [LINUX, HOLD].map(|by| trial.case(by)));
    let cases = senders.chain(beside).chain(talking).collect();
    let mut quantities: Vec<Quantity> = SENDERS
        .iter()
        .flat_map(|&(words, sender, gain)| judged(words, &alone, held(sender), gain))
        .collect();
    quantities.extend(company.iter().flat_map(Company::judged));
    quantities.extend(talk::quantities("a held upload", &talks, extent));
    Ok(Figure {
        id: "windowless-uploads",
        title: "Uploads without a window",
        claim: "The data of an upload that has no window wait here, and not before the uplink: as short a queue as with a \
                window, at untouched Linux's goodput, and whose acknowledgements share the uplink has a download again.",
        method: "An upload that the law sees and whose window it cannot lower, for a minute, of which the first 5 s are not counted, through \
                 a buffer of 1000 packets: untouched Linux and held. Uplinks: 1 to 100 Mbit/s, the shipped cells, every recording of an \
                 uplink, at base RTTs of 20 to 200 ms; 50 Mbit/s down. Delays below 0.5 ms count as 0.5 ms. Beside others at 50 ms, CUBIC: \
                 an upload with a window that joins after 5 s; a download of this machine's and one of another's, which nobody \
                 steers; counted from 15 s on. Beside it talk a call (echoes of 250 bytes, 50 a second), a game (100 bytes, 30 a second), a \
                 ping (84 bytes, 50 a second) and exchanges of 200 bytes, one a second, on uplinks of at least 1 Mbit/s.",
        cases,
        quantities,
        draw: Box::new(move |sample: &Sample| vec![plane(sample, &alone)]),
    })
}

/// Every uplink.
fn uplinks(extent: &Extent) -> Result<impl Iterator<Item = Link>> {
    let recorded = links::all(extent, 1)?.into_iter();
    let recorded = recorded.skip(links::cells(extent.quick).len());
    let uplinks = STEADY_MBPS.map(Link::constant).into_iter();
    Ok(uplinks
        .chain(links::cells(extent.quick))
        .chain(recorded.filter(|link| link.name.ends_with(".up"))))
}

/// An upload over each uplink, beside these others.
fn trials(extent: &Extent, words: &str, others: &[Workload]) -> Result<Vec<Trial>> {
    over(uplinks(extent)?, extent, words, others)
}

/// Talkers beside it, on uplinks on which they are a small part of the traffic.
fn talks(extent: &Extent) -> Result<Arc<[Trial]>> {
    let mut wide = Vec::new();
    for uplink in uplinks(extent)? {
        if paths::mean_mbps(&uplink)? >= talk::LEAST_MBPS {
            wide.push(uplink);
        }
    }
    Ok(over(wide, extent, "an upload beside talk", &talk::workloads())?.into())
}

fn over(
    uplinks: impl IntoIterator<Item = Link>,
    extent: &Extent,
    words: &str,
    others: &[Workload],
) -> Result<Vec<Trial>> {
    let rtts: &[u32] = match (others.is_empty(), extent.quick) {
        (false, _) => &COMPANY_RTT_MS,
        (true, true) => &QUICK_RTTS_MS,
        (true, false) => &RTTS_MS,
    };
    let warmup_s = if others.is_empty() {
        WARMUP_S
    } else {
        SETTLED_S
    };
    let ways = paths::over([Link::constant(DOWN_MBPS)], rtts)?;
    let workloads: Vec<_> = std::iter::once(upload())
        .chain(others.iter().cloned())
        .collect();
    let trial = |uplink: &Link, way: &Path| {
        let subject = format!("{words} over {}", uplink.name);
        Trial::new(&subject, way, DURATION_S, workloads.clone())
            .warmed_up(warmup_s)
            .through(uplink, PACKETS)
    };
    Ok(uplinks
        .into_iter()
        .flat_map(|uplink| {
            ways.iter()
                .map(|way| trial(&uplink, way))
                .collect::<Vec<_>>()
        })
        .collect())
}

fn company(extent: &Extent) -> Result<Vec<Company>> {
    let windowed = Workload {
        start_s: OTHER_STARTS_S,
        ..bulk("another", Direction::Up, None, 1)
    };
    let elsewhere = Workload {
        steered: false,
        ..download()
    };
    let beside = [
        ("beside an upload with a window", windowed, &[][..]),
        ("beside a download", download(), &[OWN, THEIRS][..]),
        ("beside another machine's download", elsewhere, &[OWN][..]),
    ];
    let company = |(words, other, quantities)| {
        Ok(Company {
            words,
            trials: trials(extent, words, &[other])?.into(),
            quantities,
        })
    };
    beside.into_iter().map(company).collect()
}

impl Company {
    fn judged(&self) -> Vec<Quantity> {
        let mut quantities = Vec::new();
        for &(words, measure) in self.quantities {
            let name = format!("{}: {words} ÷ untouched Linux's", self.words);
            quantities.extend(mean_and_worst(&name, &self.trials, held("cubic"), measure));
        }
        if self.quantities.is_empty() {
            let trials = self.trials.clone();
            let share =
                move |s: &Sample| {
                    mean(trials.iter().map(|trial| {
                        s.mean(&trial.by(held("cubic")), |run| of(run, 0) / of(run, 1))
                    }))
                };
            let name = format!("{}: its goodput ÷ the other's, mean", self.words);
            let fair = Claim::same(1.0, 0.25);
            quantities.push(Quantity::new(name, "", fair, share));
        }
        quantities
    }
}

fn mean_and_worst(
    words: &str,
    trials: &Arc<[Trial]>,
    contender: Contender,
    measure: Measure,
) -> [Quantity; 2] {
    let [one, other] = [(); 2].map(|()| trials.clone());
    let ratios = move |s: &Sample, trials: &[Trial]| -> Vec<f64> {
        let ratio = |trial| measure.ratio(s, trial, contender);
        trials.iter().map(ratio).collect()
    };
    [
        Quantity::new(format!("{words}, mean"), "", measure.claim(), move |s| {
            measure.mean(ratios(s, &one).into_iter())
        })
        .because(measure.reason),
        Quantity::new(format!("{words}, worst"), "", measure.claim(), move |s| {
            measure.worst(ratios(s, &other).into_iter())
        })
        .because(measure.reason),
    ]
}

fn judged(words: &str, trials: &Arc<[Trial]>, contender: Contender, gain: Gain) -> Vec<Quantity> {
    let mut quantities = Vec::new();
    for measure in HELD {
        let measure = match (gain, measure.bound) {
            (Gain::Little, Bound::Most(_)) => Measure {
                bound: Bound::About(1.0),
                reason: WAY,
                ..measure
            },
            _ => measure,
        };
        let name = format!("{words}: {} ÷ untouched Linux's", measure.name);
        quantities.extend(mean_and_worst(&name, trials, contender, measure));
    }
    let signalled = move |trial: &Trial, s: &Sample| {
        s.mean(&trial.by(contender), |run| {
            let all = run.held.iter().map(|held| (held.signalled, held.left));
            let (signalled, left) = all.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
            1e3 * signalled as f64 / left.max(1) as f64
        })
    };
    for (what, worst) in [("mean", false), ("worst", true)] {
        let trials = trials.clone();
        let read = move |s: &Sample| {
            let all = trials.iter().map(|trial| signalled(trial, s));
            if worst { most(all) } else { mean(all) }
        };
        let name = format!("{words}: packets signalled of 1000, {what}");
        let claim = Claim::at_most(SIGNALLED, 10.0);
        quantities.push(Quantity::new(name, "", claim, read).because(
            "a link of a few hundred kbit/s carries a thousand packets in half a minute, and a window of a dozen is outgrown sooner",
        ));
    }
    quantities
}

/// A dot for each uplink: utilisation over delay.
fn plane(sample: &Sample, trials: &[Trial]) -> plot::Figure {
    let shown = [("Linux", TIDE.untouched(), 2), ("held", held("cubic"), 1)];
    let curves = shown.map(|(label, contender, nth)| {
        let dot = |trial: &Trial| {
            let case = trial.by(contender);
            let used = sample.mean(&case, |run| 100.0 * run.uplink.utilisation);
            (sample.mean(&case, HELD[1].read), used)
        };
        let dots = trials.iter().map(dot).collect();
        Curve::new(label, Pen::nth(nth), Mark::Dots, dots)
    });
    plot::Figure {
        title:
            "A CUBIC upload without a window: utilisation over mean queueing delay, every uplink"
                .into(),
        x: Axis::new("mean queueing delay, ms", Scale::Log),
        y: Axis::new("utilisation, %", Scale::Linear),
        curves: curves.into(),
        size: plot::Figure::WIDE,
    }
}
