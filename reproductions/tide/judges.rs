//! Judges for tide's constants: each judge shows the effect of some of them.

use super::aftermath::Aftermath;
use super::change::{self, Change};
use super::contenders::{Contender, TIDE};
use super::links::{self, Link};
use super::mixes::{self, Mix};
use super::paths::{self, Path, WARMUP_S};
use super::score::Score;
use super::trials::Trial;
use super::{fairness, windowless};
use crate::judge::{Judge, Measure, Set};
use crate::means::{geometric_mean, least, mean};
use crate::workloads::{bulk, download, median_page, upload};
use anyhow::Result;
use std::path::Path as FilePath;
use std::sync::Arc;
use tidegate_report::jain;
use tidegate_scenario::{
    CellKind, Direction, Fair, Hop, LinkResult, LinkSpec, RateSpec, RunResult, Side, Udp, Workload,
};
use tidegate_study::{Case, Sample};

/// Stride over the recordings, which starts at the first or at the second.
const STRIDE: usize = 6;

/// Seconds of a download over one path.
const DURATION_S: f64 = 60.0;

/// Packets that an uplink's buffer holds.
const PACKETS: usize = 1000;

/// Lower bound for delays.
const FLOOR_MS: f64 = 0.5;

/// All of them.
///
/// # Errors
/// When a recording in the folder of `traces` cannot be read.
pub fn all(set: Set, traces: Option<&FilePath>) -> Result<Vec<Judge>> {
    Ok(vec![
        links(set, traces)?,
        changes()?,
        sharing(set)?,
        hold(set)?,
        uploads(set)?,
        stampless(set)?,
        crowd(set)?,
        devices(set)?,
        company(set)?,
    ])
}

/// Constant links and the shipped cells.
fn over(set: Set, constant: &[f64], kinds: &[CellKind]) -> Result<Vec<Path>> {
    let seed = set.pick(1, 2);
    let constant = constant.iter().map(|&mbps| Link::constant(mbps));
    let cells = kinds.iter().map(|&kind| Link::cell(kind, seed, None));
    paths::over(constant.chain(cells), &set.pick([50, 200], [20, 100]))
}

/// One download over a link, from CUBIC and from BBR.
fn links(set: Set, traces: Option<&FilePath>) -> Result<Judge> {
    const KINDS: [CellKind; 3] = [CellKind::Lte, CellKind::Hspa, CellKind::Evdo];
    let mut paths = over(set, &set.pick([5.0, 50.0], [2.0, 20.0]), &KINDS)?;
    if let Some(folder) = traces {
        let recorded = links::recordings(folder)?;
        let recorded = recorded.into_iter().skip(set.pick(0, 1)).step_by(STRIDE);
        paths.extend(paths::over(recorded, &set.pick([50], [100]))?);
    }
    let senders = ["cubic", "bbr"].map(Contender::tide);
    let cases = paths
        .iter()
        .flat_map(|path| senders.map(|by| by.case(path)));
    let cases: Vec<Case> = cases.collect();
    let paths: Arc<[Path]> = paths.into();
    let [cubic, bbr] = senders.map(|by| {
        let paths = paths.clone();
        move |sample: &Sample| Score::over(sample, by, &paths)
    });
    let [one, two] = [cubic.clone(), cubic.clone()];
    let other = bbr.clone();
    Ok(Judge {
        id: "links",
        cases,
        measures: vec![
            Measure::more("CUBIC: utilisation, %", move |s| one(s).utilisation),
            Measure::less("mean queueing delay, ms", move |s| two(s).mean_ms),
            Measure::less("its p95, ms", move |s| cubic(s).p95_ms),
            Measure::more("BBR: utilisation, %", move |s| other(s).utilisation),
            Measure::less("mean queueing delay, ms", move |s| bbr(s).mean_ms),
        ],
    })
}

/// Route changes, handovers and rate steps.
fn changes() -> Result<Judge> {
    let changes: Arc<[Change]> = change::all()?.into();
    let cases = changes.iter().flat_map(|change| change.cases(TIDE));
    let cases = cases.collect();
    let each = |read: fn(&Aftermath) -> f64| {
        let changes = changes.clone();
        move |s: &Sample| mean(changes.iter().map(|c| read(&Aftermath::of(s, TIDE, c))))
    };
    Ok(Judge {
        id: "changes",
        cases,
        measures: vec![
            Measure::less("until 90 % is back, s", each(|a| a.back_s)),
            Measure::less("until the queue is drained, s", each(|a| a.drained_s)),
            Measure::less("lost of the link, s", each(|a| a.lost_s)),
        ],
    })
}

/// Several downloads in one queue, and flows that do not share a queue.
fn sharing(set: Set) -> Result<Judge> {
    let crowds: Arc<[fairness::Crowd]> = fairness::few()?.into();
    let mixes: Arc<[Mix]> = mixes::few(set.pick(1..=2, 101..=102))?.into();
    let cases = crowds.iter().map(|crowd| crowd.case(TIDE));
    let cases = cases.chain(
        mixes
            .iter()
            .map(|mix| mix.case(Contender::tide(mix.sender))),
    );
    let cases = cases.collect();
    let [even, worst, waits] = [(); 3].map(|()| crowds.clone());
    let [rates, queues] = [(); 2].map(|()| mixes.clone());
    let run = |s: &Sample, name: &str, read: fn(&RunResult) -> f64| s.mean(name, read);
    let name = |mix: &Mix| mix.by(Contender::tide(mix.sender));
    Ok(Judge {
        id: "sharing",
        cases,
        measures: vec![
            Measure::more("2 and 4 flows: Jain's index", move |s| {
                mean(even.iter().map(|crowd| crowd.jain(s, TIDE)))
            }),
            Measure::more("the worst", move |s| {
                least(worst.iter().map(|crowd| crowd.jain(s, TIDE)))
            }),
            Measure::less("mean queueing delay, ms", move |s| {
                fairness::score(s, &waits, TIDE).mean_ms
            }),
            Measure::more("mixes: a flow's goodput, Mbit/s", move |s| {
                let all = rates.iter().map(|mix| run(s, &name(mix), typical_mbps));
                geometric_mean(all)
            }),
            Measure::less("mean queueing delay, ms", move |s| {
                let all = queues.iter().map(|mix| run(s, &name(mix), access_ms));
                geometric_mean(all)
            }),
        ],
    })
}

/// The geometric mean of the flows' goodputs: a starved flow weighs.
fn typical_mbps(run: &RunResult) -> f64 {
    let rates = run.flows.iter().map(|f| (f.goodput_bps / 1e6).max(1e-3));
    geometric_mean(rates)
}

/// Mean queueing delay at the access link, of the direction in which it is longer.
fn access_ms(run: &RunResult) -> f64 {
    delay_ms(&run.link).max(delay_ms(&run.uplink))
}

fn delay_ms(link: &LinkResult) -> f64 {
    link.queue_delay_ms.mean.max(FLOOR_MS)
}

/// Downloads without a window, held.
fn hold(set: Set) -> Result<Judge> {
    let paths = over(set, &[20.0], &[CellKind::Lte, CellKind::Hspa])?;
    let trial = |path| {
        Trial::new(
            "without a window",
            path,
            DURATION_S,
            vec![windowless::windowless()],
        )
        .warmed_up(WARMUP_S)
    };
    let trials: Arc<[Trial]> = paths.iter().map(trial).collect();
    let senders = ["cubic", "bbr"].map(|sender| Contender::tide(sender).windowless(Udp::Hold));
    let cases = trials
        .iter()
        .flat_map(|trial| senders.map(|by| trial.case(by)));
    let cases = cases.collect();
    let [cubic, bbr] = senders;
    let score = |by: Contender, read: fn(&Score) -> f64| {
        let trials = trials.clone();
        move |s: &Sample| {
            let scores = trials.iter().map(|trial| Score::read(s, &trial.by(by)));
            read(&Score::together(scores))
        }
    };
    let owned = trials.clone();
    Ok(Judge {
        id: "hold",
        cases,
        measures: vec![
            Measure::more("CUBIC: utilisation, %", score(cubic, |s| s.utilisation)),
            Measure::less("mean queueing delay, ms", score(cubic, |s| s.mean_ms)),
            Measure::less("its own round trip, p95, ms", move |s| {
                let own = |run: &RunResult| {
                    run.flows
                        .first()
                        .map_or(FLOOR_MS, |f| f.rtt_ms.p95.max(FLOOR_MS))
                };
                geometric_mean(owned.iter().map(|trial| s.mean(&trial.by(cubic), own)))
            }),
            Measure::more("BBR: utilisation, %", score(bbr, |s| s.utilisation)),
            Measure::less("mean queueing delay, ms", score(bbr, |s| s.mean_ms)),
        ],
    })
}

/// Uploads with and without a window, alone and beside a download.
fn uploads(set: Set) -> Result<Judge> {
    let uplinks = set.pick([2.0, 20.0], [1.0, 5.0]).map(Link::constant);
    let cell = Link::cell(CellKind::Lte, set.pick(1, 2), None);
    let path = Path::over(&Link::constant(50.0), set.pick(50, 100))?;
    let upload = |windowless| Workload {
        windowless,
        ..bulk("upload", Direction::Up, None, 1)
    };
    let with = |subject, windowless, beside: Option<Workload>| {
        let workloads = [upload(windowless)].into_iter().chain(beside);
        Trial::new(subject, &path, DURATION_S, workloads.collect()).warmed_up(2.0 * WARMUP_S)
    };
    let shapes = [
        with("an upload", false, None),
        with("an upload beside a download", false, Some(download())),
        with("an upload without a window", true, None),
        with(
            "an upload without a window beside a download",
            true,
            Some(download()),
        ),
    ];
    let mut trials = Vec::new();
    for link in uplinks.iter().chain([&cell]) {
        for (nth, shape) in shapes.iter().enumerate() {
            let about = format!("{}, {}", shape.name(), link.name);
            trials.push((nth >= 2, shape.clone().through(link, PACKETS).about(about)));
        }
    }
    let by = windowless::HOLD;
    let cases = trials.iter().map(|(_, trial)| trial.case(by)).collect();
    let trials: Arc<[(bool, Trial)]> = trials.into();
    let read = |windowless: bool, read: fn(&RunResult) -> f64| {
        let trials = trials.clone();
        move |s: &Sample| {
            let some = trials.iter().filter(|(without, _)| *without == windowless);
            geometric_mean(some.map(|(_, trial)| s.mean(&trial.by(by), read)))
        }
    };
    let uplink: fn(&RunResult) -> f64 = |run| delay_ms(&run.uplink);
    Ok(Judge {
        id: "uploads",
        cases,
        measures: vec![
            Measure::more(
                "with a window: a flow's goodput, Mbit/s",
                read(false, typical_mbps),
            ),
            Measure::less("uplink's mean queueing delay, ms", read(false, uplink)),
            Measure::more(
                "without: a flow's goodput, Mbit/s",
                read(true, typical_mbps),
            ),
            Measure::less("uplink's mean queueing delay, ms", read(true, uplink)),
        ],
    })
}

/// Downloads without timestamps: alone, two, and beside another machine's upload.
fn stampless(set: Set) -> Result<Judge> {
    let paths = over(set, &[10.0], &[CellKind::Lte])?;
    let flow = |name: &str, start_s: f64| Workload {
        timestamps: Some(false),
        start_s,
        ..bulk(name, Direction::Down, None, 1)
    };
    let upload = Workload {
        start_s: 3.0,
        ..bulk("upload", Direction::Up, None, 1)
    };
    let shapes = [
        ("alone, without timestamps", vec![flow("one", 0.0)]),
        (
            "two without timestamps",
            vec![flow("one", 0.0), flow("two", 5.0)],
        ),
        (
            "beside another's upload, without timestamps",
            vec![flow("one", 0.0), upload],
        ),
    ];
    let trial = |path: &Path| {
        let path = path.clone();
        shapes.clone().map(|(subject, workloads)| {
            Trial::new(subject, &path, DURATION_S, workloads)
                .warmed_up(2.0 * WARMUP_S)
                .uplink(5.0, 2.0)
        })
    };
    let trials: Arc<[Trial]> = paths.iter().flat_map(trial).collect();
    let by = TIDE.downloads_only();
    let cases = trials.iter().map(|trial| trial.case(by)).collect();
    let read = |read: fn(&RunResult) -> f64| {
        let trials = trials.clone();
        move |s: &Sample| geometric_mean(trials.iter().map(|t| s.mean(&t.by(by), read)))
    };
    Ok(Judge {
        id: "stampless",
        cases,
        measures: vec![
            Measure::more(
                "a download's goodput, Mbit/s",
                read(|run| {
                    let first = run.flows.first();
                    first.map_or(1e-3, |flow| (flow.goodput_bps / 1e6).max(1e-3))
                }),
            ),
            Measure::less("mean queueing delay, ms", read(|run| delay_ms(&run.link))),
        ],
    })
}

/// Twelve downloads that begin a second apart, and all at once.
fn crowd(set: Set) -> Result<Judge> {
    let paths = over(set, &[20.0], &[CellKind::Lte])?;
    let flows = |apart_s: f64| {
        let flow = |n: u32| Workload {
            start_s: f64::from(n) * apart_s,
            ..bulk(&format!("download {}", n + 1), Direction::Down, None, 1)
        };
        (0..12).map(flow).collect::<Vec<_>>()
    };
    let trial = |path: &Path| {
        [("a second apart", 1.0), ("at once", 0.0)].map(|(about, apart_s)| {
            Trial::new(about, path, DURATION_S, flows(apart_s)).warmed_up(2.0 * WARMUP_S + 12.0)
        })
    };
    let trials: Arc<[Trial]> = paths.iter().flat_map(trial).collect();
    let cases = trials.iter().map(|trial| trial.case(TIDE)).collect();
    let even = trials.clone();
    Ok(Judge {
        id: "crowd",
        cases,
        measures: vec![
            Measure::more("12 flows: Jain's index", move |s| {
                mean(even.iter().map(|trial| {
                    s.mean(&trial.by(TIDE), |run| {
                        let rates: Vec<f64> = run.flows.iter().map(|f| f.goodput_bps).collect();
                        jain(&rates).unwrap_or(0.0)
                    })
                }))
            }),
            Measure::less(
                "mean queueing delay, ms",
                typical(&trials, |run| delay_ms(&run.link)),
            ),
        ],
    })
}

/// Three devices at different distances, with one download, four and sixteen; shares are by device.
fn devices(set: Set) -> Result<Judge> {
    const DEVICES: [(&str, u64, f64); 3] =
        [("near", 16, 0.0), ("farther", 4, 60.0), ("far", 1, 150.0)];
    let paths = over(set, &[40.0], &[CellKind::Lte])?;
    let hop = |&(name, _, delay_ms): &(&str, u64, f64)| Hop {
        name: name.to_owned(),
        direction: Direction::Down,
        side: Side::Server,
        link: LinkSpec::new(RateSpec::ConstantMbps(1000.0), delay_ms),
    };
    let downloads = |&(name, flows, _): &(&str, u64, f64)| Workload {
        device: Some(name.to_owned()),
        links: Some(["down", "up", name].map(String::from).into()),
        ..bulk(&format!("{name} device"), Direction::Down, None, flows)
    };
    let trial = |path: &Path| {
        Trial::new(
            "by device",
            path,
            DURATION_S,
            DEVICES.iter().map(downloads).collect(),
        )
        .hops(DEVICES.iter().map(hop).collect())
        .warmed_up(3.0 * WARMUP_S)
    };
    let trials: Arc<[Trial]> = paths.iter().map(trial).collect();
    let by_device = |trial: &Trial| {
        let mut case = trial.case(TIDE);
        case.scenario.runs[0].fair = Fair::Device;
        case
    };
    let cases = trials.iter().map(by_device).collect();
    let even = trials.clone();
    let shares = |run: &RunResult| {
        let of = |(name, ..): &(&str, u64, f64)| {
            let flows = run
                .flows
                .iter()
                .filter(|f| f.name.starts_with(&format!("{name} device")));
            flows.map(|f| f.goodput_bps).sum::<f64>()
        };
        jain(&DEVICES.each_ref().map(of)).unwrap_or(0.0)
    };
    Ok(Judge {
        id: "devices",
        cases,
        measures: vec![
            Measure::more("3 devices: Jain's index", move |s| {
                mean(even.iter().map(|trial| s.mean(&trial.by(TIDE), shares)))
            }),
            Measure::less(
                "mean queueing delay, ms",
                typical(&trials, |run| delay_ms(&run.link)),
            ),
        ],
    })
}

/// A download beside another machine's download and upload, which come and go, and beside an upload of ours; pages alone.
fn company(set: Set) -> Result<Judge> {
    const BEGIN_S: f64 = 15.0;
    const END_S: f64 = 40.0;
    let paths = over(set, &[10.0], &[CellKind::Lte])?;
    let another = |what| Workload {
        steered: false,
        ..what
    };
    let leaves = Workload {
        start_s: BEGIN_S,
        stop_s: Some(END_S),
        ..Workload::new("another's", download().does)
    };
    let ours = upload(BEGIN_S, END_S);
    let beside = [
        ("another's download", another(leaves)),
        ("another's upload", another(ours.clone())),
        ("our upload", ours),
    ];
    let trial = |subject: &str, path: &Path, workloads| {
        Trial::new(subject, path, DURATION_S, workloads)
            .warmed_up(WARMUP_S)
            .uplink(2.0, 1.0)
    };
    let downloads = paths.iter().flat_map(|path| {
        let of = |(subject, other): &(&str, Workload)| {
            trial(subject, path, vec![download(), other.clone()])
        };
        beside.iter().map(of).collect::<Vec<_>>()
    });
    let downloads: Arc<[Trial]> = downloads.collect();
    let page = || vec![Workload::new("page", median_page(1.0))];
    let pages: Arc<[Trial]> = paths.iter().map(|p| trial("pages", p, page())).collect();
    let all = downloads.iter().chain(pages.iter());
    let cases = all.map(|trial| trial.case(TIDE)).collect();
    Ok(Judge {
        id: "company",
        cases,
        measures: vec![
            Measure::more(
                "a download's goodput, Mbit/s",
                typical(&downloads, |run| {
                    let ours = run.flows.iter().find(|f| f.name == download().name);
                    ours.map_or(0.0, |f| f.goodput_bps / 1e6).max(1e-3)
                }),
            ),
            Measure::less(
                "mean queueing delay, ms",
                typical(&downloads, |run| delay_ms(&run.link)),
            ),
            Measure::less(
                "a page's time, ms",
                typical(&pages, |run| run.fetches[0].time_ms.mean),
            ),
        ],
    })
}

/// The geometric mean over trials of tide.
fn typical(trials: &Arc<[Trial]>, read: fn(&RunResult) -> f64) -> impl Fn(&Sample) -> f64 + use<> {
    let trials = trials.clone();
    move |s| geometric_mean(trials.iter().map(|t| s.mean(&t.by(TIDE), read)))
}
