//! Figs. 3.26 and 3.27: τ, the largest round trip that a proxied path can have.

use super::overlay::{Terms, mpath_name};
use super::pairs::{Pairs, transfer};
use crate::means::mean;
use tidegate_scenario::TransferResult;
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// τ in round trips (Figs. 3.26 and 3.27).
const PATIENCES: [f64; 4] = [1.0, 1.5, 2.0, 4.0];

fn waiting(patience: f64) -> Terms {
    Terms {
        patience,
        ..Terms::THESIS
    }
}

/// The figures.
pub fn figure(pairs: &Pairs) -> Figure {
    let read = |what: fn(&TransferResult) -> f64| {
        let pairs = pairs.clone();
        move |sample: &Sample, patience: f64| {
            let of = |pair| what(transfer(sample, &mpath_name(pair, waiting(patience))));
            mean(pairs.some().map(of))
        }
    };
    let usable = read(|transfer| transfer.usable_proxies as f64);
    let buffer = read(|transfer| transfer.most_waiting_bytes as f64 / 1e6);
    let (drawn_usable, drawn_buffer) = (usable.clone(), buffer.clone());
    let mut cases = Vec::new();
    for pair in pairs.some() {
        cases.extend(PATIENCES.map(|patience| pairs.mpath(pair, waiting(patience))));
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
