//! Fig. 8: the receiver's RTT against the sender's.

use super::carriers::ATT;
use super::downloads::{DRWA, Download};
use tidegate_report::colour::Pen;
use tidegate_report::plot::{self, Axis, Curve, Mark, Scale};
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// The figure.
pub fn figure() -> Figure {
    let name = download().name();
    let median = name.clone();
    let ratio = name.clone();
    Figure {
        id: "fig-8",
        title: "The receiver's RTT and the sender's",
        claim: "With timestamps the two are consistent, with minor deviation.",
        method: "The receiver's last sample against the sender's smoothed RTT, every 100 ms.",
        cases: vec![download().case()],
        quantities: vec![
            Quantity::new(
                "median of |receiver − sender| ÷ sender",
                "%",
                Claim::at_most(10.0, 50.0),
                move |sample| {
                    let mut off: Vec<f64> = pairs(sample, &median)
                        .map(|(receiver, sender)| (receiver / sender - 1.0).abs() * 100.0)
                        .collect();
                    off.sort_by(f64::total_cmp);
                    off[off.len() / 2]
                },
            )
            .because(BIAS),
            Quantity::new(
                "mean of receiver ÷ sender",
                "",
                Claim::same(1.0, 0.05),
                move |sample| {
                    let ratios: Vec<f64> = pairs(sample, &ratio).map(|(r, s)| r / s).collect();
                    ratios.iter().sum::<f64>() / ratios.len() as f64
                },
            )
            .because(BIAS),
        ],
        draw: Box::new(move |sample| {
            let curve = |n, label, quantity| {
                Curve::new(
                    label,
                    Pen::nth(n),
                    Mark::Line,
                    sample.curve(&name, quantity),
                )
            };
            vec![plot::Figure {
                title: "RTT".into(),
                x: Axis::new("time, s", Scale::FromZero),
                y: Axis::new("ms", Scale::FromZero),
                curves: vec![
                    curve(0, "sender", "rtt_ms"),
                    curve(1, "receiver", "agent_rtt_ms"),
                ],
                size: plot::Figure::WIDE,
            }]
        }),
    }
}

/// Why the receiver's are lower.
const BIAS: &str = "the receiver has one sample for each timestamp that it sent, from the first segment that echoes \
     it, and believes none after a silence longer than a round trip; segments at the end of a burst, and \
     those behind a fade, which wait longest, are the sender's only. Where its sample is fresh the receiver's \
     is 9 % below the sender's, where it is not 33 %";

fn download() -> Download {
    Download::new(&ATT, DRWA).curves(&["rtt_ms", "agent_rtt_ms"])
}

/// The receiver's and the sender's RTT at times when both are known, over all seeds.
fn pairs<'a>(sample: &Sample<'a>, case: &str) -> impl Iterator<Item = (f64, f64)> + use<'a> {
    let receivers = sample.curves(case, "agent_rtt_ms");
    let senders = sample.curves(case, "rtt_ms");
    receivers.zip(senders).flat_map(|(receiver, sender)| {
        receiver
            .into_iter()
            .filter_map(move |(t, r)| Some((r, value_at(&sender, t)?)))
    })
}

/// The value of a curve at that time, linear between two points: a kernel's curves are not sampled at the same times.
fn value_at(curve: &[(f64, f64)], t: f64) -> Option<f64> {
    let next = curve.partition_point(|p| p.0 < t);
    let &(t1, v1) = curve.get(next)?;
    if t1 == t {
        return Some(v1);
    }
    let (t0, v0) = curve[next.checked_sub(1)?];
    Some(v0 + (v1 - v0) * (t - t0) / (t1 - t0))
}
