//! The mixes for which the real kernel has time.

use super::families::{self, Family};
use super::mix::Mix;
use anyhow::{Result, bail};

/// Number of mixes.
const MIXES: usize = 12;

/// How long numbers count, in seconds.
const COUNTED_S: f64 = 30.0;

/// Upper bound of all traffic, in Mbit/s, so that the emulator keeps up.
const MOST_MBPS: f64 = 80.0;

/// Senders, in turn.
const SENDERS: [&str; 2] = ["cubic", "bbr"];

/// Number of a family's mixes among which one is searched.
const LOOKED_AT: usize = 100;

/// From each family the first mix that is slow enough, with alternating senders, then again from the first family on.
/// Families with videos and pages, which only the simulator has, are left out.
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

/// The family's mix with that sender that is slow enough, after skipping `others`.
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
