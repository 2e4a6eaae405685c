//! Downloads whose window cannot be lowered (QUIC, tunnels): the hold's effect on them, alone, beside downloads with a
//! window, and beside traffic that must not wait.

mod alone;
mod company;
mod kernel;
mod measure;
mod talk;
pub mod uploads;

use super::contenders::{Contender, LINUX, Shown, TIDE};
use crate::workloads::download;
use anyhow::Result;
use tidegate_scenario::{Udp, Workload};
use tidegate_study::{Extent, Figure, Sample};

/// Traffic without a window is held.
pub const HOLD: Contender = TIDE.windowless(Udp::Hold);
/// It is blocked and falls back to TCP: the same download with a window.
const FALLBACK: Contender = TIDE.windowless(Udp::Fallback);

/// The contenders, from back to front.
const QUARTET: [Shown; 4] = [
    ("Linux", LINUX, 2),
    ("left alone", TIDE, 0),
    ("with a window", FALLBACK, 3),
    ("held", HOLD, 1),
];

/// The contenders for the real kernel: other samples show there what a window does.
const PAIR: [Shown; 2] = [QUARTET[0], QUARTET[3]];

const QUEUE: &str = "queue_delay_ms";

const METHOD: &str = "A download that the law sees and whose window it cannot lower, for two minutes, of which the first 5 s \
                      are not counted: untouched Linux, left alone by tide, held, and for comparison with a window. \
                      Links: 5, 20 and 100 Mbit/s, the shipped cells, every recording, at base RTTs of 20 to 200 ms. \
                      Delays below 0.5 ms count as 0.5 ms. Beside one, two and four downloads with a window, each 5 s after the one before, \
                      it joins last or was first; shares are of a minute, from 10 s after the last start on. Beside it talk a call (echoes of \
                      250 bytes, 50 a second), a game (100 bytes, 30 a second), a ping (84 bytes, 50 a second) and \
                      exchanges of 200 bytes, one a second, none of which has a window either; what of their round trips is more than \
                      the base RTT is their delay.";
const ON_THE_KERNEL: &str = "A sample: over LTE, HSPA, 20 and 5 Mbit/s, alone at base RTTs of 20, 50 and 100 ms, beside others and with BBR \
                             at 50 ms, beside one and two downloads with a window. All counts for 30 s, 10 s after the last start. On the kernel the \
                             download is a QUIC connection (quinn), in the simulator our TCP; untouched and held take turns. Beside it talk a \
                             call (echoes of 250 bytes, 50 a second), a game (100 bytes, 30 a second), a ping (84 bytes, 50 a second) and \
                             exchanges of 200 bytes, one a second, by QUIC; what of their round trips is more than the base RTT is their delay. \
                             Delays below 0.5 ms count as 0.5 ms.";

/// The contenders shown.
fn contenders(extent: &Extent) -> &'static [Shown] {
    if extent.lab { &PAIR } else { &QUARTET }
}

/// The figure.
///
/// # Errors
/// When a recording cannot be read.
pub fn figure(extent: &Extent) -> Result<Figure> {
    let alone = alone::trials(extent)?;
    let crowds = company::crowds(extent)?;
    let talks = talk::trials(extent)?;
    let shown = contenders(extent);
    let cases = alone::cases(&alone, extent)
        .into_iter()
        .chain(company::cases(&crowds))
        .chain(talk::cases(&talks, extent));
    let cases = cases.collect();
    let quantities = alone::quantities(&alone, extent)
        .into_iter()
        .chain(company::quantities(&crowds))
        .chain(talk::quantities("a held download", &talks, extent));
    Ok(Figure {
        id: "windowless",
        title: "Downloads without a window",
        claim: "What leaves such a download is held back, so that the window stands at the receiver and not in the \
                queue: as short a queue as with a window, at untouched Linux's goodput. BBR is let go. Nothing that \
                talks waits.",
        method: if extent.lab { ON_THE_KERNEL } else { METHOD },
        cases,
        quantities: quantities.collect(),
        draw: Box::new(move |sample: &Sample| {
            let mut pictures = alone::pictures(sample, &alone, shown);
            pictures.extend(company::pictures(sample, &crowds));
            pictures.extend(talk::pictures(sample, &talks, shown));
            pictures
        }),
    })
}
/// A download that the law sees, and whose window it cannot lower.
pub fn windowless() -> Workload {
    Workload {
        windowless: true,
        ..download()
    }
}

#[cfg(test)]
mod tests;
