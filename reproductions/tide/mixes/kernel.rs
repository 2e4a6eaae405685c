//! Those mixes that the real kernel can do in time.

use super::families::{self, Family};
use super::mix::Mix;
use anyhow::{Result, bail};

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
/// on from the first family again. Families with videos and pages, which only the simulator has, are left out.
///
/// # Errors
/// When a family has no such mix.
pub fn sample() -> Result<Vec<Mix>> {
    let mut known = Vec::new();
    for family in &families::ALL {
        if Mix::draw(family, 1)?.is_for_kernels() {
            known.push(family);
        }
    }
    let picks = (0..MIXES)
        .zip(known.iter().cycle())
        .zip(SENDERS.iter().cycle());
    picks
        .map(|((nth, family), sender)| pick(family, sender, nth / known.len()))
        .collect()
}

/// The family's mix of that sender that is slow enough, after so many others.
fn pick(family: &Family, sender: &str, others: usize) -> Result<Mix> {
    let mut left = others;
    for number in 1..=LOOKED_AT {
        let mix = Mix::draw(family, number)?;
        if mix.sender != sender || mix.carried_mbps > MOST_MBPS {
            continue;
        }
        if left == 0 {
            let warmup_s = mix.scenario.warmup_s;
            return mix.lasting(warmup_s, warmup_s + COUNTED_S);
        }
        left -= 1;
    }
    bail!("no mix of \"{}\" is slow enough", family.name)
}
