//! Tables 4.1 and 4.2 with Figs. 4.7 to 4.10: buffers, their unit and their policy.

use super::links::{Carries, DOWNLINKS, Kind, Known, Truth, UPLINKS};
use super::perform::IN_FLIGHT;
use super::read::numbers;
use tidegate_report::colour::Pen;
use tidegate_report::plot::{Axis, Curve, Figure as Picture, Mark, Scale};
use tidegate_scenario::CellKind;
use tidegate_study::{Claim, Extent, Figure, Quantity, Sample};

/// The curves kept of a link.
pub const CURVES: [&str; 7] = [
    "size",
    "kind",
    "period_ms",
    "megabytes",
    IN_FLIGHT[0],
    IN_FLIGHT[1],
    IN_FLIGHT[2],
];

/// Why an AQM's bound is found too high on some links.
pub const FEW_LOSSES: &str = "an AQM drops some packets a second, and the drain of a slow link that pauses has some tens of packets: a few of them \
     are lost near the bound, a few pass there, and one that is lost by chance far below weighs as much";

/// Table 4.1.
pub fn downlinks(extent: &Extent) -> Figure {
    Figure {
        id: "table-4.1",
        title: "Downlink buffers (Table 4.1, Figs. 4.7 to 4.9)",
        claim: "A: HSPA(+) 4000 packets drop-tail, LTE 800 ms AQM. B: HSPA(+) 400 packets drop-head, LTE 600 packets drop-tail. C: 2000 \
                packets drop-tail.",
        ..figure(&DOWNLINKS, extent)
    }
}

/// Table 4.2. An emulated link has no direction; these are measured as downlinks too.
pub fn uplinks(extent: &Extent) -> Figure {
    Figure {
        id: "table-4.2",
        title: "Uplink buffers (Table 4.2, Fig. 4.10)",
        claim: "HTC Desire 64 KB, Galaxy Nexus 1.5 MB, S3 and S4 200 KB (HSPA+) and 400 KB (LTE) with 1000 packets in the kernel, \
                Huawei E3131 300 packets, E3276 1000 packets.",
        ..figure(&UPLINKS, extent)
    }
}

/// A row on smooth, bursty and changing links, slow and fast, near and far.
fn links(truth: Truth, extent: &Extent) -> Vec<Known> {
    let link = |carries, mbps, rtt_ms| Known {
        test: "buffer",
        truth,
        carries,
        mbps,
        rtt_ms,
    };
    let mut links = vec![
        link(Carries::Smoothly, 7.2, 60.0),
        link(Carries::Generated(CellKind::Lte), 12.0, 60.0),
    ];
    if !extent.quick {
        links.extend([
            link(Carries::Smoothly, 0.5, 200.0),
            link(Carries::Smoothly, 50.0, 20.0),
            link(Carries::InTurns(4.0), 20.0, 100.0),
            link(Carries::Generated(CellKind::Hspa), 3.0, 150.0),
        ]);
    }
    links
}

fn figure(rows: &'static [Truth], extent: &Extent) -> Figure {
    let all: Vec<Vec<Known>> = rows.iter().map(|&row| links(row, extent)).collect();
    let quantities = rows.iter().zip(&all).flat_map(|(row, links)| {
        let names: Vec<String> = links.iter().map(Known::name).collect();
        let again = names.clone();
        [
            Quantity::new(
                format!("{}: {} found", row.name, row.kind.words()),
                "%",
                Claim::at_least(100.0, 50.0),
                move |sample| right(sample, &names, row.kind),
            ),
            Quantity::new(
                format!("{}: {}, furthest from it", row.name, words(row)),
                "%",
                Claim::at_most(10.0, 50.0),
                move |sample| furthest(sample, &again, row.size),
            )
            .because(FEW_LOSSES),
        ]
    });
    let shown: Vec<(&str, String)> = rows
        .iter()
        .zip(&all)
        .map(|(row, links)| (row.name, links[0].name()))
        .collect();
    Figure {
        id: "",
        title: "",
        claim: "",
        method: "Each row on links of 0.5 to 50 Mbit/s and 20 to 200 ms, smooth, in turns and of changing rate; 0.1 % of the packets are \
                 lost by chance. The thesis's numbers are the truth here.",
        cases: all
            .iter()
            .flatten()
            .map(|link| link.case(&CURVES))
            .collect(),
        quantities: quantities.collect(),
        draw: Box::new(move |sample| {
            shown
                .iter()
                .map(|(row, case)| picture(sample, row, case))
                .collect()
        }),
    }
}

fn words(row: &Truth) -> String {
    match row.kind {
        Kind::TimeAqm => format!("{} ms", row.size * 1e3),
        Kind::BytesTail => format!("{} KB", row.size / 1e3),
        _ => format!("{} packets", row.size),
    }
}

/// Share of the runs with the right unit and policy, in %.
fn right(sample: &Sample, cases: &[String], kind: Kind) -> f64 {
    let of = |case: &String| numbers(sample, case, "kind");
    let found: Vec<f64> = cases.iter().flat_map(of).collect();
    let right = found
        .iter()
        .filter(|&&code| Kind::ALL.get(code as usize) == Some(&kind) && !code.is_nan());
    100.0 * right.count() as f64 / found.len() as f64
}

/// Largest error, in % of the truth.
fn furthest(sample: &Sample, cases: &[String], size: f64) -> f64 {
    let of = |case: &String| numbers(sample, case, "size");
    let errors = cases
        .iter()
        .flat_map(of)
        .map(|found| 100.0 * (found / size - 1.0).abs());
    // A buffer that was not found has the largest possible error.
    errors
        .map(|e| if e.is_nan() { f64::INFINITY } else { e })
        .fold(0.0, f64::max)
}

fn picture(sample: &Sample, row: &str, case: &str) -> Picture {
    let sizes = ["1420 bytes", "560 bytes", "200 bytes"];
    let curves = sizes
        .iter()
        .zip(IN_FLIGHT)
        .enumerate()
        .map(|(nth, (label, quantity))| {
            Curve::new(
                *label,
                Pen::nth(nth),
                Mark::Line,
                sample.curve(case, quantity),
            )
        });
    Picture {
        title: format!("{row}: packets in flight that arrived"),
        x: Axis::new("time, s", Scale::FromZero),
        y: Axis::new("packets", Scale::FromZero),
        curves: curves.collect(),
        size: Picture::HALF,
    }
}
