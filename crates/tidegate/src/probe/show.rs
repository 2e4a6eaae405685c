//! What was found, as a table and as a page.

use super::measure::Measured;
use comfy_table::{Table, presets};
use std::time::Duration;
use tidegate_probe::Arrival;
use tidegate_probe::analysis::bursts::{backlogged, inter_arrival_ms, split_or_packets};
use tidegate_probe::analysis::flights::Flights;
use tidegate_probe::analysis::rate;
use tidegate_probe::analysis::responsiveness::Responsiveness;
use tidegate_probe::examine::{Overflows, SIZES};
use tidegate_probe::results::{BothWays, Devices, Minutes, Results, Way};
use tidegate_report::colour::Pen;
use tidegate_report::plot::{Axis, Curve, Figure, Mark, Scale};
use tidegate_report::{document, escape, provenance};
use tidegate_scenario::Provenance;

/// Points of a curve at most.
const POINTS: usize = 600;

/// For a terminal.
pub fn text(results: &Results) -> String {
    format!("{}{}\n", tables(results), sentences(results).join("\n"))
}

fn tables(results: &Results) -> String {
    let ways = ways(results);
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header(std::iter::once("").chain(ways.iter().map(|(name, _)| *name)));
    for (what, read) in ROWS {
        let cells = ways.iter().map(|(_, way)| read(way));
        table.add_row(std::iter::once((*what).to_owned()).chain(cells));
    }
    let beside = results.both.as_ref().map(beside).unwrap_or_default();
    let ways = match ways.is_empty() {
        true => String::new(),
        false => format!("{table}\n"),
    };
    let under_load = results
        .responsiveness
        .as_ref()
        .map(under_load)
        .unwrap_or_default();
    format!("{ways}{beside}{under_load}")
}

/// The download alone and beside the upload.
fn beside(both: &BothWays) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header(["both ways", "idle or alone", "beside an upload", ""]);
    table.add_row([
        "download, Mbit/s".to_owned(),
        format!("{:.2}", both.alone_bps / 1e6),
        format!("{:.2}", both.beside_bps / 1e6),
        String::new(),
    ]);
    let ms = |what: &str, idle: f64, busy: f64, said: String| {
        [
            what.into(),
            format!("{idle:.1}"),
            format!("{busy:.1}"),
            said,
        ]
    };
    if let Some(trip) = both.latency {
        let said = format!("{}, {:.0} a minute", trip.grade.name(), trip.rpm);
        table.add_row(ms("round trips, ms", trip.idle_ms, trip.loaded_ms, said));
    }
    for (what, way) in [("one way up, ms", both.up), ("one way down, ms", both.down)] {
        if let Some(way) = way {
            table.add_row(ms(what, way.idle_ms, way.busy_ms, way.grade.name().into()));
        }
    }
    format!("{table}\n")
}

/// Round trips under TCP's load, each way.
fn under_load(found: &[Responsiveness; 2]) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_HORIZONTAL_ONLY);
    table.set_header(["under TCP's load", "down", "up"]);
    type Read = fn(&Responsiveness) -> String;
    let ms = |ms: f64| format!("{ms:.1}");
    let rows: [(&str, Read); 5] = [
        ("responsiveness, round trips a minute", |r| {
            r.score.map_or("–".into(), |s| format!("{:.0}", s.rpm))
        }),
        ("confidence", |r| r.score_confidence.words().into()),
        ("throughput, Mbit/s", |r| {
            format!("{:.2}", r.goodput_bps / 1e6)
        }),
        ("confidence", |r| r.goodput_confidence.words().into()),
        ("TCP connections", |r| r.connections.to_string()),
    ];
    for (what, read) in &rows {
        table.add_row([(*what).to_owned(), read(&found[0]), read(&found[1])]);
    }
    for (what, part) in [
        ("handshake beside it, ms", 0),
        ("question beside it, ms", 1),
        ("question on it, ms", 2),
    ] {
        let cell = |r: &Responsiveness| {
            let parts = r
                .score
                .map(|s| [s.connect_ms, s.request_ms, s.own_ms][part]);
            parts.map_or("–".into(), ms)
        };
        table.add_row([what.to_owned(), cell(&found[0]), cell(&found[1])]);
    }
    format!("{table}\n")
}

/// A row: what it is, and how it reads.
type Row = (&'static str, fn(&Way) -> String);

const ROWS: &[Row] = &[
    ("rate, Mbit/s", |way| {
        way.rate.map_or("–".into(), |r| {
            format!(
                "{:.2} ({:.2} to {:.2})",
                r.median_bps / 1e6,
                r.least_bps / 1e6,
                r.most_bps / 1e6
            )
        })
    }),
    ("bursts", Way::bursts_words),
    ("buffer", Way::buffer_words),
    ("round trips idle, ms", |way| {
        way.latency
            .map_or("–".into(), |l| format!("{:.1}", l.idle_ms))
    }),
    ("round trips busy, ms", |way| {
        way.latency
            .map_or("–".into(), |l| format!("{:.1}", l.loaded_ms))
    }),
    ("round trips a minute, single packets", |way| {
        way.latency.map_or("–".into(), |l| format!("{:.0}", l.rpm))
    }),
    ("bufferbloat", |way| {
        way.latency.map_or("–".into(), |l| l.grade.name().into())
    }),
];

fn ways(results: &Results) -> Vec<(&'static str, &Way)> {
    let named = [("downlink", &results.down), ("uplink", &results.up)];
    named
        .into_iter()
        .filter_map(|(name, way)| Some((name, way.as_ref()?)))
        .collect()
}

/// What does not fit into columns.
fn sentences(results: &Results) -> Vec<String> {
    let mut said = vec![format!(
        "{}: least round trip {:.1} ms, {:.1} MB sent",
        results.server,
        results.base_rtt_ms,
        results.bytes as f64 / 1e6
    )];
    if let Some(clock) = results.clock {
        said.push(format!(
            "this clock is {:.1} ms {} the server's (within {:.1}), and {:.1} ppm too {} (within {:.1})",
            clock.ahead_ms.abs(),
            if clock.ahead_ms < 0.0 { "behind" } else { "ahead of" },
            clock.ahead_within_ms,
            clock.skew_ppm.abs(),
            if clock.skew_ppm < 0.0 { "slow" } else { "fast" },
            clock.skew_within_ppm
        ));
    }
    said.extend(results.devices.as_ref().map(Devices::words));
    said.extend(results.minutes.as_ref().map(Minutes::words));
    for (name, way) in ways(results) {
        said.push(format!("steering, {name}: {}", way.gain_words()));
    }
    said
}

/// For a browser, self-contained.
pub fn page(measured: &Measured, from: &Provenance) -> String {
    let title = format!("The link to {}", measured.results.server);
    let said: String = sentences(&measured.results)
        .iter()
        .map(|sentence| format!("<p>{}</p>\n", escape(sentence)))
        .collect();
    let mut body = format!(
        "<header><h1>{}</h1></header>\n<pre>{}</pre>\n{said}",
        escape(&title),
        escape(&tables(&measured.results))
    );
    for (name, found) in &measured.ways {
        let heading = if *name == "down" {
            "Downlink"
        } else {
            "Uplink"
        };
        body.push_str(&format!("<h2>{heading}</h2>\n"));
        for picture in pictures(found) {
            body.push_str(&picture.svg());
        }
    }
    if let Some(minutes) = &measured.results.minutes {
        body.push_str(&over_minutes(minutes).svg());
    }
    body.push_str(&round_trips(measured).svg());
    body.push_str(&format!("<footer>\n{}</footer>\n", provenance(from)));
    document(&title, "pre { overflow-x: auto }", &body)
}

fn pictures(found: &Overflows) -> Vec<Figure> {
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
    vec![
        strip(
            "Packets in the queue that arrived (Figs. 4.7 to 4.10)",
            "packets",
            in_flight.collect(),
        ),
        strip(
            "Time from one packet to the next (Fig. 4.1)",
            "ms",
            vec![Curve::new(
                "",
                Pen::nth(0),
                Mark::Dots,
                over_time.take(POINTS).collect(),
            )],
        ),
        strip(
            "Rate from 50 bursts (Fig. 4.6)",
            "Mbit/s",
            vec![Curve::new(
                "",
                Pen::nth(0),
                Mark::Line,
                thin(rates.collect()),
            )],
        ),
    ]
}

fn over_minutes(minutes: &Minutes) -> Figure {
    let points = minutes.rates.iter().map(|&(at_s, bps)| (at_s, bps / 1e6));
    let curve = Curve::new("", Pen::nth(0), Mark::Line, points.collect());
    strip("Rate over minutes (Fig. 4.6)", "Mbit/s", vec![curve])
}

fn round_trips(measured: &Measured) -> Figure {
    let start = measured
        .echoes
        .first()
        .map_or(0.0, |e| e.asked.as_secs_f64());
    let clock = measured.results.clock;
    // Nothing is known of times in which nothing was asked: no line leads across.
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
            curves.push(Curve::new(label, Pen::nth(side), Mark::Line, points));
        }
    }
    strip("One-way delays (Fig. 4.16)", "ms", curves)
}

/// Longer than from one question to the next, however late its answer.
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
