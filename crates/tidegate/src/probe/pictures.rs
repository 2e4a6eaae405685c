//! Pictures of the measurements.

use super::measure::Measured;
use std::time::Duration;
use tidegate_probe::Arrival;
use tidegate_probe::analysis::bursts::{backlogged, inter_arrival_ms, split_or_packets};
use tidegate_probe::analysis::flights::Flights;
use tidegate_probe::analysis::rate;
use tidegate_probe::examine::{Overflows, SIZES};
use tidegate_probe::results::Minutes;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{Axis, Curve, Figure, Mark, Scale};

/// The most points of a curve: the page contains each curve twice, wide and narrow.
const POINTS: usize = 400;

/// A picture with its caption.
pub struct Picture {
    /// The picture.
    pub figure: Figure,
    /// One or two sentences.
    pub caption: &'static str,
}

/// Pictures of a direction that was filled.
pub fn of_way(found: &Overflows) -> Vec<Picture> {
    let busy = found
        .trains
        .first()
        .map(|train| backlogged(train))
        .unwrap_or_default();
    let start = busy.first().map_or(0.0, |a| a.arrived.as_secs_f64());
    let gaps = inter_arrival_ms(&busy);
    let over_time = busy
        .iter()
        .skip(1)
        .zip(&gaps)
        .map(|(a, &ms)| (a.arrived.as_secs_f64() - start, ms));
    let rates = rate::rates(&split_or_packets(&busy), rate::BURSTS);
    let rates = rates.into_iter().map(|(t, bps)| (t - start, bps / 1e6));
    let in_flight = SIZES
        .iter()
        .zip(&found.trains)
        .enumerate()
        .map(|(nth, (size, train))| {
            Curve::new(
                format!("{size} bytes"),
                Pen::nth(nth),
                Mark::Line,
                ahead(train),
            )
        });
    let one = |mark, points| vec![Curve::new("", Pen::nth(0), mark, points)];
    vec![
        Picture {
            figure: strip("Packets ahead in the queue", "packets", in_flight.collect()),
            caption: "What stood ahead of each packet when it was sent. The curves, one for each size of packets, rise \
                      until the buffer is full, and fall as it empties.",
        },
        Picture {
            figure: strip(
                "Time from one packet to the next",
                "ms",
                one(Mark::Dots, over_time.take(POINTS).collect()),
            ),
            caption: "While the link was full. Dots at several heights mean that it serves in bursts, as mobile networks do.",
        },
        Picture {
            figure: strip(
                "Rate of the full link",
                "Mbit/s",
                one(Mark::Line, thin(rates.collect())),
            ),
            caption: "What the link carried, over fifty bursts at a time.",
        },
    ]
}

/// The rate over minutes.
pub fn over_minutes(minutes: &Minutes) -> Picture {
    let points = minutes.rates.iter().map(|&(at_s, bps)| (at_s, bps / 1e6));
    let curve = Curve::new("", Pen::nth(0), Mark::Line, points.collect());
    Picture {
        figure: strip("Rate over minutes", "Mbit/s", vec![curve]),
        caption: "A short look every few seconds: how much the link's rate changes.",
    }
}

/// One-way delays of single packets.
pub fn one_way_delays(measured: &Measured) -> Picture {
    let start = measured
        .echoes
        .first()
        .map_or(0.0, |e| e.asked.as_secs_f64());
    let clock = measured.results.clock;
    // No line crosses a gap without echoes.
    let parts = || {
        let echoes = measured.echoes.as_slice();
        echoes.chunk_by(|one, next| next.asked - one.asked < NOT_ASKED)
    };
    let mut curves = Vec::new();
    for (side, name) in ["up", "down"].into_iter().enumerate() {
        for (nth, part) in parts().enumerate() {
            let label = if nth == 0 { name } else { "" };
            let ms = |e| clock.map_or(f64::NAN, |c| c.one_way_s(e)[side]) * 1e3;
            let points = part
                .iter()
                .map(|e| (e.asked.as_secs_f64() - start, ms(e)))
                .collect();
            curves.push(Curve::new(label, Pen::nth(2 - side), Mark::Line, points));
        }
    }
    Picture {
        figure: strip("How long packets took, each way", "ms", curves),
        caption: "Single packets during the whole measurement: what a call or a game would meet. Where a curve climbs, a \
                  queue is filled on that way.",
    }
}

/// A gap longer than that between two echoes, even with a late answer.
const NOT_ASKED: Duration = Duration::from_secs(2);

fn strip(title: &str, unit: &str, curves: Vec<Curve>) -> Figure {
    Figure {
        title: title.into(),
        x: Axis::new("time, s", Scale::FromZero),
        y: Axis::new(unit, Scale::FromZero),
        curves,
        size: Figure::STRIP,
    }
}

fn ahead(train: &[Arrival]) -> Vec<(f64, f64)> {
    let flights = Flights::of(train);
    let start_s = flights.packets.first().map_or(0.0, |p| p.sent_s);
    thin(
        flights
            .packets
            .iter()
            .map(|p| (p.sent_s - start_s, p.ahead.into()))
            .collect(),
    )
}

fn thin(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let every = points.len().div_ceil(POINTS).max(1);
    points.into_iter().step_by(every).collect()
}
