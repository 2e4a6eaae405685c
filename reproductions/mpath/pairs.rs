//! Figs. 3.17 to 3.20, 3.23, 3.26 and 3.27: many pairs of hosts, one at a time.

use super::emulab::{MPATH, TCP};
use super::overlay::{Overlay, PROXIES};
use crate::means::{mean, most};
use crate::pictures::{cumulative, scatter};
use std::sync::Arc;
use tidegate_report::plot::{Axis, Scale};
use tidegate_reproduce::{Case, Claim, Drawing, Extent, Figure, Quantity, Sample};
use tidegate_scenario::TransferResult;

/// What is run, for people.
const METHOD: &str = "A generated overlay (reproductions/mpath/overlay.rs states its assumptions): 60 systems, core links between each two, 450 \
     proxies. How many pairs have their bottleneck in the core is an assumption, so the shares of pairs that gain say how mPath \
     fares on such an overlay, not how the Internet is. Nothing else happens on a link: its rate is what others leave.";

/// τ of the thesis, in round trips.
const PATIENCE: f64 = 2.0;

/// The pairs, and how long each is run for.
#[derive(Clone)]
pub struct Pairs {
    overlay: Arc<Overlay>,
    seconds: f64,
}

impl Pairs {
    /// 500 pairs for ten minutes each, where the thesis has 30; a sample with `--quick`.
    pub fn new(extent: &Extent) -> Self {
        let (pairs, seconds) = if extent.quick || extent.lab {
            (40, 240.0)
        } else {
            (500, 600.0)
        };
        Self {
            overlay: Arc::new(Overlay::new(pairs)),
            seconds,
        }
    }

    fn mpath(&self, pair: usize) -> Case {
        self.overlay.mpath(pair, self.seconds, PROXIES, PATIENCE)
    }

    fn tcp(&self, pair: usize) -> Case {
        self.overlay.tcp(pair, self.seconds)
    }

    fn all(&self) -> std::ops::Range<usize> {
        0..self.overlay.pairs()
    }

    /// Those over which a parameter is swept: every fifth.
    fn some(&self) -> impl Iterator<Item = usize> {
        self.all().step_by(5)
    }

    /// mPath's goodput ÷ TCP's.
    fn ratio(&self, sample: &Sample, pair: usize) -> f64 {
        self.ratio_of(sample, pair, &self.mpath_name(pair, PROXIES, PATIENCE))
    }

    fn ratio_of(&self, sample: &Sample, pair: usize, case: &str) -> f64 {
        sample.goodput(case) / sample.goodput(&format!("pair {pair}, {TCP}"))
    }

    fn ratios(&self, sample: &Sample) -> Vec<f64> {
        self.all().map(|pair| self.ratio(sample, pair)).collect()
    }

    fn mpath_name(&self, pair: usize, proxies: usize, patience: f64) -> String {
        format!("pair {pair}, {MPATH}, {proxies} proxies, patience {patience}")
    }

    fn cases(&self) -> Vec<Case> {
        let both = |pair| [self.mpath(pair), self.tcp(pair)];
        self.all().flat_map(both).collect()
    }
}

/// Percent of the values of which `test` holds.
fn share(values: &[f64], test: impl Fn(f64) -> bool) -> f64 {
    100.0 * values.iter().filter(|&&value| test(value)).count() as f64 / values.len() as f64
}

/// Figs. 3.17, 3.18 and 3.23, which are of the same runs.
pub fn transfers(pairs: &Pairs) -> Figure {
    let parts = [ratios(pairs), round_trips(pairs), buffers(pairs)];
    let mut whole = Figure {
        id: "fig-3.17",
        title: "Many pairs: the gain, against the round trip (3.18), and the buffer (3.23)",
        claim: "About 40 % of the pairs improve, half of these to twice TCP's throughput or more; none is more than 20 % worse. \
                Pairs with a longer round trip have a greater chance of benefiting. A buffer of 25 MB suffices.",
        method: METHOD,
        cases: pairs.cases(),
        quantities: Vec::new(),
        draw: Box::new(|_| Vec::new()),
    };
    let mut drawings = Vec::new();
    for (quantities, draw) in parts {
        whole.quantities.extend(quantities);
        drawings.push(draw);
    }
    whole.draw = Box::new(move |sample| drawings.iter().flat_map(|draw| draw(sample)).collect());
    whole
}

/// What is compared, and the picture.
type Part = (Vec<Quantity>, Drawing);

/// Fig. 3.17: how often and how well.
fn ratios(pairs: &Pairs) -> Part {
    let quantity = |name: &str, unit, claim, read: fn(&[f64]) -> f64| {
        let pairs = pairs.clone();
        Quantity::new(name, unit, claim, move |sample| read(&pairs.ratios(sample)))
    };
    let drawn = pairs.clone();
    let quantities = vec![
        quantity(
            "pairs that gain more than a tenth",
            "%",
            near(40.0, 10.0),
            |r| share(r, |ratio| ratio > 1.1),
        ),
        quantity(
            "pairs with at least twice TCP's",
            "%",
            near(20.0, 7.0),
            |r| share(r, |ratio| ratio >= 2.0),
        ),
        quantity("the worst pair", "", Claim::at_least(0.8, 0.5), |r| {
            crate::means::least(r.iter().copied())
        }),
    ];
    (
        quantities,
        Box::new(move |sample| {
            vec![cumulative(
                "mPath's throughput ÷ TCP's, pairs",
                Axis::new("ratio", Scale::Linear),
                vec![("mPath ÷ TCP".into(), drawn.ratios(sample))],
            )]
        }),
    )
}

fn near(paper: f64, within: f64) -> Claim {
    Claim::Near {
        paper,
        within,
        neutral: 0.0,
    }
}

/// Fig. 3.18: against the round trip.
fn round_trips(pairs: &Pairs) -> Part {
    let (read, drawn) = (pairs.clone(), pairs.clone());
    let of = |pairs: &Pairs, sample: &Sample| -> Vec<(f64, f64)> {
        let point = |pair| (pairs.overlay.round_trip_ms(pair), pairs.ratio(sample, pair));
        pairs.all().map(point).collect()
    };
    let quantities = vec![Quantity::new(
        "share that gains a tenth, longer half ÷ shorter half",
        "",
        Claim::at_least(1.0, 0.5),
        move |sample| {
            let mut points = of(&read, sample);
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            let (short, long) = points.split_at(points.len() / 2);
            let gain = |half: &[(f64, f64)]| {
                let ratios: Vec<f64> = half.iter().map(|point| point.1).collect();
                share(&ratios, |ratio| ratio > 1.1)
            };
            gain(long) / gain(short)
        },
    )];
    (
        quantities,
        Box::new(move |sample| {
            vec![scatter(
                "Gain against round trip",
                Axis::new("round trip, ms", Scale::Linear),
                Axis::new("mPath ÷ TCP", Scale::FromZero),
                vec![("pairs".into(), of(&drawn, sample))],
            )]
        }),
    )
}

/// Numbers of proxies that are offered (Fig. 3.20).
const OFFERED: [usize; 5] = [1, 10, 50, 100, PROXIES];

/// Fig. 3.20: how many proxies it takes.
pub fn offered(pairs: &Pairs) -> Figure {
    let at_least_twice = {
        let pairs = pairs.clone();
        move |sample: &Sample, proxies| {
            let ratio =
                |pair| pairs.ratio_of(sample, pair, &pairs.mpath_name(pair, proxies, PATIENCE));
            mean(pairs.some().map(ratio))
        }
    };
    let mut cases = Vec::new();
    for pair in pairs.some() {
        let with = |proxies| pairs.overlay.mpath(pair, pairs.seconds, proxies, PATIENCE);
        cases.extend(OFFERED.map(with));
        cases.push(pairs.tcp(pair));
    }
    let (few, many, drawn) = (
        at_least_twice.clone(),
        at_least_twice.clone(),
        at_least_twice,
    );
    Figure {
        id: "fig-3.20",
        title: "Proxies offered",
        claim: "Performance improves up to about 50 proxies; more of them gain nothing more.",
        method: "Every fifth pair. The mean of mPath's throughput ÷ TCP's.",
        cases,
        quantities: vec![
            Quantity::new(
                "50 proxies ÷ 1",
                "",
                Claim::at_least(1.1, 1.0),
                move |sample| few(sample, 50) / few(sample, 1),
            ),
            Quantity::new(
                "450 proxies ÷ 50",
                "",
                Claim::Near {
                    paper: 1.0,
                    within: 0.1,
                    neutral: 2.0,
                },
                move |sample| many(sample, PROXIES) / many(sample, 50),
            ),
        ],
        draw: Box::new(move |sample| {
            let offered: Vec<f64> = OFFERED.iter().map(|&n| n as f64).collect();
            vec![crate::pictures::lines(
                "Proxies offered",
                ("proxies", &offered),
                "mPath ÷ TCP, mean",
                &["mPath"],
                |n, _| drawn(sample, OFFERED[n]),
            )]
        }),
    }
}

fn transfer<'a>(sample: &Sample<'a>, case: &str) -> &'a TransferResult {
    let run = sample.runs(case).next().expect("a run");
    run.transfers.first().expect("a transfer")
}

/// Fig. 3.23: the reorder buffer.
fn buffers(pairs: &Pairs) -> Part {
    let megabytes = {
        let pairs = pairs.clone();
        move |sample: &Sample| -> Vec<f64> {
            let of = |pair| {
                let name = pairs.mpath_name(pair, PROXIES, PATIENCE);
                transfer(sample, &name).most_waiting_bytes as f64 / 1e6
            };
            pairs.all().map(of).collect()
        }
    };
    let drawn = megabytes.clone();
    let quantities = vec![Quantity::new(
        "largest buffer of all pairs",
        "MB",
        Claim::at_most(25.0, 100.0),
        move |sample| most(megabytes(sample).into_iter()),
    )];
    (
        quantities,
        Box::new(move |sample| {
            vec![cumulative(
                "Most that waited at the receiver, pairs",
                Axis::new("MB", Scale::Linear),
                vec![("mPath".into(), drawn(sample))],
            )]
        }),
    )
}

/// τ in round trips (Figs. 3.26 and 3.27).
const PATIENCES: [f64; 4] = [1.0, 1.5, 2.0, 4.0];

/// Figs. 3.26 and 3.27: τ.
pub fn patiences(pairs: &Pairs) -> Figure {
    let read = |what: fn(&TransferResult) -> f64| {
        let pairs = pairs.clone();
        move |sample: &Sample, patience: f64| {
            let of = |pair| what(transfer(sample, &pairs.mpath_name(pair, PROXIES, patience)));
            mean(pairs.some().map(of))
        }
    };
    let usable = read(|transfer| transfer.usable_proxies as f64);
    let buffer = read(|transfer| transfer.most_waiting_bytes as f64 / 1e6);
    let (drawn_usable, drawn_buffer) = (usable.clone(), buffer.clone());
    let mut cases = Vec::new();
    for pair in pairs.some() {
        let with = |patience| pairs.overlay.mpath(pair, pairs.seconds, PROXIES, patience);
        cases.extend(PATIENCES.map(with));
    }
    Figure {
        id: "fig-3.26",
        title: "τ: proxies and reordering (with 3.27)",
        claim: "A larger τ means more usable proxies (Fig. 3.27) and larger buffers (Fig. 3.26).",
        method: "Every fifth pair; means.",
        cases,
        quantities: vec![
            Quantity::new(
                "usable proxies, τ = 2 ÷ τ = 1 round trip",
                "",
                Claim::at_least(1.0, 0.5),
                {
                    let usable = usable.clone();
                    move |sample| usable(sample, 2.0) / usable(sample, 1.0)
                },
            ),
            Quantity::new(
                "buffer, τ = 4 ÷ τ = 1 round trip",
                "",
                Claim::at_least(1.0, 0.5),
                move |sample| buffer(sample, 4.0) / buffer(sample, 1.0),
            ),
        ],
        draw: Box::new(move |sample| {
            let line = |title: &str, unit: &str, read: &dyn Fn(&Sample, f64) -> f64| {
                crate::pictures::lines(
                    title,
                    ("τ, round trips", &PATIENCES),
                    unit,
                    &["mPath"],
                    |n, _| read(sample, PATIENCES[n]),
                )
            };
            vec![
                line("Usable proxies", "proxies", &drawn_usable),
                line("Reorder buffer", "MB", &drawn_buffer),
            ]
        }),
    }
}
