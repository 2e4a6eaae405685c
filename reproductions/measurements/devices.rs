//! Figs. 4.11 to 4.13: a queue for each device, and how they share.

use super::links::{Carries, Kind, Known, Truth};
use super::read::number;
use crate::pictures::{bars, history};
use tidegate_study::{Claim, Figure, Quantity};

fn link(test: &'static str) -> Known {
    Known {
        test,
        truth: Truth {
            name: "2000 packets",
            size: 2000.0,
            kind: Kind::PacketsTail,
        },
        carries: Carries::Smoothly,
        mbps: 7.2,
        rtt_ms: 60.0,
    }
}

/// Figs. 4.11 and 4.12.
pub fn queues() -> Figure {
    let [own, one] = ["own queues", "one queue"].map(link);
    let names = [own.name(), one.name()];
    let shown = names.clone();
    let verdict = |n: usize, name: &str, paper: f64| {
        let case = names[n].clone();
        Quantity::new(
            name,
            "",
            Claim::Near {
                paper,
                within: 0.0,
                neutral: 1.0 - paper,
            },
            move |sample| number(sample, &case, "own"),
        )
    };
    Figure {
        id: "fig-4.12",
        title: "A quiet device beside a busy one (Figs. 4.11 and 4.12)",
        claim: "A flow to another device keeps its low delay while the queue is full: each has a queue of its own.",
        method: "1: own queues are reported, 0: one queue for both. The cell serves one device after the other; the other link has one \
                 queue.",
        cases: [own, one]
            .iter()
            .map(|link| link.case(&["own", "wait_ms"]))
            .collect(),
        quantities: vec![
            verdict(0, "in a cell with a queue for each", 1.0),
            verdict(1, "behind one queue", 0.0),
        ],
        draw: Box::new(move |sample| {
            let cases = [
                ("own queues", shown[0].clone()),
                ("one queue", shown[1].clone()),
            ];
            vec![history(
                sample,
                "How long the quiet flow's packets wait",
                "wait_ms",
                "ms",
                &cases,
            )]
        }),
    }
}

/// Fig. 4.13.
pub fn shares() -> Figure {
    let three = link("three devices");
    let name = three.name();
    let shown = name.clone();
    Figure {
        id: "fig-4.13",
        title: "Three devices",
        claim: "The throughput is shared fairly, whatever each has in flight.",
        method: "1420 KB in flight to one device, 64 KB to each of two others; the thesis's third was TCP with a window of 64 KB.",
        cases: vec![three.case(&["jain", "share_mbps"])],
        quantities: vec![Quantity::new(
            "Jain's index",
            "",
            Claim::at_least(0.95, 0.34),
            move |sample| number(sample, &name, "jain"),
        )],
        draw: Box::new(move |sample| {
            let shares = sample.curve(&shown, "share_mbps");
            let groups = ["1420 KB", "64 KB", "64 KB"].map(String::from);
            vec![bars("Throughput", "Mbit/s", &groups, &[""], |n, _| {
                shares.get(n).map_or(f64::NAN, |p| p.1)
            })]
        }),
    }
}
