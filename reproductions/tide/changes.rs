//! Route changes, handovers and rate steps: how soon the link is full again, and its queue short.

use super::aftermath::{Aftermath, HORIZON_S};
use super::change::{self, AT_S, CURVES, Change, Kind};
use super::contenders::{Contender, DRWA, LINUX, QUARTET, TIDE};
use crate::means::{geometric_mean, mean, most};
use crate::spans::Span;
use anyhow::Result;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// Longest recovery from a route change, in seconds.
const ROUTE_GOAL_S: f64 = 1.0;

/// Longest time until tide's queue is short again, in seconds, whatever the others' queues do.
const DRAIN_GOAL_S: f64 = 5.0;

/// Capacity that tide can lose in the ten seconds after a change beyond DRWA's loss, in seconds of the link: the share
/// that can be missing anywhere.
const LOSS_GOAL_S: f64 = 0.35;

/// How much later than Linux tide can be after a rise of the rate, in seconds. Linux's full buffer needs no filling; a
/// window that follows the forecast grows tenfold in a few round trips.
const UP_GOAL_S: f64 = 1.0;

/// By how much tide's mean queue can be longer than the reference's in the second minute after a change, in
/// milliseconds.
const LEFT_GOAL_MS: f64 = 20.0;

/// Delays below this, in milliseconds, do not matter.
const FLOOR_MS: f64 = 20.0;

const STALE: &str = "the longer way counts as queue until the forecast has sunk by a quarter, and asking takes two round trips \
                     more; at 200 ms the way is longer by less than the margin allows for, and the forecast sinks slowly";

const RESTLESS: &str =
    "a cell's delays never stand still at one level, so a longer way is not told from queue";

const LOOKED_UNDER: &str = "what a floor may hide is looked for with the window of half the lag, two round trips at a time, until \
                            nothing falls any more";

const SENDER: &str = "at 200 ms tide's window is open within a second, but the sender's congestion window, which has had no \
                      cause to grow, is in congestion avoidance; a longer queue before would have let it grow";

const REMEMBERED: &str = "at 200 ms: the margin remembers errors for 64 round trips, 13 s, and those of the old rate are a quarter \
     of the new one";

/// The seconds around the change in pictures.
const SHOWN: Span = Span(AT_S - 2.0, AT_S + 10.0);

/// The figure.
///
/// # Errors
/// When a link cannot be read.
pub fn figure() -> Result<Figure> {
    let changes: Arc<[Change]> = change::all()?.into();
    let cases = |change: &Change| {
        let contenders = QUARTET.into_iter();
        contenders
            .flat_map(|(_, contender, _)| change.cases(contender))
            .collect::<Vec<_>>()
    };
    Ok(Figure {
        id: "changes",
        title: "Route changes, handovers, rate steps",
        claim: "After a route change the link is full again within a second; after a handover or a rate step it is not \
                later than with DRWA, nor is the queue.",
        method: "It happens 20 s after the start. Route changes are halved between the directions; in a handover \
                 neither direction carries anything for 300 ms, what waits is kept, and the new cell is 20 ms further \
                 away. The reference is the same receiver's download over a path that has always been what this one \
                 becomes. Throughput is taken over windows of 0.5 s (2 s on a cell), and is back when for two seconds it \
                 does not fall below 90 % of what the reference carries at the same time; the queue is drained when for \
                 two seconds no tenth of one has more than 20 ms, or 1.5 times the reference's 95th percentile. What \
                 takes longer than 20 s is called 20 s. Runs last until two minutes after. The gap of a handover counts.",
        cases: changes.iter().flat_map(cases).collect(),
        quantities: Kind::ALL
            .into_iter()
            .flat_map(|kind| quantities(kind, &changes))
            .collect(),
        draw: Box::new(move |sample| {
            let around = |&kind: &Kind| pictures(kind, sample, &changes);
            overview(sample, &changes)
                .into_iter()
                .chain(Kind::ALL.iter().flat_map(around))
                .collect()
        }),
    })
}

/// The recoveries from all changes of a kind.
fn aftermaths(kind: Kind, sample: &Sample, contender: Contender, all: &[Change]) -> Vec<Aftermath> {
    let changes = all.iter().filter(|change| change.kind == kind);
    changes
        .map(|change| Aftermath::of(sample, contender, change))
        .collect()
}

fn quantities(kind: Kind, changes: &Arc<[Change]>) -> Vec<Quantity> {
    let quantity =
        |what: &str, unit, claim, read: fn(&dyn Fn(Contender) -> Vec<Aftermath>) -> f64| {
            let changes = changes.clone();
            let name = format!("{}: {what}", kind.words());
            Quantity::new(name, unit, claim, move |sample| {
                read(&|contender| aftermaths(kind, sample, contender, &changes))
            })
        };
    let mut quantities = vec![
        quantity(
            "capacity lost in 10 s, tide less DRWA λ = 3",
            "s",
            Claim::at_most(LOSS_GOAL_S, 10.0),
            |of| each(&of(TIDE), |a| a.lost_s) - each(&of(DRWA), |a| a.lost_s),
        )
        .because(reason(kind)),
        quantity(
            "until the queue is drained, tide less DRWA λ = 3",
            "s",
            Claim::at_most(0.0, 10.0),
            |of| each(&of(TIDE), |a| a.drained_s) - each(&of(DRWA), |a| a.drained_s),
        ),
        quantity(
            "longest queueing delay ÷ that of DRWA λ = 3, geometric mean",
            "",
            Claim::at_most(1.0, 2.0),
            |of| peak_ms(&of(TIDE)) / peak_ms(&of(DRWA)),
        ),
        quantity(
            "tide, until the queue is drained, worst case",
            "s",
            Claim::at_most(DRAIN_GOAL_S, HORIZON_S),
            |of| most(of(TIDE).iter().map(|a| a.drained_s)),
        )
        .because(if kind == Kind::Down { REMEMBERED } else { "" }),
        quantity(
            "tide, mean queueing delay from 60 to 120 s after, less the reference's, worst case",
            "ms",
            Claim::at_most(LEFT_GOAL_MS, 2.0 * LEFT_GOAL_MS),
            |of| most(of(TIDE).iter().map(|a| a.left_ms)),
        ),
    ];
    let back = match kind.is_route() {
        true => quantity(
            "tide, until 90 % is back, worst case",
            "s",
            Claim::at_most(ROUTE_GOAL_S, 10.0),
            |of| most(of(TIDE).iter().map(|a| a.back_s)),
        ),
        false => quantity(
            "until 90 % is back, tide less DRWA λ = 3",
            "s",
            Claim::at_most(0.0, 10.0),
            |of| each(&of(TIDE), |a| a.back_s) - each(&of(DRWA), |a| a.back_s),
        ),
    };
    quantities.push(back.because(reason(kind)));
    if kind == Kind::Up {
        let behind_linux = quantity(
            "until 90 % is back, tide less Linux",
            "s",
            Claim::at_most(UP_GOAL_S, 10.0),
            |of| each(&of(TIDE), |a| a.back_s) - each(&of(LINUX), |a| a.back_s),
        );
        quantities.push(behind_linux.because(reason(kind)));
    }
    quantities
}

/// Why the link is not full again sooner; empty if unknown.
const fn reason(kind: Kind) -> &'static str {
    match kind {
        Kind::Longer | Kind::Handover => STALE,
        Kind::Up => SENDER,
        Kind::Shorter | Kind::ShorterCell => LOOKED_UNDER,
        Kind::LongerCell => RESTLESS,
        _ => "",
    }
}

/// The mean in whole microseconds, so that equal ones do not differ: the order of summation shows in the last digits.
fn each(all: &[Aftermath], read: fn(&Aftermath) -> f64) -> f64 {
    (mean(all.iter().map(read)) * 1e6).round() / 1e6
}

fn peak_ms(all: &[Aftermath]) -> f64 {
    geometric_mean(all.iter().map(|a| a.peak_ms.max(FLOOR_MS)))
}

/// How long each contender takes, by kind.
fn overview(sample: &Sample, changes: &[Change]) -> [plot::Figure; 2] {
    let picture = |title: &str, read: fn(&Aftermath) -> f64| {
        let bars = QUARTET.map(|(name, contender, nth)| {
            let times =
                Kind::ALL.map(|kind| each(&aftermaths(kind, sample, contender, changes), read));
            let points = (0..).map(f64::from).zip(times).collect();
            Curve::new(name, Pen::nth(nth), Mark::Bars, points)
        });
        plot::Figure {
            title: title.into(),
            x: Axis::categories(Kind::ALL.map(Kind::words)),
            y: Axis::new("s", Scale::FromZero),
            curves: bars.into(),
            size: plot::Figure::WIDE,
        }
    };
    [
        picture("Until 90 % is back, mean", |a| a.back_s),
        picture("Until the queue is drained, mean", |a| a.drained_s),
    ]
}

/// Throughput and queueing delay around the first change of a kind.
fn pictures(kind: Kind, sample: &Sample, changes: &[Change]) -> Vec<plot::Figure> {
    let Some(change) = changes.iter().find(|change| change.kind == kind) else {
        return Vec::new();
    };
    let shown = |contender, curve: &'static str, unit: f64| -> Vec<(f64, f64)> {
        let curve = sample.curve(&change.by(contender), curve);
        let around = SHOWN.points(&curve);
        around.map(|(t, value)| (t - AT_S, value * unit)).collect()
    };
    let curves = |curve, unit, label: fn(&Aftermath) -> String| {
        QUARTET.map(|(name, contender, nth)| {
            let said = label(&Aftermath::of(sample, contender, change));
            let points = shown(contender, curve, unit);
            Curve::new(format!("{name}: {said}"), Pen::nth(nth), Mark::Line, points)
        })
    };
    let [delivered, capacity, queue] = CURVES;
    let carried = Curve::new(
        "link",
        Pen::nth(0).shade(1, 2),
        Mark::Area,
        shown(LINUX, capacity, 1e-6),
    );
    let throughput = curves(delivered, 1e-6, |a| {
        format!("back in {:.1} s, {:.1} s lost", a.back_s, a.lost_s.max(0.0))
    });
    let delay = curves(queue, 1.0, |a| format!("drained in {:.1} s", a.drained_s));
    let picture = |title, y, curves| plot::Figure {
        title,
        x: Axis::new("time after it, s", Scale::Linear),
        y,
        curves,
        size: plot::Figure::WIDE,
    };
    vec![
        picture(
            format!("Throughput: {}", change.name()),
            Axis::new("Mbit/s", Scale::FromZero),
            [carried].into_iter().chain(throughput).collect(),
        ),
        picture(
            format!("Queueing delay: {}", change.name()),
            Axis::new("ms", Scale::Log),
            delay.into(),
        ),
    ]
}
