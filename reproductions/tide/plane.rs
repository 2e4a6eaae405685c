//! The plane of throughput and delay: contenders that change only the receiver, only the sender, only the network.

use super::contenders::{Contender, DRWA, LAMBDAS, LINUX, RLEDBAT, TIDE};
use super::frontier::Frontier;
use super::paths::Path;
use super::score::Score;
use std::sync::Arc;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_scenario::QueuePolicy;
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// Higher than other wide figures, for labels and a plane.
const SIZE: (u32, u32) = (940, 460);

/// The contenders in the picture besides tide.
const OTHERS: [(&str, Contender); 10] = [
    ("Linux", LINUX),
    ("DRWA λ = 1.5", Contender::drwa("cubic", 1.5)),
    ("DRWA λ = 2", Contender::drwa("cubic", 2.0)),
    ("DRWA λ = 3", DRWA),
    ("rLEDBAT", RLEDBAT),
    ("BBR sender", Contender::linux("bbr")),
    ("Vegas sender", Contender::linux("vegas")),
    ("LEDBAT sender", Contender::linux("ledbat")),
    (
        "CoDel in the bottleneck",
        Contender::network(QueuePolicy::Codel),
    ),
    (
        "FQ-CoDel in the bottleneck",
        Contender::network(QueuePolicy::FqCodel),
    ),
];

const TRADE: &str = "it stands elsewhere on the plane: what it gains in one it pays in the other";

/// The figure.
pub fn figure(paths: &[Path]) -> Figure {
    let paths: Arc<[Path]> = paths.into();
    let drwa = LAMBDAS.map(|lambda| Contender::drwa("cubic", lambda));
    let contenders = OTHERS
        .map(|(_, contender)| contender)
        .into_iter()
        .chain([TIDE])
        .chain(drwa);
    let cases = paths
        .iter()
        .flat_map(|path| contenders.clone().map(move |c| c.case(path)))
        .collect();
    Figure {
        id: "plane",
        title: "The plane of throughput and delay",
        claim: "Of all that change only the receiver, none has tide's utilisation with less delay. Beside it, what \
                others reach who may change the sender (BBR, Vegas, LEDBAT) or the network (CoDel, FQ-CoDel).",
        method: "Utilisations are means over the cases, delays geometric means. A ratio below 1 beside a difference \
                 below 0 is a trade; below 1 beside one above 0 would be a defeat. That CoDel and FQ-CoDel leave so much of \
                 these links unused is CUBIC's answer to them: every dip of the rate stands for longer than an interval and \
                 costs a loss, every dozen round trips or so at any base RTT, and in a dozen round trips the window regains half \
                 a dozen packets, however many the path holds. On a constant 10 Mbit/s at 50 ms the same CoDel leaves 5 %, \
                 which is what CUBIC's teeth leave by hand; and a BBR sender, whom its losses hardly slow, fills \
                 most of these links under it.",
        cases,
        quantities: quantities(&paths),
        draw: Box::new(move |sample| vec![picture(sample, &paths)]),
    }
}

fn quantities(paths: &Arc<[Path]>) -> Vec<Quantity> {
    let all = paths.clone();
    let mut quantities = vec![Quantity::new(
        "tide's delay ÷ the least with which another receiver's scheme reaches its utilisation",
        "",
        Claim::at_most(1.0, 2.0),
        move |sample| {
            let ours = Score::over(sample, TIDE, &all);
            ours.mean_ms / receivers(sample, &all).delay_at(ours.utilisation)
        },
    )];
    for (label, contender) in OTHERS {
        let [one, other] = [paths.clone(), paths.clone()];
        quantities.push(
            Quantity::new(
                format!("{label}: mean queueing delay ÷ tide's"),
                "",
                Claim::at_least(1.0, 0.0),
                move |s| {
                    Score::over(s, contender, &one).mean_ms / Score::over(s, TIDE, &one).mean_ms
                },
            )
            .because(TRADE),
        );
        quantities.push(
            Quantity::new(
                format!("{label}: utilisation less tide's"),
                "points",
                Claim::at_most(0.0, 100.0),
                move |s| {
                    Score::over(s, contender, &other).utilisation
                        - Score::over(s, TIDE, &other).utilisation
                },
            )
            .because(TRADE),
        );
    }
    quantities
}

/// The frontier of contenders that change only the receiver, without tide.
fn receivers(sample: &Sample, paths: &[Path]) -> Frontier {
    let drwa = LAMBDAS.map(|lambda| Contender::drwa("cubic", lambda));
    let others = [LINUX, RLEDBAT];
    Frontier::new(others.into_iter().chain(drwa).map(|contender| {
        let score = Score::over(sample, contender, paths);
        (score.utilisation, score.mean_ms)
    }))
}

fn picture(sample: &Sample, paths: &[Path]) -> plot::Figure {
    let dot = |label: &str, contender, pen| {
        let score = Score::over(sample, contender, paths);
        let label = format!(
            "{label}: {:.1} %, {:.0} ms",
            score.utilisation, score.mean_ms
        );
        let at = (score.mean_ms, score.utilisation);
        Curve::new(label, pen, Mark::Dots, vec![at])
    };
    let swept = LAMBDAS.map(|lambda| {
        let score = Score::over(sample, Contender::drwa("cubic", lambda), paths);
        (score.mean_ms, score.utilisation)
    });
    let sweep = Curve::new("DRWA, λ = 1.1 to 4", Pen::nth(0), Mark::Line, swept.into());
    let others = OTHERS
        .iter()
        .zip(2..)
        .map(|(&(label, contender), nth)| dot(label, contender, Pen::nth(nth)));
    let curves = [sweep]
        .into_iter()
        .chain(others)
        .chain([dot("tide", TIDE, Pen::nth(1))]);
    plot::Figure {
        title: "Utilisation over mean queueing delay, all cases".into(),
        x: Axis::new("mean queueing delay, ms", Scale::Log),
        y: Axis::new("utilisation, %", Scale::Linear),
        curves: curves.collect(),
        size: SIZE,
    }
}
