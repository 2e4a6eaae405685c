//! Figs. 3.17, 3.18 and 3.23: many pairs of hosts, one at a time.

use super::overlay::{Terms, mpath_name};
use super::pairs::{METHOD, Pairs, share, transfer};
use crate::means::{least, most};
use crate::pictures::{cumulative, scatter};
use tidegate_report::plot::{Axis, Scale};
use tidegate_study::{Claim, Drawing, Figure, Quantity, Sample};

/// The three figures, which share their runs.
pub fn figure(pairs: &Pairs) -> Figure {
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

/// The comparisons, and the picture.
type Part = (Vec<Quantity>, Drawing);

/// Fig. 3.17: how often mPath gains, and how much.
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
            least(r.iter().copied())
        }),
    ];
    (
        quantities,
        Box::new(move |sample| {
            vec![cumulative(
                "mPath's throughput ÷ TCP's, pairs",
                Axis::new("ratio", Scale::Log),
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
        let point = |pair| {
            (
                pairs.overlay().round_trip_ms(pair),
                pairs.ratio(sample, pair),
            )
        };
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

/// Fig. 3.23: the reorder buffer.
fn buffers(pairs: &Pairs) -> Part {
    let megabytes = {
        let pairs = pairs.clone();
        move |sample: &Sample| -> Vec<f64> {
            let of = |pair| {
                let name = mpath_name(pair, Terms::THESIS);
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
