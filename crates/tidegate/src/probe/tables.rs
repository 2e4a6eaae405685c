//! The results as rows, shared by terminal and page.

use tidegate_probe::analysis::responsiveness::{Kind, Responsiveness, Score};
use tidegate_probe::results::{BothWays, Results, Way};
use tidegate_report::mbps;

/// A table.
pub struct Grid {
    /// Its title.
    pub title: &'static str,
    /// Headings of all columns but the first.
    pub heads: Vec<&'static str>,
    /// Each row's name and cells.
    pub rows: Vec<(String, Vec<String>)>,
}

/// All tables.
pub fn grids(results: &Results) -> Vec<Grid> {
    let tables = [
        each_way(results),
        results.both.as_ref().map(beside),
        results.responsiveness.as_ref().map(under_load),
    ];
    tables.into_iter().flatten().collect()
}

/// The directions that were filled.
pub fn ways(results: &Results) -> Vec<(&'static str, &Way)> {
    let named = [("downlink", &results.down), ("uplink", &results.up)];
    named
        .into_iter()
        .filter_map(|(name, way)| Some((name, way.as_ref()?)))
        .collect()
}

/// A row: its name, and how to format its value.
type Row = (&'static str, fn(&Way) -> String);

const ROWS: &[Row] = &[
    ("rate, Mbit/s", |way| {
        way.rate.map_or("–".into(), |r| {
            let [median, least, most] = [r.median_bps, r.least_bps, r.most_bps].map(mbps);
            format!("{median} ({least} to {most})")
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

fn each_way(results: &Results) -> Option<Grid> {
    let ways = ways(results);
    let row = |(what, read): &Row| {
        let cells = ways.iter().map(|(_, way)| read(way));
        ((*what).to_owned(), cells.collect())
    };
    (!ways.is_empty()).then(|| Grid {
        title: "each way by itself",
        heads: ways.iter().map(|(name, _)| *name).collect(),
        rows: ROWS.iter().map(row).collect(),
    })
}

/// The download alone, and beside the upload.
fn beside(both: &BothWays) -> Grid {
    let mut rows = vec![(
        "download, Mbit/s".to_owned(),
        vec![mbps(both.alone_bps), mbps(both.beside_bps), String::new()],
    )];
    let ms = |what: &str, idle: f64, busy: f64, said: String| {
        (
            what.to_owned(),
            vec![format!("{idle:.1}"), format!("{busy:.1}"), said],
        )
    };
    if let Some(trip) = both.latency {
        let said = format!("{}, {:.0} a minute", trip.grade.name(), trip.rpm);
        rows.push(ms("round trips, ms", trip.idle_ms, trip.loaded_ms, said));
    }
    for (what, way) in [("one way up, ms", both.up), ("one way down, ms", both.down)] {
        if let Some(way) = way {
            rows.push(ms(what, way.idle_ms, way.busy_ms, way.grade.name().into()));
        }
    }
    Grid {
        title: "both ways",
        heads: vec!["idle or alone", "beside an upload", ""],
        rows,
    }
}

/// Round trips under TCP load, in each direction.
fn under_load(found: &[Responsiveness; 2]) -> Grid {
    type Read = fn(&Responsiveness) -> String;
    let ms = |ms: f64| format!("{ms:.1}");
    let rows: [(&str, Read); 5] = [
        ("responsiveness, round trips a minute", |r| {
            r.score.map_or("–".into(), |s| format!("{:.0}", s.rpm))
        }),
        ("confidence", |r| r.score_confidence.words().into()),
        ("throughput, Mbit/s", |r| {
            r.goodput_bps.map_or("–".into(), mbps)
        }),
        ("confidence", |r| r.goodput_confidence.words().into()),
        ("TCP connections", |r| r.connections.to_string()),
    ];
    let row = |(what, read): (&str, Read)| (what.to_owned(), found.iter().map(read).collect());
    let mut rows: Vec<_> = rows.into_iter().map(row).collect();
    for (what, kind) in [
        ("handshake beside it, ms", Kind::Connect),
        ("question beside it, ms", Kind::Request),
        ("question on it, ms", Kind::Own),
    ] {
        let cell = |r: &Responsiveness| {
            let known = r.score.as_ref().map(Score::means).unwrap_or(r.means);
            known.of_kind(kind).map_or("–".into(), ms)
        };
        rows.push((what.to_owned(), found.iter().map(cell).collect()));
    }
    Grid {
        title: "under TCP's load",
        heads: vec!["down", "up"],
        rows,
    }
}
