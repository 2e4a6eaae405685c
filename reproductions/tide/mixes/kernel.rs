//! Those mixes that the real kernel can do in time.

use super::families;
use super::mix::Mix;
use anyhow::{Context, Result};

/// How many.
const MIXES: usize = 12;

/// How long numbers count, in seconds.
const COUNTED_S: f64 = 30.0;

/// What may come in all, in Mbit/s, so that the emulator keeps time.
const MOST_MBPS: f64 = 80.0;

/// Senders, in turn.
const SENDERS: [&str; 2] = ["cubic", "bbr"];

/// A family's first so many mixes are looked through.
const LOOKED_AT: usize = 100;

/// The first slow enough mix of each family, with one sender in one family and the other in the next, and so
/// on from the first family again.
///
/// # Errors
/// When a family has no such mix.
pub fn sample() -> Result<Vec<Mix>> {
    (0..MIXES).map(pick).collect()
}

fn pick(nth: usize) -> Result<Mix> {
    let family = &families::ALL[nth % families::ALL.len()];
    let sender = SENDERS[nth % SENDERS.len()];
    for number in 1..=LOOKED_AT {
        let mix = Mix::draw(family, number)?;
        if mix.sender == sender && mix.carried_mbps <= MOST_MBPS {
            let warmup_s = mix.scenario.warmup_s;
            return mix.lasting(warmup_s, warmup_s + COUNTED_S);
        }
    }
    None.with_context(|| format!("no mix of \"{}\" is slow enough", family.name))
}
