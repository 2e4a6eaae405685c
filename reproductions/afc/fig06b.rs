//! Fig. 6(b): connections with AFC beside classic ones.

use super::shared::{Dumbbell, labels};
use crate::means::mean;
use crate::pictures::lines;
use tidegate_study::{Claim, Figure, Quantity, Sample};

/// Connections.
const FLOWS: usize = 10;

/// The figure.
pub fn figure() -> Figure {
    let bells = move || {
        (0..=FLOWS).map(|adaptive| Dumbbell {
            flows: FLOWS,
            adaptive,
        })
    };
    let quantities = vec![
        Quantity::new(
            "classic connections beside 9 with AFC ÷ among themselves",
            "",
            Claim::same(1.0, 0.1),
            |sample| classic(sample, 9) / classic(sample, 0),
        )
        .because(CROWDED),
        Quantity::new(
            "the same, least over 1 to 9 with AFC",
            "",
            Claim::at_least(0.9, 0.5),
            |sample| {
                let least = (1..FLOWS).map(|n| classic(sample, n));
                crate::means::least(least) / classic(sample, 0)
            },
        )
        .because(CROWDED),
        Quantity::new(
            "one connection with AFC ÷ one of ten",
            "",
            Claim::at_least(2.0, 1.0),
            |sample| afc(sample, 1) / afc(sample, FLOWS),
        )
        .because(ALONE),
        Quantity::new(
            "ten connections with AFC, each",
            "Mbit/s",
            Claim::Near {
                paper: 0.33,
                within: 0.033,
                neutral: 0.0,
            },
            |sample| afc(sample, FLOWS),
        )
        .because(TWICE),
    ];
    Figure {
        id: "fig-6b",
        title: "Fairness towards classic flow control",
        claim: "The throughput of classic connections stays unchanged beside those with AFC; a single one with AFC takes what they \
                leave unused, and ten share it: 0.33 Mbit/s each.",
        method: "Ten connections, 21.3 KB of buffer each.",
        cases: bells().map(Dumbbell::case).collect(),
        quantities,
        draw: Box::new(move |sample| {
            let x: Vec<f64> = (0..=FLOWS).map(|n| n as f64).collect();
            let value = |n: usize, s: usize| match s {
                0 => classic(sample, n),
                _ => afc(sample, n),
            };
            let x = ("connections with AFC", x.as_slice());
            vec![lines("Mean throughput", x, "Mbit/s", &labels(), value)]
        }),
    }
}

const ALONE: &str = "the read rate that is told is what was read in a round trip, and a reader that waits for the network reads what comes: with 22 KB \
     and an idle slot in three the window settles at twice the buffer. Measured only while something waits to be read (tried, and given \
     up), one connection gets 3.2 times as much as one of ten, but ten of them refuse so much that they have 45 % of the link together";

/// Why several connections do not fill the link.
pub const TWICE: &str =
    "what is refused crosses the link twice: 0.45 of 3.3 Mbit/s with ten connections, 0.5 with two";

const CROWDED: &str = "what classic connections leave unused is queued by those with AFC, whose windows are larger than what the link has for \
     them: the queue raises everybody's round trip from 640 to 897 ms, and a classic window carries less for it";

fn classic(sample: &Sample, adaptive: usize) -> f64 {
    let bell = Dumbbell {
        flows: FLOWS,
        adaptive,
    };
    mean(bell.classic(sample).into_iter())
}

fn afc(sample: &Sample, adaptive: usize) -> f64 {
    let bell = Dumbbell {
        flows: FLOWS,
        adaptive,
    };
    mean(bell.with_afc(sample).into_iter())
}
