//! Beside traffic that nobody here controls: how much is left to us, and how soon the queue is gone after it.

use super::contenders::Contender;
use super::paths::{self, Path};
use super::score::mean;
use anyhow::Result;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_reproduce::{Case, Claim, Extent, Figure, Quantity, Sample};
use tidegate_scenario::{Direction, Scenario, Workload, WorkloadKind};

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

const LINUX: Contender = Contender::linux("cubic");
const DRWA: Contender = Contender::drwa("cubic", 3.0);
const TIDE: Contender = Contender::tide("cubic");

const FALSE_FLOOR: &str = "a newcomer takes the other's queue for its floor, and with the lag its window holds as much; when the \
     other has gone the queue that is left is our own, and as nothing ever empties it nothing shows that the floor \
     is wrong";

const CONTENDERS: [(&str, Contender); 3] = [("Linux", LINUX), ("DRWA λ = 3", DRWA), ("tide", TIDE)];

/// Why Linux is no measure of an even share.
const LOCKED_OUT: &str = "untouched Linux had filled the buffer before, which keeps a newcomer out for minutes (on the steady \
     link at 100 ms it holds 95, 86 and 73 % in the first three half minutes, and an even share after three minutes); \
     and tide's forecast is the rate that it is left with: while another's queue of delay q stands, a window of \
     m · H brings m · H / (H + q), which is the next forecast, until 4 segments a round trip are left";

const RATE: &str = "goodput_bps";
const QUEUE: &str = "queue_delay_ms";
const CAME: &str = "delivered_bps";
const COULD: &str = "capacity_bps";

/// What the other sends, and who was first.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Company {
    name: &'static str,
    datagrams: bool,
    first: bool,
}

const JOINS: Company = Company {
    name: "CUBIC joins",
    datagrams: false,
    first: false,
};

const FIRST: Company = Company {
    name: "CUBIC first",
    first: true,
    ..JOINS
};

const COMPANIES: [Company; 4] = [
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
        first: true,
    },
];

/// The figure.
///
/// # Errors
/// When a recording cannot be read.
pub fn figure(extent: &Extent) -> Result<Figure> {
    let (stride, rtts) = match extent.quick {
        true => (QUICK_STRIDE, &RTTS_MS[1..]),
        false => (1, &RTTS_MS[..]),
    };
    let mut links = vec![paths::constant(STEADY_MBPS)];
    links.extend(paths::cells(extent.quick));
    links.extend(paths::recordings(extent, stride)?);
    let paths: Arc<[Path]> = paths::at(links, rtts)?.into();
    let drawn = paths.clone();
    Ok(Figure {
        id: "beside",
        title: "Beside traffic that nobody controls",
        claim: "We keep 80 % of what untouched Linux would get, whoever was first, and the queue is drained within \
                5 s of the other's end. DRWA takes the other's queue for its own and starves.",
        method: "The other is a CUBIC flow that no law sees: over UDP as QUIC is, or over TCP to another host behind \
                 the link, which are the same to the law and to the link; or datagrams at 30 % of the link's mean rate. \
                 It joins at 15 s, or is there from 0 s and we join at 15 s; it ends at 105 s, we go on to 165 s. Shares \
                 are of the 90 s together; a case in which we get more than Linux counts as 100 %. What the other \
                 left in the queue has to pass first, most of a minute on a slow link: the time to drain counts \
                 from its last packet. The queue is drained when its delay, over a second, is at most twice \
                 what the same law has without company, or 20 ms.",
        cases: cases(&paths),
        quantities: quantities(&paths),
        draw: Box::new(move |sample| pictures(sample, &drawn)),
    })
}

fn cases(paths: &[Path]) -> Vec<Case> {
    let mut cases = Vec::new();
    for path in paths {
        for (_, contender) in CONTENDERS {
            cases.extend(COMPANIES.map(|company| company.case(contender, path)));
            cases.push(alone(contender, path));
        }
    }
    cases
}

fn quantities(paths: &Arc<[Path]>) -> Vec<Quantity> {
    let at_least = |paper, neutral| Claim::AtLeast { paper, neutral };
    let at_most = |paper, neutral| Claim::AtMost { paper, neutral };
    let mut quantities = Vec::new();
    for company in COMPANIES {
        let count = paths.len() as f64;
        let mut add = |what: &str, unit, claim, read: fn(&[f64]) -> f64| {
            let paths = paths.clone();
            let name = format!("{}: {what}", company.name);
            let quantity = Quantity::new(name, unit, claim, move |sample| {
                let kept = |path| company.kept(sample, TIDE, path);
                read(&paths.iter().map(kept).collect::<Vec<_>>())
            });
            quantities.push(match company == JOINS {
                true => quantity.because(LOCKED_OUT),
                false => quantity,
            });
        };
        add(
            "share of Linux's goodput that tide keeps",
            "%",
            at_least(KEPT, 0.0),
            |kept| mean(kept.iter().copied()),
        );
        add(
            &format!("of {count} paths, on how many less than 80 %"),
            "paths",
            at_most(0.0, count),
            |kept| kept.iter().filter(|&&share| share < KEPT).count() as f64,
        );
    }
    for company in COMPANIES.into_iter().filter(|company| !company.datagrams) {
        let all = paths.clone();
        quantities.push(Quantity::new(
            format!("{}: share of the link that tide gets", company.name),
            "%",
            at_least(KEPT / 2.0, 0.0),
            move |sample| mean(all.iter().map(|path| company.share(sample, TIDE, path))),
        ));
    }
    for company in COMPANIES {
        let all = paths.clone();
        let quantity = Quantity::new(
            format!(
                "{}: time until tide's queue is drained, longest",
                company.name
            ),
            "s",
            at_most(5.0, DURATION_S - END_S),
            move |sample| {
                let times = all.iter().map(|path| company.drained_s(sample, TIDE, path));
                times.fold(0.0, f64::max)
            },
        );
        quantities.push(match company == FIRST {
            true => quantity.because(FALSE_FLOOR),
            false => quantity,
        });
    }
    for company in COMPANIES {
        let all = paths.clone();
        quantities.push(Quantity::new(
            format!(
                "{}: utilisation after the other's end, tide less Linux",
                company.name
            ),
            "points",
            at_least(-3.5, -100.0),
            move |sample| {
                let used = |contender, path| company.used(sample, contender, path);
                mean(all.iter().map(|path| used(TIDE, path) - used(LINUX, path)))
            },
        ));
    }
    let slow = paths.clone();
    quantities.push(Quantity::new(
        "CUBIC joins: share of a slow link that DRWA λ = 3 is left with",
        "%",
        at_most(6.0, 50.0),
        move |sample| {
            let slow: Vec<&Path> = slow.iter().filter(|p| p.mbps < SLOW_MBPS).collect();
            mean(slow.iter().map(|path| JOINS.share(sample, DRWA, path)))
        },
    ));
    quantities
}

impl Company {
    /// What `contender`'s case beside it is called on that path.
    fn on(self, contender: Contender, path: &Path) -> String {
        format!("{}, {}", contender.on(path), self.name)
    }

    fn case(self, contender: Contender, path: &Path) -> Case {
        let other = match self.datagrams {
            true => WorkloadKind::Datagrams {
                direction: Direction::Down,
                mbps: path.mbps * DATAGRAMS,
                packet_bytes: 1200,
            },
            false => paths::download().does,
        };
        let (we_from, it_from) = match self.first {
            true => (SECOND_S, 0.0),
            false => (0.0, SECOND_S),
        };
        let ours = Workload {
            start_s: we_from,
            ..paths::download()
        };
        let other = Workload {
            start_s: it_from,
            stop_s: Some(END_S),
            steered: false,
            ..Workload::new(OTHER, other)
        };
        longer(contender, path, self.on(contender, path), vec![ours, other])
    }

    /// Megabits that our flow gets while the other is there.
    fn goodput(self, sample: &Sample, contender: Contender, path: &Path) -> f64 {
        let curves = sample.flow_curves(&self.on(contender, path), OURS, RATE);
        over_seeds(curves.map(|curve| sum(&curve, SECOND_S, END_S)))
    }

    /// What our flow gets of what it gets with untouched Linux, in percent.
    fn kept(self, sample: &Sample, contender: Contender, path: &Path) -> f64 {
        let linux = self.goodput(sample, LINUX, path);
        let ours = self.goodput(sample, contender, path);
        // On a slow link with a full buffer Linux may not even connect.
        if ours >= linux {
            100.0
        } else {
            100.0 * ours / linux
        }
    }

    /// What our flow gets of the link while the other is there, in percent.
    fn share(self, sample: &Sample, contender: Contender, path: &Path) -> f64 {
        let could = sample.curves(&self.on(contender, path), COULD);
        let could = over_seeds(could.map(|curve| sum(&curve, SECOND_S, END_S)));
        100.0 * self.goodput(sample, contender, path) / could
    }

    /// What is used of the link after the other's end, in percent.
    fn used(self, sample: &Sample, contender: Contender, path: &Path) -> f64 {
        let case = self.on(contender, path);
        let [came, could] = [CAME, COULD].map(|quantity| {
            let curves = sample.curves(&case, quantity);
            over_seeds(curves.map(|curve| sum(&curve, END_S, DURATION_S)))
        });
        100.0 * came / could
    }

    /// Seconds from the moment the other's last packet leaves the queue until the queue is drained;
    /// until the end if it never is, or nothing of it ever leaves.
    fn drained_s(self, sample: &Sample, contender: Contender, path: &Path) -> f64 {
        let alone = name_alone(contender, path);
        let usual = sample.mean(&alone, |run| run.link.queue_delay_ms.mean);
        let level = DRAINED_MS.max(DRAINED * usual);
        let curves = sample.curves(&self.on(contender, path), QUEUE);
        over_seeds(curves.map(|curve| drained_s(&curve, level)))
    }
}

/// As [`Company::drained_s`], from the curve of queueing delays in ms.
fn drained_s(curve: &[(f64, f64)], level: f64) -> f64 {
    let sent_after_end = |&(at, delay): &(f64, f64)| at - delay / 1e3 >= END_S;
    let left = curve.iter().position(sent_after_end);
    let after = &curve[left.unwrap_or(curve.len())..];
    let low = |from: f64| {
        let second = after.iter().filter(|p| (from..from + 1.0).contains(&p.0));
        let delays: Vec<f64> = second.map(|p| p.1).collect();
        mean(delays.into_iter()) <= level
    };
    let from = after.first().map_or(END_S, |p| p.0);
    let drained = after.iter().map(|p| p.0).find(|&at| low(at));
    drained.unwrap_or(DURATION_S) - from
}

/// The same flow for the same time without company.
fn alone(contender: Contender, path: &Path) -> Case {
    let name = name_alone(contender, path);
    longer(contender, path, name, vec![paths::download()])
}

fn name_alone(contender: Contender, path: &Path) -> String {
    format!("{}, no company", contender.on(path))
}

fn longer(contender: Contender, path: &Path, name: String, workloads: Vec<Workload>) -> Case {
    let scenario = Scenario {
        duration_s: DURATION_S,
        workloads,
        ..contender.case(path).scenario
    };
    Case {
        name,
        scenario,
        curves: vec![RATE, QUEUE, CAME, COULD],
    }
}

/// The mean over the seeds.
fn over_seeds(values: impl Iterator<Item = f64>) -> f64 {
    mean(values.collect::<Vec<_>>().into_iter())
}

/// Megabits between two times of a curve of bits per second; before a flow begins it has no curve.
fn sum(curve: &[(f64, f64)], from_s: f64, to_s: f64) -> f64 {
    let steps = curve.windows(2);
    let steps = steps.filter(|step| (from_s..to_s).contains(&step[0].0));
    steps
        .map(|step| step[0].1 * (step[1].0 - step[0].0))
        .sum::<f64>()
        / 1e6
}

/// Both flows' rates and the queue where CUBIC joins on the first path, and the shares on all.
fn pictures(sample: &Sample, paths: &[Path]) -> Vec<plot::Figure> {
    let path = &paths[0];
    let strip = |title: String, y: &str, scale, curves| plot::Figure {
        title,
        x: Axis::new("time, s", Scale::FromZero).within(0.0, DURATION_S),
        y: Axis::new(y, scale),
        curves,
        size: plot::Figure::STRIP,
    };
    let mut pictures = Vec::new();
    for company in &COMPANIES[..2] {
        let rates = CONTENDERS.map(|(label, contender)| {
            let case = company.on(contender, path);
            let flow = |flow, pen| {
                let curve = sample.flow_curves(&case, flow, RATE).next();
                let mbps = smoothed(&curve.unwrap_or_default());
                Curve::new(flow, pen, Mark::Line, mbps)
            };
            let curves = vec![flow(OTHER, Pen::nth(0)), flow(OURS, Pen::nth(2))];
            let title = format!("{}, {}: {label}", path.name, company.name);
            strip(title, "Mbit/s", Scale::FromZero, curves)
        });
        pictures.extend(rates);
        let queues = CONTENDERS
            .iter()
            .enumerate()
            .map(|(n, &(label, contender))| {
                let delays = sample.curve(&company.on(contender, path), QUEUE);
                Curve::new(label, Pen::nth(n), Mark::Line, delays)
            });
        let title = format!("{}, {}: queueing delay", path.name, company.name);
        pictures.push(strip(title, "ms", Scale::Log, queues.collect()));
        pictures.push(shares(sample, paths, *company));
    }
    pictures
}

/// Mbit/s, second by second.
fn smoothed(curve: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let seconds = (0..DURATION_S as u32).map(f64::from);
    let began = curve.first().map_or(DURATION_S, |p| p.0);
    let ended = curve.last().map_or(0.0, |p| p.0);
    seconds
        .filter(|&second| second + 1.0 > began && second < ended)
        .map(|second| (second + 0.5, sum(curve, second, second + 1.0)))
        .collect()
}

/// A dot a path: the share of the link, over the link's rate.
fn shares(sample: &Sample, paths: &[Path], company: Company) -> plot::Figure {
    let dots = CONTENDERS
        .iter()
        .enumerate()
        .map(|(n, &(label, contender))| {
            let share = |path: &Path| (path.mbps, company.share(sample, contender, path));
            let points = paths.iter().map(share).collect();
            Curve::new(label, Pen::nth(n), Mark::Dots, points)
        });
    plot::Figure {
        title: format!(
            "{}: our share of the link while both are there, every path",
            company.name
        ),
        x: Axis::new("mean rate of the link, Mbit/s", Scale::Log),
        y: Axis::new("%", Scale::FromZero).within(0.0, 105.0),
        curves: dots.collect(),
        size: plot::Figure::WIDE,
    }
}

#[cfg(test)]
mod tests;
