//! An upload beside a download: the downlink's queue when the upload ends.

use super::contenders::{Contender, DRWA, LINUX, TIDE, TRIO};
use super::links::Link;
use super::paths::{self, Path};
use super::trials::Trial;
use crate::means::{geometric_mean, least, mean, most};
use crate::spans::Span;
use crate::workloads::{download, upload};
use anyhow::Result;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_scenario::CellKind;
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

/// When the upload begins and ends, and when the run ends, in seconds.
const BEGIN_S: f64 = 10.0;
const END_S: f64 = 25.0;
const DURATION_S: f64 = 35.0;

/// Seconds that the upload needs to fill its buffer: slow start ends early, and CUBIC takes its time.
const FILLED_S: f64 = 8.0;

/// While the upload is under way; while its queue drains, and promised windows are kept; and right after its end.
const DURING: Span = Span(BEGIN_S + FILLED_S, END_S);
const AFTER: Span = Span(END_S, END_S + 8.0);
const RIGHT_AFTER: Span = Span(END_S, END_S + 2.0);

/// The uplink's buffers, in seconds of its rate.
const BUFFERS_S: [f64; 2] = [1.0, 3.0];

/// Mbit/s down and up; the cells have the last uplink.
const RATES: [(f64, f64); 2] = [(10.0, 1.0), (20.0, 2.0)];
const CELL_UPLINK_MBPS: f64 = 2.0;

const RTTS_MS: [u32; 2] = [50, 100];
const QUICK_RTTS_MS: [u32; 1] = [50];

/// tide beside another machine's upload.
const ANOTHERS: Contender = TIDE.downloads_only();

const CURVES: [&str; 5] = [
    "queue_delay_ms",
    "queue_delay_max_ms",
    "up_queue_delay_ms",
    "delivered_bps",
    "capacity_bps",
];

/// A download with an upload beside it, and the same download alone.
struct Pair {
    beside: Trial,
    alone: Trial,
    buffer_s: f64,
}

/// Why promised bytes still arrive.
const PROMISED: &str = "what is acknowledged while the uplink's queue stands reaches the server seconds later, and its echo is the \
                        first to tell that the queue is gone; by then the window for those seconds has been promised, and a \
                        right edge may not be taken back";

/// Why there is any queue while both directions are full.
const TURNS: &str = "where both directions are full, data and acknowledgements take turns in both queues, in clusters of a window \
                     (Zhang, Shenker and Clark, 1991): each lag is longer by the other's queue, and what was promised for it \
                     stands for a moment when that ends";

/// Why the download keeps less beside an upload than without one.
const BURSTS: &str = "the lag grows faster than it can be measured, a round trip late; the window is too small for it meanwhile, \
                      and from then on comes once a round trip, as a burst with a queue and a pause behind it";

/// The figure.
///
/// # Errors
/// When a link cannot be read.
pub fn figure(extent: &Extent) -> Result<Figure> {
    let pairs: Arc<[Pair]> = pairs(extent)?.into();
    let beside = pairs
        .iter()
        .flat_map(|pair| [LINUX, DRWA, ANOTHERS, TIDE].map(|c| pair.beside.case(c)));
    let alone = pairs.iter().map(|pair| pair.alone.case(TIDE));
    let cases = beside.chain(alone);
    Ok(Figure {
        id: "uploads",
        title: "An upload beside a download",
        claim: "An upload fills its own buffer, and the download's ACKs wait there. When it ends, what was promised to \
                keep the download going comes at once: it must not stand in the downlink's queue, and the download \
                must not stall.",
        method: "A download over 10 Mbit/s (uplink 1), 20 Mbit/s (2) and an LTE cell (2); a CUBIC upload from 10 s to 25 s \
                 through an uplink buffer that takes 1 or 3 s to drain. \"During\" is from 18 s on, \"after\" the 8 s that \
                 follow. The burst is by how much the longest wait in the downlink in these 8 s exceeds the longest one of the \
                 same download without an upload.",
        cases: cases.collect(),
        quantities: quantities(&pairs),
        draw: Box::new(move |sample| pairs.iter().map(|pair| picture(sample, pair)).collect()),
    })
}

fn pairs(extent: &Extent) -> Result<Vec<Pair>> {
    let rtts: &[u32] = match extent.quick {
        true => &QUICK_RTTS_MS,
        false => &RTTS_MS,
    };
    let mut links: Vec<(Path, f64)> = Vec::new();
    for (down, up) in RATES {
        let paths = paths::over([Link::constant(down)], rtts)?;
        links.extend(paths.into_iter().map(|path| (path, up)));
    }
    let lte = Link::cell(CellKind::Lte, 1, None);
    let cells = paths::over([lte], rtts)?;
    links.extend(cells.into_iter().map(|path| (path, CELL_UPLINK_MBPS)));
    let buffers = BUFFERS_S.into_iter();
    Ok(buffers
        .flat_map(|buffer_s| {
            links
                .iter()
                .map(move |(path, up)| Pair::new(path, *up, buffer_s))
        })
        .collect())
}

impl Pair {
    fn new(path: &Path, uplink_mbps: f64, buffer_s: f64) -> Self {
        let trial = |subject: &str, workloads| {
            Trial::new(subject, path, DURATION_S, workloads)
                .uplink(uplink_mbps, buffer_s)
                .curves(&CURVES)
        };
        let subject = format!("upload through {buffer_s} s");
        Self {
            beside: trial(&subject, vec![download(), upload(BEGIN_S, END_S)]),
            alone: trial(&format!("no {subject}"), vec![download()]),
            buffer_s,
        }
    }

    /// The longest wait in the downlink after the upload, in milliseconds.
    fn peak(&self, sample: &Sample, contender: Contender) -> f64 {
        longest_wait(sample, &self.beside, contender)
    }

    /// By how many milliseconds that exceeds the wait without an upload.
    fn burst(&self, sample: &Sample, contender: Contender) -> f64 {
        self.peak(sample, contender) - longest_wait(sample, &self.alone, TIDE)
    }

    /// Share of the downlink in percent.
    fn utilisation(&self, sample: &Sample, contender: Contender, span: Span) -> f64 {
        span.utilisation(sample, &self.beside.by(contender))
    }

    /// The uplink's queue when the upload ends, as a share of its buffer in percent.
    fn filled(&self, sample: &Sample, contender: Contender) -> f64 {
        let before = Span(END_S - 1.0, END_S);
        let ms = before.peak(sample, &self.beside.by(contender), "up_queue_delay_ms");
        ms / self.buffer_s / 10.0
    }

    fn p95(&self, sample: &Sample, contender: Contender) -> f64 {
        DURING.p95(sample, &self.beside.by(contender), "queue_delay_ms")
    }
}

fn quantities(pairs: &Arc<[Pair]>) -> Vec<Quantity> {
    let quantity = |name: &str, unit, claim, read: fn(&[Pair], &Sample) -> f64| {
        let pairs = pairs.clone();
        Quantity::new(name, unit, claim, move |sample| read(&pairs, sample))
    };
    vec![
        quantity(
            "an upload that nobody steers: how full the uplink's buffer gets",
            "%",
            Claim::at_least(30.0, 0.0),
            |pairs, s| least(pairs.iter().map(|p| p.filled(s, ANOTHERS))),
        ),
        quantity(
            "our own upload, which tide steers: how full the uplink's buffer gets",
            "%",
            Claim::at_most(30.0, 100.0),
            |pairs, s| most(pairs.iter().map(|p| p.filled(s, TIDE))),
        ),
        quantity(
            "another machine's upload: burst when it ends, mean",
            "ms",
            Claim::at_most(50.0, 1000.0),
            |pairs, s| mean(pairs.iter().map(|p| p.burst(s, ANOTHERS))),
        )
        .because(PROMISED),
        quantity(
            "another machine's upload: utilisation during it, tide less untouched Linux",
            "points",
            Claim::at_least(-3.5, -100.0),
            |pairs, s| mean(pairs.iter().map(|p| gain(p, s, ANOTHERS, LINUX))),
        )
        .because(BURSTS),
        quantity(
            "our own upload: burst when it ends, mean",
            "ms",
            Claim::at_most(50.0, 1000.0),
            |pairs, s| mean(pairs.iter().map(|p| p.burst(s, TIDE))),
        )
        .because(TURNS),
        quantity(
            "our own upload: burst when it ends, worst case",
            "ms",
            Claim::at_most(50.0, 1000.0),
            |pairs, s| most(pairs.iter().map(|p| p.burst(s, TIDE))),
        )
        .because(TURNS),
        quantity(
            "our own upload: longest wait in the downlink after it ÷ untouched Linux's",
            "",
            Claim::at_most(0.25, 1.0),
            |pairs, s| geometric_mean(pairs.iter().map(|p| p.peak(s, TIDE) / p.peak(s, LINUX))),
        )
        .because(TURNS),
        quantity(
            "our own upload: utilisation in the 2 s after it, mean",
            "%",
            Claim::at_least(95.0, 0.0),
            |pairs, s| mean(pairs.iter().map(|p| p.utilisation(s, TIDE, RIGHT_AFTER))),
        )
        .because(TURNS),
        quantity(
            "our own upload: utilisation in the 2 s after it, worst case",
            "%",
            Claim::at_least(80.0, 0.0),
            |pairs, s| least(pairs.iter().map(|p| p.utilisation(s, TIDE, RIGHT_AFTER))),
        )
        .because(TURNS),
        quantity(
            "our own upload: utilisation during it, tide less untouched Linux",
            "points",
            Claim::at_least(-3.5, -100.0),
            |pairs, s| mean(pairs.iter().map(|p| gain(p, s, TIDE, LINUX))),
        )
        .because(TURNS),
        quantity(
            "our own upload: utilisation during it, tide less DRWA λ = 3",
            "points",
            Claim::at_least(0.0, -3.5),
            |pairs, s| mean(pairs.iter().map(|p| gain(p, s, TIDE, DRWA))),
        ),
        quantity(
            "our own upload: utilisation during it, tide less DRWA λ = 3, worst case",
            "points",
            Claim::at_least(-3.5, -100.0),
            |pairs, s| least(pairs.iter().map(|p| gain(p, s, TIDE, DRWA))),
        ),
        quantity(
            "our own upload: 95th percentile of the downlink's delay during it ÷ untouched Linux's",
            "",
            Claim::at_most(0.25, 1.0),
            |pairs, s| geometric_mean(pairs.iter().map(|p| p.p95(s, TIDE) / p.p95(s, LINUX))),
        )
        .because(TURNS),
    ]
}

fn longest_wait(sample: &Sample, trial: &Trial, contender: Contender) -> f64 {
    AFTER.peak(sample, &trial.by(contender), "queue_delay_max_ms")
}

fn gain(pair: &Pair, sample: &Sample, of: Contender, over: Contender) -> f64 {
    let [ours, theirs] = [of, over].map(|c| pair.utilisation(sample, c, DURING));
    ours - theirs
}

/// The downlink's queue of each contender around the upload, in front of the uplink's.
fn picture(sample: &Sample, pair: &Pair) -> plot::Figure {
    let curve = |label: &str, contender, pen, mark, quantity| {
        let all = sample.curve(&pair.beside.by(contender), quantity);
        let around = all.into_iter().filter(|point| point.0 >= BEGIN_S - 2.0);
        Curve::new(label, pen, mark, around.collect())
    };
    let uplink = curve(
        "uplink, with tide",
        TIDE,
        Pen::nth(3).shade(1, 2),
        Mark::Area,
        "up_queue_delay_ms",
    );
    let downlinks = TRIO.map(|(label, contender, nth)| {
        curve(
            label,
            contender,
            Pen::nth(nth),
            Mark::Line,
            "queue_delay_max_ms",
        )
    });
    plot::Figure {
        title: format!(
            "{}, uplink buffer {} s: queueing delay",
            pair.beside.path.name, pair.buffer_s
        ),
        x: Axis::new("time, s", Scale::Linear).within(BEGIN_S - 2.0, DURATION_S),
        y: Axis::new("ms", Scale::Log),
        curves: [uplink].into_iter().chain(downlinks).collect(),
        size: plot::Figure::STRIP,
    }
}
