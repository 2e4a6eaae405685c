//! Beyond the thesis: the phone steers its own uplink, without help from the far server.

use super::carriers::{self, DELAY_MS, HTC_DESIRE, Isp, Place, device};
use super::experiments::{
    Experiment, Steered, UPLINK, beside_kbps, kbps, median, ratios, repetitions, rtt_s, upload,
};
use super::sets::Set;
use crate::means::{least, mean, most};
use crate::pictures::lines;
use std::sync::Arc;
use tidegate_scenario::{Law, LinkSpec, QueueSpec, RateSpec};
use tidegate_study::{Case, Claim, Extent, Figure, Quantity, Sample};

/// Uplinks, in kbit/s.
const UPLINKS_KBPS: [f64; 7] = [50.0, 75.0, 100.0, 150.0, 200.0, 300.0, 400.0];

/// In real time there is time for fewer.
const FEW_UPLINKS_KBPS: [f64; 2] = [75.0, 200.0];

/// On uplinks slower than this a full buffer takes more than 6 s: 64 KB at 87 kbit/s.
const SLOW_KBPS: f64 = 87.0;

/// Length of a lone upload, and of its warm-up, in seconds.
const ALONE_S: f64 = 180.0;
const SHORT_ALONE_S: f64 = 90.0;
const START_S: f64 = 30.0;

/// The contenders: nobody, the thesis's place, and the phone with either law.
const CONTENDERS: [Steered; 4] = [
    Steered::Untouched,
    Steered::Rsfc,
    Steered::ByPhone(Law::Rsfc),
    Steered::ByPhone(Law::Tide),
];

/// The contenders at the phone.
const AT_PHONE: [Steered; 2] = [Steered::ByPhone(Law::Rsfc), Steered::ByPhone(Law::Tide)];

/// Why RSFC limits the queue less from the phone.
const PAIRS: &str = "the far end acknowledges two segments at once and echoes the first's timestamp, so RTTmin at 50 kbit/s is 0.6 s, not \
     0.35, and T is as much; the mean of its swing is 2.4 RTTmin";

/// Why an uplink carries less while a download begins.
const SHARED: &str = "from 150 kbit/s up the download ends within 13 s, most of which it has a queue of 0.3 to 0.5 s in the downlink, by \
     slow start; the upload's ACKs wait there, and its window is for a round trip without. Over the whole run nothing is \
     lost, and alone neither";

/// Why a download is not ten times as fast.
const TEN_ROUND_TRIPS: &str = "with no upload at all it would be little more, see the first line: 1 MB is ten round trips of slow start and 6 s of \
     transmission, and its own ACKs, 52 bytes for 2896 at 1.4 Mbit/s, take a half of an uplink of 50 kbit/s and a third of one of \
     75. Ten times as fast at 75 kbit/s is 8.3 s, which leaves round trips of half a second where one full segment takes 0.16";

/// The runs: uplinks × contenders, and the fast ISPs.
struct Runs {
    uplinks_kbps: &'static [f64],
    alone: Vec<[String; 4]>,
    downloads: Vec<String>,
    both: Vec<[String; 4]>,
    fast: Vec<(&'static str, [Set; 4])>,
}

/// The figure.
pub fn figure(extent: &Extent) -> Figure {
    let (uplinks_kbps, alone_s): (&[f64], f64) = match extent.lab {
        true => (&FEW_UPLINKS_KBPS, SHORT_ALONE_S),
        false => (&UPLINKS_KBPS, ALONE_S),
    };
    let fast_isps: &[&Isp] = match extent.lab {
        true => &[],
        false => &[&carriers::B, &carriers::C],
    };
    let alone = |place: &Place, by| {
        Experiment::new(place, "cubic", by, alone_s, vec![upload()])
            .named("going on")
            .warmed_up(START_S)
    };
    let both = |place: &Place, by| Experiment::both(place, "cubic", by, extent);
    let download = |place: &Place| Experiment::download(place, extent);
    let places: Vec<Place> = uplinks_kbps.iter().map(|&kbps| place(kbps)).collect();
    let names = |make: &dyn Fn(&Place, Steered) -> Experiment| {
        let each = |place| CONTENDERS.map(|by| make(place, by).name());
        places.iter().map(each).collect()
    };
    let runs = Arc::new(Runs {
        uplinks_kbps,
        alone: names(&alone),
        downloads: places.iter().map(|place| download(place).name()).collect(),
        both: names(&both),
        fast: fast_isps.iter().map(|isp| fast(isp, extent)).collect(),
    });
    let steady = places
        .iter()
        .flat_map(|place| CONTENDERS.map(|by| [alone(place, by).case(), both(place, by).case()]));
    let downloads = places.iter().map(|place| download(place).case());
    let fast = runs
        .fast
        .iter()
        .flat_map(|(_, sets)| sets.iter().flat_map(Set::cases));
    let cases: Vec<Case> = steady.flatten().chain(downloads).chain(fast).collect();
    Figure {
        id: "client",
        title: "The phone heals its own uplink",
        claim: "Beyond the thesis. With the law at the phone and an untouched server: upload RTTs near 1 s or below where CUBIC's \
                are above 6 s, upload throughput within 5 %, downloads ten times as fast on the slowest uplinks; nothing lost \
                on fast ones.",
        method: "Constant uplinks of 50 to 400 kbit/s with 64 KB before them, 1.4 Mbit/s down: an upload alone, of which 30 s do not \
                 count, and 1 MB down beside an upload. \"Slowest\" are 50 and 75 kbit/s. RSFC is the thesis's, at \
                 the server. ISP B and C as everywhere.",
        cases,
        quantities: quantities(&runs),
        draw: Box::new(move |sample| pictures(&runs, sample)),
    }
}

/// A constant uplink of ISP A.
fn place(kbps: f64) -> Place {
    let buffer = QueueSpec {
        packets: Some(carriers::A.buffer),
        ..QueueSpec::default()
    };
    let link = |kbps: f64, queue| LinkSpec {
        queue,
        ..LinkSpec::new(RateSpec::ConstantMbps(kbps / 1e3), DELAY_MS)
    };
    Place {
        name: format!("constant {kbps} up"),
        uplink_kbps: kbps,
        down: link(carriers::middle(carriers::A.downlink_kbps), buffer),
        up: link(kbps, device(HTC_DESIRE)),
    }
}

/// An upload and 1 MB down at an ISP, by each contender.
fn fast(isp: &Isp, extent: &Extent) -> (&'static str, [Set; 4]) {
    let places = isp.places(repetitions(extent));
    let sets = CONTENDERS.map(|by| {
        Set::new(&places, |place| {
            Experiment::both(place, "cubic", by, extent)
        })
    });
    (isp.name, sets)
}

impl Runs {
    /// Number of slow uplinks, which come first.
    fn slow(&self) -> usize {
        self.uplinks_kbps
            .iter()
            .filter(|&&kbps| kbps < SLOW_KBPS)
            .count()
    }
}

fn place_of(by: Steered) -> usize {
    let found = CONTENDERS.iter().position(|&contender| contender == by);
    found.expect("a contender")
}

/// The upload's mean RTT without traffic the other way, in seconds.
fn rtt(sample: &Sample, case: &str) -> f64 {
    sample.mean(case, |run| rtt_s(run, "upload"))
}

fn up(sample: &Sample, case: &str) -> f64 {
    sample.mean(case, |run| kbps(run, "upload"))
}

/// Rate of the whole uplink while the download lasts.
fn carried(sample: &Sample, case: &str) -> f64 {
    mean(beside_kbps(sample, case, UPLINK).into_iter())
}

fn down(sample: &Sample, case: &str) -> f64 {
    sample.mean(case, |run| kbps(run, "download"))
}

fn quantities(runs: &Arc<Runs>) -> Vec<Quantity> {
    let shared = runs.clone();
    let alone = runs.clone();
    let mut quantities = vec![
        Quantity::new(
            "no upload at all: download ÷ beside an untouched one, least of the slowest uplinks",
            "",
            Claim::at_least(10.0, 1.0),
            move |sample| {
                let slowest = alone.downloads[..alone.slow()].iter().zip(&alone.both);
                least(slowest.map(|(name, c)| down(sample, name) / down(sample, &c[0])))
            },
        ),
        Quantity::new(
            "untouched, slowest uplinks: upload RTT, least",
            "s",
            Claim::at_least(6.0, 1.0),
            move |sample| {
                least(
                    shared.alone[..shared.slow()]
                        .iter()
                        .map(|c| rtt(sample, &c[0])),
                )
            },
        ),
    ];
    for by in AT_PHONE {
        quantities.extend(on_slow_uplinks(runs, by));
        quantities.extend((0..runs.fast.len()).flat_map(|isp| on_fast_ones(runs, isp, by)));
    }
    quantities
}

fn on_slow_uplinks(runs: &Arc<Runs>, by: Steered) -> [Quantity; 4] {
    let nth = place_of(by);
    let quantity = |name: &str, unit, claim, read: fn(&Runs, &Sample, usize) -> f64| {
        let runs = runs.clone();
        Quantity::new(
            format!("{}: {name}", by.name()),
            unit,
            claim,
            move |sample| read(&runs, sample, nth),
        )
    };
    [
        quantity(
            "upload RTT on the slowest uplinks, largest",
            "s",
            Claim::at_most(1.25, 6.0),
            |runs, sample, nth| {
                most(
                    runs.alone[..runs.slow()]
                        .iter()
                        .map(|c| rtt(sample, &c[nth])),
                )
            },
        )
        .because(PAIRS),
        quantity(
            "upload alone ÷ untouched, least of all uplinks",
            "",
            Claim::at_least(0.95, 0.5),
            |runs, sample, nth| {
                least(
                    runs.alone
                        .iter()
                        .map(|c| up(sample, &c[nth]) / up(sample, &c[0])),
                )
            },
        ),
        quantity(
            "all that the uplink carries beside a download ÷ untouched, least of all uplinks",
            "",
            Claim::at_least(0.95, 0.5),
            |runs, sample, nth| {
                let shares = runs.both.iter();
                least(shares.map(|c| carried(sample, &c[nth]) / carried(sample, &c[0])))
            },
        )
        .because(SHARED),
        quantity(
            "download ÷ untouched, least of the slowest uplinks",
            "",
            Claim::at_least(10.0, 1.0),
            |runs, sample, nth| {
                let slowest = runs.both[..runs.slow()].iter();
                least(slowest.map(|c| down(sample, &c[nth]) / down(sample, &c[0])))
            },
        )
        .because(TEN_ROUND_TRIPS),
    ]
}

fn on_fast_ones(runs: &Arc<Runs>, isp: usize, by: Steered) -> [Quantity; 2] {
    let nth = place_of(by);
    let quantity = |what: &str, claim, read: fn(&Set, &Sample) -> Vec<f64>| {
        let name = format!(
            "{}, {}: {what} ÷ untouched, median",
            by.name(),
            runs.fast[isp].0
        );
        let runs = runs.clone();
        Quantity::new(name, "", claim, move |sample| {
            let sets = &runs.fast[isp].1;
            median(ratios(&read(&sets[nth], sample), &read(&sets[0], sample)))
        })
    };
    [
        quantity("upload", Claim::at_least(0.95, 0.5), |set, sample| {
            set.kbps(sample, "upload")
        }),
        quantity("download", Claim::at_least(0.95, 0.5), |set, sample| {
            set.kbps(sample, "download")
        }),
    ]
}

fn pictures(runs: &Runs, sample: &Sample) -> Vec<tidegate_report::plot::Figure> {
    let labels = CONTENDERS.map(Steered::name);
    let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
    let picture = |title, unit, cases: &[[String; 4]], read: fn(&Sample, &str) -> f64| {
        lines(
            title,
            ("uplink, kbit/s", runs.uplinks_kbps),
            unit,
            &labels,
            |i, s| read(sample, &cases[i][s]),
        )
    };
    vec![
        picture("RTT of an upload alone", "s", &runs.alone, rtt),
        picture(
            "All that the uplink carries beside a download",
            "kbit/s",
            &runs.both,
            carried,
        ),
        picture("1 MB down beside an upload", "kbit/s", &runs.both, down),
    ]
}
