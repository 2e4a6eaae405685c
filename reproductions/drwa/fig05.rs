//! Fig. 5: throughput and RTT against the static limit, server in Korea.

use super::carriers::{ATT, Carrier, LTE, korea_ms};
use super::downloads::{Download, Phone};
use crate::pictures::lines;
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// Limits tried on each network, in bytes: from the default over the paper's best to the largest.
const LIMITS: [(&Carrier, [u64; 5]); 2] = [
    (&ATT, [262_144, 393_216, 655_360, 1_310_720, 2_621_440]),
    (&LTE, [484_848, 655_360, 917_504, 1_310_720, 2_621_440]),
];

/// The figure.
pub fn figure() -> Figure {
    let mut cases = Vec::new();
    let mut quantities = Vec::new();
    for (carrier, limits) in LIMITS {
        let names = limits.map(|limit| download(carrier, limit).name());
        cases.extend(limits.map(|limit| download(carrier, limit).case()));
        let all = names.clone();
        let advantage = Quantity::new(
            format!(
                "{}: throughput with {} ÷ with the default",
                carrier.name, limits[2]
            ),
            "",
            Claim::at_least(1.2, 1.0),
            move |sample| sample.goodput(&all[2]) / sample.goodput(&all[0]),
        );
        let advantage = advantage.derived("it says \"clearly\"; a fifth more is our bound");
        quantities.push(advantage.because(match carrier.middlebox {
            true => super::fig12::TOO_NEAR,
            false => "",
        }));
        let all = names.clone();
        quantities.push(
            Quantity::new(
                format!(
                    "{}: throughput with {} ÷ with {}",
                    carrier.name, limits[4], limits[2]
                ),
                "",
                Claim::at_most(0.98, 1.0),
                move |sample| sample.goodput(&all[4]) / sample.goodput(&all[2]),
            )
            .derived("it says that throughput falls; by 2 % is our bound")
            .because(LOSSES),
        );
        let again = Quantity::new(
            format!(
                "{}: segments sent again in a download, with {}",
                carrier.name, limits[4]
            ),
            "",
            Claim::at_least(1.0, 0.0),
            move |sample| sample.mean(&names[4], |run| run.flows[0].retransmits as f64),
        );
        // The model's buffers are this figure's best limits, which larger ones overflow.
        quantities.push(again.input(true));
    }
    Figure {
        id: "fig-5",
        title: "Static limits, server in Korea",
        claim: "655360 (HSPA+) and 917504 (LTE) beat the defaults clearly; larger limits bring losses, and \
                throughput falls.",
        method: "",
        cases,
        quantities,
        draw: Box::new(draw),
    }
}

const LOSSES: &str = "there are losses, but the buffer holds more than the path does (400 packets behind 73 on \
     HSPA+, 600 behind 320 on LTE), so that 70 % of the window, to which CUBIC backs off, still fills it, \
     and today's Linux repairs the losses within a round trip";

fn download(carrier: &'static Carrier, limit: u64) -> Download {
    Download::new(carrier, Phone::Limit(limit)).rtt(carrier.near_ms() + korea_ms())
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
