//! Fig. 3: throughput and RTT against the static limit, near the server.

use super::carriers::{ATT, Carrier, LTE};
use super::downloads::{Download, Phone};
use crate::pictures::lines;
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// Limits tried on each network, in bytes. The third is the network's default.
const LIMITS: [(&Carrier, [u64; 5]); 2] = [
    (&ATT, [65_536, 110_208, 262_144, 393_216, 655_360]),
    (&LTE, [110_208, 262_144, 484_848, 655_360, 917_504]),
];

/// The figure.
pub fn figure() -> Figure {
    let mut cases = Vec::new();
    let mut quantities = Vec::new();
    for (carrier, limits) in LIMITS {
        let names = limits.map(|limit| download(carrier, limit).name());
        cases.extend(limits.map(|limit| download(carrier, limit).case()));
        let all = names.clone();
        quantities.push(Quantity::new(
            format!("{}: throughput with {} ÷ the best", carrier.name, limits[1]),
            "",
            Claim::at_least(0.95, 0.8),
            move |sample| {
                let best = all.iter().map(|n| sample.goodput(n)).fold(0.0, f64::max);
                sample.goodput(&all[1]) / best
            },
        ));
        quantities.push(Quantity::new(
            format!(
                "{}: smallest growth of the RTT from one limit to the next, from {} on",
                carrier.name, limits[1]
            ),
            "",
            Claim::at_least(1.2, 1.0),
            move |sample| smallest_growth(sample, &names[1..]),
        ));
    }
    Figure {
        id: "fig-3",
        title: "Static limits, near server",
        claim: "Throughput saturates (110208 is enough on HSPA+, 262144 on LTE), the RTT keeps growing.",
        method: "",
        cases,
        quantities,
        draw: Box::new(draw),
    }
}

fn download(carrier: &'static Carrier, limit: u64) -> Download {
    Download::new(carrier, Phone::Limit(limit))
}

fn smallest_growth(sample: &Sample, names: &[String]) -> f64 {
    let rtts: Vec<f64> = names.iter().map(|name| sample.rtt(name)).collect();
    let growths = rtts.windows(2).map(|w| w[1] / w[0]);
    growths.fold(f64::INFINITY, f64::min)
}

fn draw(sample: &Sample) -> Vec<tidegate_report::plot::Figure> {
    let mut pictures = Vec::new();
    for (carrier, limits) in LIMITS {
        let names = limits.map(|limit| download(carrier, limit).name());
        let x = limits.map(|limit| limit as f64 / 1e3);
        let x = ("tcp_rmem_max, kB", x.as_slice());
        let title = |what| format!("{}: {what}", carrier.name);
        pictures.push(lines(&title("throughput"), x, "Mbit/s", &[""], |i, _| {
            sample.goodput(&names[i])
        }));
        pictures.push(lines(&title("RTT"), x, "ms", &[""], |i, _| {
            sample.rtt(&names[i])
        }));
    }
    pictures
}
