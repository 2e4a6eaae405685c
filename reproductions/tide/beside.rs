//! Beside traffic that nobody here controls: how much is left to us, and how soon the queue is gone after it.

use super::contenders::{Contender, DRWA, LINUX, Shown, TIDE, TRIO};
use super::links::{self, Link};
use super::paths::{self, Path, WARMUP_S};
use super::trials::Trial;
use super::windowless::HOLD;
use crate::means::{mean, most};
use crate::spans::{BIN_S, Span, seconds};
use crate::workloads::download;
use anyhow::Result;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_scenario::{Direction, Spacing, Workload, WorkloadKind};
use tidegate_study::{Case, Claim, Extent, Figure, Quantity, Sample};

/// Base RTTs in milliseconds; with `--quick` the second.
const RTTS_MS: [u32; 2] = [50, 100];

/// With `--quick`, every so many recordings.
const QUICK_STRIDE: usize = 5;

/// A link that never changes, in Mbit/s.
const STEADY_MBPS: f64 = 10.0;

/// Who comes second begins at the first of these seconds; the other ends at the second, we at the third.
const SECOND_S: f64 = 15.0;
const END_S: f64 = 105.0;
const DURATION_S: f64 = 165.0;

/// While both are there, and when we have the link for ourselves again.
const TOGETHER: Span = Span(SECOND_S, END_S);
const AFTERWARDS: Span = Span(END_S, DURATION_S);

/// What datagrams take of a link's mean rate.
const DATAGRAMS: f64 = 0.3;

/// Our flow's name and the other's.
const OURS: &str = "download";
const OTHER: &str = "other";

/// Share that we are to keep of what untouched Linux gets, and of half the link, in percent.
const KEPT: f64 = 80.0;

/// Links slower than this, in Mbit/s, are those on which DRWA is said to starve.
const SLOW_MBPS: f64 = 2.5;

/// The queue is drained when its delay, over a second, is back at this multiple of what it is without
/// the other, or at this many milliseconds.
const DRAINED: f64 = 2.0;
const DRAINED_MS: f64 = 20.0;

/// Why the queue stays where we come second.
const FALSE_FLOOR: &str = "on T-Mobile's UMTS uplink the link all but stops for 12 s just then; on Starlink a newcomer takes the \
     other's queue for its floor, which makes the lag three times as long, and the margin remembers for 64 such round \
     trips how the rate swung: until it shrinks no floor falls, and then the queue is gone within half a second";

/// Why the queue stays where we were first.
const SWUNG: &str = "our rate had swung while the other was there, and the margin remembers that for 64 round trips";

/// Why Linux is no measure of an even share.
const LOCKED_OUT: &str = "untouched Linux had filled the buffer before, which keeps a newcomer out for minutes; and tide's forecast is the rate that it is left with: while another's queue of delay q stands, a window of \
     m · H brings m · H / (H + q), which is the next forecast, until the smallest window is left";

/// Why half the link is less than Linux's.
const EVEN: &str = "untouched Linux had filled the buffer before, which keeps a newcomer out for minutes, and has most of the link all \
                    the time; an even share is half of it";

const RATE: &str = "goodput_bps";
const QUEUE: &str = "queue_delay_ms";
const COULD: &str = "capacity_bps";
const CURVES: [&str; 4] = [RATE, QUEUE, "delivered_bps", COULD];

/// What the other sends, and who was first.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Company {
    name: &'static str,
    datagrams: bool,
    first: bool,
    /// Whether it is our own host's, without a window: seen, and held.
    held: bool,
}

const JOINS: Company = Company {
    name: "CUBIC joins",
    datagrams: false,
    first: false,
    held: false,
};

const FIRST: Company = Company {
    name: "CUBIC first",
    first: true,
    ..JOINS
};

const HELD_JOINS: Company = Company {
    name: "windowless CUBIC joins",
    held: true,
    ..JOINS
};

const HELD_FIRST: Company = Company {
    name: "windowless CUBIC first",
    held: true,
    ..FIRST
};

const COMPANIES: [Company; 6] = [
    JOINS,
    FIRST,
    Company {
        name: "datagrams join",
        datagrams: true,
        ..JOINS
    },
    Company {
        name: "datagrams first",
        datagrams: true,
        ..FIRST
    },
    HELD_JOINS,
    HELD_FIRST,
];

/// The figure.
///
/// # Errors
/// When a recording cannot be read.
pub fn figure(extent: &Extent) -> Result<Figure> {
    let meetings: Arc<[Meeting]> = meetings(extent)?.into();
    Ok(Figure {
        id: "beside",
        title: "Beside traffic that nobody controls",
        claim: "We keep 80 % of what untouched Linux would get, whoever was first, and the queue is drained within \
                5 s of the other's end. DRWA takes the other's queue for its own and starves.",
        method: "The other is a CUBIC flow that no law sees: over UDP as QUIC is, or over TCP to another host behind \
                 the link, which are the same to the law and to the link; or datagrams at 30 % of the link's mean rate; or a \
                 CUBIC flow without a window of our own host, which tide sees and holds. \
                 It joins at 15 s, or is there from 0 s and we join at 15 s; it ends at 105 s, we go on to 165 s. Shares \
                 are of the 90 s together; a case in which we get more than Linux counts as 100 %. What the other \
                 left in the queue has to pass first, most of a minute on a slow link: the time to drain counts \
                 from its last packet, on paths on which our download gets a connection with untouched Linux. The \
                 queue is drained when its delay, over a second, is at most twice \
                 what the same law has without company, or 20 ms.",
        cases: cases(&meetings),
        quantities: quantities(&meetings),
        draw: Box::new(move |sample| pictures(sample, &meetings)),
    })
}

/// Our flow in company, and the same flow for the same time alone.
#[derive(Clone, Debug)]
struct Meeting {
    company: Company,
    beside: Trial,
    alone: Trial,
}

/// Path by path.
fn meetings(extent: &Extent) -> Result<Vec<Meeting>> {
    let (stride, rtts) = match extent.quick {
        true => (QUICK_STRIDE, &RTTS_MS[1..]),
        false => (1, &RTTS_MS[..]),
    };
    let steady = [Link::constant(STEADY_MBPS)].into_iter();
    let paths = paths::over(steady.chain(links::all(extent, stride)?), rtts)?;
    let all = |path| COMPANIES.map(|company| Meeting::new(company, path));
    Ok(paths.iter().flat_map(all).collect())
}

/// Nobody but tide is looked at alone, which is the same whatever the company.
fn cases(meetings: &[Meeting]) -> Vec<Case> {
    let beside = meetings.iter().flat_map(|meeting| {
        let trio = meeting.company.trio();
        trio.map(|(_, contender, _)| meeting.beside.case(contender))
    });
    let alone = of(meetings, JOINS).map(|meeting| meeting.alone.case(TIDE));
    beside.chain(alone).collect()
}

fn of(meetings: &[Meeting], company: Company) -> impl Iterator<Item = &Meeting> + Clone {
    let of = move |meeting: &&Meeting| meeting.company == company;
    meetings.iter().filter(of)
}

fn quantities(meetings: &Arc<[Meeting]>) -> Vec<Quantity> {
    let beside = |company| beside(company, &of(meetings, company).cloned().collect());
    let mut quantities: Vec<_> = COMPANIES.into_iter().flat_map(beside).collect();
    let slow: Vec<Meeting> = of(meetings, JOINS)
        .filter(|meeting| meeting.beside.path.mean_mbps < SLOW_MBPS)
        .cloned()
        .collect();
    quantities.push(Quantity::new(
        "CUBIC joins: share of a slow link that DRWA λ = 3 is left with",
        "%",
        Claim::at_most(6.0, 50.0),
        move |sample| mean(slow.iter().map(|m| m.share(sample, DRWA))),
    ));
    quantities
}

/// Those of one kind of company.
fn beside(company: Company, meetings: &Arc<[Meeting]>) -> Vec<Quantity> {
    let quantity = |what: &str, unit, claim, read: fn(&[Meeting], &Sample) -> f64| {
        let meetings = meetings.clone();
        let name = format!("{}: {what}", company.name);
        Quantity::new(name, unit, claim, move |sample| read(&meetings, sample))
    };
    let count = meetings.len() as f64;
    let mut quantities = vec![
        quantity(
            "share of Linux's goodput that tide keeps",
            "%",
            Claim::at_least(KEPT, 0.0),
            |meetings, s| mean(meetings.iter().map(|m| m.kept(s))),
        )
        .because(company.least_kept()),
        quantity(
            &format!("of {count} paths, on how many less than 80 %"),
            "paths",
            Claim::at_most(0.0, count),
            |meetings, s| meetings.iter().filter(|m| m.kept(s) < KEPT).count() as f64,
        )
        .because(company.least_kept()),
        quantity(
            "time until tide's queue is drained, longest",
            "s",
            Claim::at_most(5.0, AFTERWARDS.length_s()),
            |meetings, s| {
                let connected = meetings.iter().filter(|m| m.connects(s));
                most(connected.map(|m| m.drained_s(s)))
            },
        )
        .because(company.longest_drained()),
        quantity(
            "utilisation after the other's end, tide less Linux",
            "points",
            Claim::at_least(-3.5, -100.0),
            |meetings, s| {
                mean(
                    meetings
                        .iter()
                        .map(|m| m.used(s, m.company.ours()) - m.used(s, LINUX)),
                )
            },
        ),
    ];
    if !company.datagrams {
        quantities.push(quantity(
            "share of the link that tide gets",
            "%",
            Claim::at_least(KEPT / 2.0, 0.0),
            |meetings, s| mean(meetings.iter().map(|m| m.share(s, m.company.ours()))),
        ));
    }
    quantities
}

impl Company {
    /// tide, and what it does to the other.
    const fn ours(self) -> Contender {
        if self.held { HOLD } else { TIDE }
    }

    /// Who is held against whom, from back to front.
    fn trio(self) -> [Shown; 3] {
        let [linux, drwa, (label, _, nth)] = TRIO;
        [linux, drwa, (label, self.ours(), nth)]
    }

    /// Why tide keeps less beside it than it should; empty where that is not known.
    fn least_kept(self) -> &'static str {
        match self {
            JOINS => LOCKED_OUT,
            HELD_JOINS => EVEN,
            _ => "",
        }
    }

    /// Why the queue that it leaves behind stays; empty where that is not known.
    fn longest_drained(self) -> &'static str {
        match self {
            FIRST => FALSE_FLOOR,
            JOINS => SWUNG,
            _ => "",
        }
    }

    /// When we begin, and when it begins, in seconds.
    const fn starts_s(self) -> [f64; 2] {
        match self.first {
            true => [SECOND_S, 0.0],
            false => [0.0, SECOND_S],
        }
    }

    /// What both send over that path.
    fn workloads(self, path: &Path) -> Vec<Workload> {
        let [ours_s, other_s] = self.starts_s();
        let does = match self.datagrams {
            true => WorkloadKind::Datagrams {
                direction: Direction::Down,
                mbps: path.mean_mbps * DATAGRAMS,
                packet_bytes: 1200,
                spacing: Spacing::Constant,
            },
            false => download().does,
        };
        let ours = Workload {
            start_s: ours_s,
            ..download()
        };
        let other = Workload {
            start_s: other_s,
            stop_s: Some(END_S),
            steered: self.held,
            windowless: self.held,
            ..Workload::new(OTHER, does)
        };
        vec![ours, other]
    }
}

impl Meeting {
    fn new(company: Company, path: &Path) -> Self {
        let trial = |subject: &str, workloads| {
            Trial::new(subject, path, DURATION_S, workloads)
                .warmed_up(WARMUP_S)
                .curves(&CURVES)
        };
        Self {
            company,
            beside: trial(company.name, company.workloads(path)),
            alone: trial("no company", vec![download()]),
        }
    }

    /// Whether untouched Linux ever gets data: a full buffer keeps its first packets out, and who waits
    /// for the next attempt leaves no queue.
    fn connects(&self, sample: &Sample) -> bool {
        let case = self.beside.by(LINUX);
        let mut curves = sample.flow_curves(&case, OURS, RATE);
        curves.any(|curve| !curve.is_empty())
    }

    /// What our flow gets while the other is there, in bit/s.
    fn goodput_bps(&self, sample: &Sample, contender: Contender) -> f64 {
        let case = self.beside.by(contender);
        let curves = sample.flow_curves(&case, OURS, RATE);
        mean(curves.map(|curve| together_bps(&curve)))
    }

    /// What tide's flow gets of what it gets with untouched Linux, in percent.
    fn kept(&self, sample: &Sample) -> f64 {
        let [linux, ours] = [LINUX, self.company.ours()].map(|c| self.goodput_bps(sample, c));
        // On a slow link with a full buffer Linux may not even connect.
        if ours >= linux {
            100.0
        } else {
            100.0 * ours / linux
        }
    }

    /// What our flow gets of the link while the other is there, in percent.
    fn share(&self, sample: &Sample, contender: Contender) -> f64 {
        let could = sample.curves(&self.beside.by(contender), COULD);
        let could_bps = mean(could.map(|curve| together_bps(&curve)));
        100.0 * self.goodput_bps(sample, contender) / could_bps
    }

    /// What is used of the link after the other's end, in percent.
    fn used(&self, sample: &Sample, contender: Contender) -> f64 {
        AFTERWARDS.utilisation(sample, &self.beside.by(contender))
    }

    /// Seconds from the moment the other's last packet leaves tide's queue until the queue is drained;
    /// until the end if it never is, or nothing of it ever leaves.
    fn drained_s(&self, sample: &Sample) -> f64 {
        let usual = sample.mean(&self.alone.by(TIDE), |run| run.link.queue_delay_ms.mean);
        let level = DRAINED_MS.max(DRAINED * usual);
        let curves = sample.curves(&self.beside.by(self.company.ours()), QUEUE);
        mean(curves.map(|curve| drained_s(&curve, level)))
    }
}

/// As [`Meeting::drained_s`], from the curve of queueing delays in ms.
fn drained_s(curve: &[(f64, f64)], level: f64) -> f64 {
    let sent_after_end = |&(at, delay): &(f64, f64)| at - delay / 1e3 >= END_S;
    let left = curve.iter().position(sent_after_end);
    let after = &curve[left.unwrap_or(curve.len())..];
    let is_low = |from: f64| mean(Span(from, from + 1.0).values(after)) <= level;
    let from = after.first().map_or(END_S, |p| p.0);
    let drained = after.iter().map(|p| p.0).find(|&at| is_low(at));
    drained.unwrap_or(DURATION_S) - from
}

/// The mean of a curve while both are there; before a flow begins it has no curve.
fn together_bps(curve: &[(f64, f64)]) -> f64 {
    TOGETHER.values(curve).sum::<f64>() * BIN_S / TOGETHER.length_s()
}

/// Both flows' rates and the queue beside CUBIC on the first path, and the shares on all.
fn pictures(sample: &Sample, meetings: &[Meeting]) -> Vec<plot::Figure> {
    let mut pictures = Vec::new();
    for company in [JOINS, FIRST, HELD_JOINS, HELD_FIRST] {
        let meeting = of(meetings, company).next().expect("a steady link");
        pictures.extend(rates(sample, meeting));
        pictures.push(queues(sample, meeting));
        pictures.push(shares(sample, company, of(meetings, company)));
    }
    pictures
}

/// Both flows' rates, a picture for each contender.
fn rates(sample: &Sample, meeting: &Meeting) -> [plot::Figure; 3] {
    meeting.company.trio().map(|(label, contender, nth)| {
        let case = meeting.beside.by(contender);
        let flow = |flow, pen| {
            let curve = sample.flow_curves(&case, flow, RATE).next();
            Curve::new(flow, pen, Mark::Line, seconds(&curve.unwrap_or_default()))
        };
        strip(
            format!("{}: {label}", meeting.beside.name()),
            Axis::new("Mbit/s", Scale::FromZero),
            vec![flow(OTHER, Pen::nth(3)), flow(OURS, Pen::nth(nth))],
        )
    })
}

/// The queue with each contender.
fn queues(sample: &Sample, meeting: &Meeting) -> plot::Figure {
    let queues = meeting.company.trio().map(|(label, contender, nth)| {
        let delays = sample.curve(&meeting.beside.by(contender), QUEUE);
        Curve::new(label, Pen::nth(nth), Mark::Line, delays)
    });
    let title = format!("{}: queueing delay", meeting.beside.name());
    strip(title, Axis::new("ms", Scale::Log), queues.into())
}

fn strip(title: String, y: Axis, curves: Vec<Curve>) -> plot::Figure {
    plot::Figure {
        title,
        x: Axis::new("time, s", Scale::FromZero).within(0.0, DURATION_S),
        y,
        curves,
        size: plot::Figure::STRIP,
    }
}

/// A dot a path: the share of the link, over the link's rate.
fn shares<'a>(
    sample: &Sample,
    company: Company,
    meetings: impl Iterator<Item = &'a Meeting> + Clone,
) -> plot::Figure {
    let dots = company.trio().map(|(label, contender, nth)| {
        let share = |m: &Meeting| (m.beside.path.mean_mbps, m.share(sample, contender));
        let points = meetings.clone().map(share).collect();
        Curve::new(label, Pen::nth(nth), Mark::Dots, points)
    });
    plot::Figure {
        title: format!(
            "{}: our share of the link while both are there, every path",
            company.name
        ),
        x: Axis::new("mean rate of the link, Mbit/s", Scale::Log),
        y: Axis::new("%", Scale::FromZero).within(0.0, 105.0),
        curves: dots.into(),
        size: plot::Figure::WIDE,
    }
}

#[cfg(test)]
mod tests;
