//! Web pages, a video in chunks and a bulk download together.

use super::contenders::{Contender, DRWA, LINUX, Shown, TIDE, TRIO};
use super::links::{self, Link};
use super::paths::{self, Path, WARMUP_S};
use super::trials::Trial;
use crate::means::{geometric_mean, mean};
use crate::workloads::{download, median_page};
use anyhow::Result;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_scenario::{QueuePolicy, RunResult, VideoResult, Workload, WorkloadKind};
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

/// Base RTTs in milliseconds; with `--quick` the first.
const RTTS_MS: [u32; 2] = [50, 150];

/// Stride over the recordings, and with `--quick`.
const STRIDE: usize = 4;
const QUICK_STRIDE: usize = 10;

/// A link that never changes, in Mbit/s.
const STEADY_MBPS: f64 = 10.0;

/// Slower links cannot carry such pages or videos under any contender, so figures over them would show nothing.
const LEAST_MBPS: f64 = 1.0;

/// Long enough for several pages in the worst of cases.
const DURATION_S: f64 = 300.0;

/// When the video begins, and when the first page is requested, in seconds: each while the earlier traffic is under
/// way.
const VIDEO_S: f64 = 5.0;
const PAGES_S: f64 = 15.0;

/// From the end of a page to the next, in seconds.
const PAUSE_S: f64 = 5.0;

/// Rates of videos in Mbit/s: the ladder that Netflix used for every title until 2015 ("Per-Title
/// Encode Optimization").
const LADDER: [f64; 10] = [0.235, 0.375, 0.56, 0.75, 1.05, 1.75, 2.35, 3.0, 4.3, 5.8];

/// Share of a link's mean rate that a video may take.
const VIDEO: f64 = 1.0 / 3.0;

/// FQ-CoDel in the bottleneck, and nothing at the hosts.
const NETWORK: Contender = Contender::network(QueuePolicy::FqCodel);

const CONTENDERS: [Shown; 4] = [
    TRIO[0],
    TRIO[1],
    TRIO[2],
    ("FQ-CoDel in the bottleneck", NETWORK, 3),
];

const QUEUE: &str = "queue_delay_ms";

/// Why less arrives in total.
const KEPT_FREE: &str = "a connection that has just begun has its part of the window kept free while its congestion window grows \
                         into it, and many of a page's end before";

const PACED_OUT: &str = "FQ-CoDel drops what stands in the download's queue, which then leaves the link to the pages, and carries \
     less itself";

const SHARED: &str =
    "pages and video have what they ask for, many times what they had with untouched Linux";

/// The figure.
///
/// # Errors
/// When a recording cannot be read.
pub fn figure(extent: &Extent) -> Result<Figure> {
    let trials: Arc<[Trial]> = trials(extent)?.into();
    let case = |trial: &Trial| CONTENDERS.map(|(_, contender, _)| trial.case(contender));
    Ok(Figure {
        id: "mixed",
        title: "Pages, a video and a download together",
        claim: "Beside a download pages come in half the time that untouched Linux takes, the video stalls no more, \
                and no throughput is lost.",
        method: "Five minutes over links of at least 1 Mbit/s. A page is the median home page of the HTTP Archive (Web \
                 Almanac 2024): 55 objects, 1.9 MB, over six connections; 5 s after it the next one. Its mean \
                 time is that of loading divided by the number of pages that came. The video is the highest rung of \
                 Netflix's fixed ladder that takes at most a third of the link's mean rate, in chunks of 4 s, of \
                 which the player keeps 30 s.",
        cases: trials.iter().flat_map(case).collect(),
        quantities: quantities(&trials),
        draw: Box::new(move |sample| pictures(sample, &trials)),
    })
}

fn trials(extent: &Extent) -> Result<Vec<Trial>> {
    let (stride, rtts) = match extent.quick {
        true => (QUICK_STRIDE, &RTTS_MS[..1]),
        false => (STRIDE, &RTTS_MS[..]),
    };
    let steady = [Link::constant(STEADY_MBPS)].into_iter();
    let paths = paths::over(steady.chain(links::all(extent, stride)?), rtts)?;
    let fast = paths.iter().filter(|path| path.mean_mbps >= LEAST_MBPS);
    Ok(fast.map(trial).collect())
}

fn trial(path: &Path) -> Trial {
    let video = Workload {
        start_s: VIDEO_S,
        ..Workload::new("video", video(path))
    };
    let pages = Workload {
        start_s: PAGES_S,
        ..Workload::new("page", median_page(PAUSE_S))
    };
    Trial::new("mixed", path, DURATION_S, vec![download(), video, pages])
        .warmed_up(WARMUP_S)
        .curves(&[QUEUE])
}

fn quantities(trials: &Arc<[Trial]>) -> Vec<Quantity> {
    let quantity = |name: &str, unit, claim, read: fn(&Sample, &[Trial]) -> f64| {
        let trials = trials.clone();
        Quantity::new(name, unit, claim, move |sample| read(sample, &trials))
    };
    let count = trials.len() as f64;
    vec![
        quantity(
            "page load ÷ untouched Linux's, geometric mean of means",
            "",
            Claim::at_most(0.5, 1.0),
            |s, trials| ratio(s, trials, TIDE, LINUX, page_s),
        ),
        quantity(
            "page load ÷ untouched Linux's, geometric mean of 95th percentiles",
            "",
            Claim::at_most(0.5, 1.0),
            |s, trials| ratio(s, trials, TIDE, LINUX, page_p95_s),
        ),
        quantity(
            &format!("of {count} paths, on how many pages take longer than Linux's"),
            "paths",
            Claim::at_most(0.0, count),
            |s, trials| {
                let slower = |trial: &&Trial| page_s(s, trial, TIDE) > page_s(s, trial, LINUX);
                trials.iter().filter(slower).count() as f64
            },
        ),
        quantity(
            "page load ÷ DRWA's, geometric mean of means",
            "",
            Claim::at_most(1.0, 2.0),
            |s, trials| ratio(s, trials, TIDE, DRWA, page_s),
        ),
        quantity(
            "page load ÷ that with FQ-CoDel in the bottleneck",
            "",
            Claim::at_most(1.0, 2.0),
            |s, trials| ratio(s, trials, TIDE, NETWORK, page_s),
        )
        .because(PACED_OUT),
        quantity(
            "seconds that the video stalls, mean: tide less Linux",
            "s",
            Claim::at_most(0.0, 10.0),
            |s, trials| excess(s, trials, stalled_s),
        ),
        quantity(
            "stalls, mean: tide less Linux",
            "",
            Claim::at_most(0.0, 1.0),
            |s, trials| excess(s, trials, |run| video_of(run).stalls as f64),
        ),
        quantity(
            "seconds until the video starts, mean: tide less Linux",
            "s",
            Claim::at_most(0.0, 1.0),
            |s, trials| {
                excess(s, trials, |run| {
                    video_of(run).startup_s.unwrap_or(DURATION_S)
                })
            },
        ),
        quantity(
            "all that came ÷ what came with untouched Linux, geometric mean",
            "",
            Claim::at_least(0.97, 0.0),
            |s, trials| ratio(s, trials, TIDE, LINUX, delivered),
        )
        .because(KEPT_FREE),
        quantity(
            "the download alone ÷ untouched Linux's, geometric mean",
            "",
            Claim::at_least(0.8, 0.0),
            |s, trials| ratio(s, trials, TIDE, LINUX, downloaded),
        )
        .because(SHARED),
    ]
}

fn video(path: &Path) -> WorkloadKind {
    let rungs = LADDER.into_iter().rev();
    let mut fitting = rungs.filter(|rung| *rung <= path.mean_mbps * VIDEO);
    WorkloadKind::Video {
        mbps: fitting.next().unwrap_or(LADDER[0]),
        chunk_s: 4.0,
        buffer_s: 30.0,
        startup_s: 4.0,
    }
}

/// Seconds of loading for each page that came, including the time of the last one.
fn page_s(sample: &Sample, trial: &Trial, contender: Contender) -> f64 {
    sample.mean(&trial.by(contender), |run| {
        let came = run.fetches.iter().find(|fetch| fetch.name == "page");
        let count = came.map_or(0.0, |came| came.count as f64);
        (DURATION_S - PAGES_S - count * PAUSE_S) / count.max(1.0)
    })
}

/// 95th percentile of the time of a page in seconds; the whole time if no page came.
fn page_p95_s(sample: &Sample, trial: &Trial, contender: Contender) -> f64 {
    sample.mean(&trial.by(contender), |run| {
        let came = run.fetches.iter().find(|fetch| fetch.name == "page");
        came.map_or(DURATION_S - PAGES_S, |came| came.time_ms.p95 / 1e3)
    })
}

fn video_of(run: &RunResult) -> VideoResult {
    run.videos.first().cloned().unwrap_or_default()
}

fn stalled_s(run: &RunResult) -> f64 {
    video_of(run).stalled_s
}

fn delivered(sample: &Sample, trial: &Trial, contender: Contender) -> f64 {
    sample.mean(&trial.by(contender), |run| run.link.delivered_bps)
}

fn downloaded(sample: &Sample, trial: &Trial, contender: Contender) -> f64 {
    sample.mean(&trial.by(contender), |run| {
        let download = run.flows.iter().find(|flow| flow.name == "download");
        download.map_or(0.0, |flow| flow.goodput_bps)
    })
}

/// The geometric mean over the paths of one contender's number divided by another's.
fn ratio(
    sample: &Sample,
    trials: &[Trial],
    of: Contender,
    to: Contender,
    read: fn(&Sample, &Trial, Contender) -> f64,
) -> f64 {
    let ratio = |trial| read(sample, trial, of) / read(sample, trial, to);
    geometric_mean(trials.iter().map(ratio))
}

/// The mean over the paths of tide's number minus Linux's.
fn excess(sample: &Sample, trials: &[Trial], read: fn(&RunResult) -> f64) -> f64 {
    mean(trials.iter().map(|trial| {
        let [tide, linux] = [TIDE, LINUX].map(|c| sample.mean(&trial.by(c), read));
        tide - linux
    }))
}

/// Page loads and stalls of every path over its link's rate, and the queue of the first.
fn pictures(sample: &Sample, trials: &[Trial]) -> Vec<plot::Figure> {
    let dots = |title: &str, read: &dyn Fn(&Trial, Contender) -> f64| {
        let curves = CONTENDERS.map(|(label, contender, nth)| {
            let point = |trial: &Trial| (trial.path.mean_mbps, read(trial, contender));
            let points = trials.iter().map(point).collect();
            Curve::new(label, Pen::nth(nth), Mark::Dots, points)
        });
        plot::Figure {
            title: title.into(),
            x: Axis::new("mean rate of the link, Mbit/s", Scale::Log),
            y: Axis::new("s", Scale::Log),
            curves: curves.into(),
            size: plot::Figure::WIDE,
        }
    };
    let first = &trials[0];
    let queues = CONTENDERS.map(|(label, contender, nth)| {
        let delays = sample.curve(&first.by(contender), QUEUE);
        Curve::new(label, Pen::nth(nth), Mark::Line, delays)
    });
    vec![
        dots("Mean time of a page, every path", &|trial, contender| {
            page_s(sample, trial, contender)
        }),
        dots("Video stalled, every path", &|trial, contender| {
            sample.mean(&trial.by(contender), stalled_s)
        }),
        plot::Figure {
            title: format!("{}: queueing delay", first.path.name),
            x: Axis::new("time, s", Scale::FromZero).within(0.0, 60.0),
            y: Axis::new("ms", Scale::Log),
            curves: queues.into(),
            size: plot::Figure::STRIP,
        },
    ]
}
