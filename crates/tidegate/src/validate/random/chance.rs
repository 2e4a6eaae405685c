//! What the simulator says is chance: the range of a number over runs that differ in seeds alone.

use super::numbers::{Number, Unit};
use serde::Serialize;

/// A number of the kernel's that lies so far beyond the range still agrees, as a part of the range's end.
const WITHIN: f64 = 0.05;

/// The kernel's number, and the simulator's.
#[derive(Clone, Debug, Serialize)]
pub struct Held {
    /// The scenario's seed.
    pub seed: u64,
    /// What kind of a number it is.
    pub kind: &'static str,
    /// Whose it is.
    pub of: String,
    /// The kernel's.
    pub kernel: f64,
    /// The simulator's least,
    pub least: f64,
    /// median,
    pub median: f64,
    /// and largest.
    pub largest: f64,
    /// Whether the kernel's is within the range and a twentieth of it.
    pub agrees: bool,
    /// How many times as large it is as the nearest end of the range, or as small; 1 within it.
    pub times: f64,
}

/// Holds a run of the kernel's against as many of the simulator's as there are; all have the same numbers in the same order.
pub fn hold(seed: u64, kernel: &[Number], sims: &[Vec<Number>]) -> Vec<Held> {
    kernel
        .iter()
        .map(|number| {
            let of_sims = sims.iter().filter_map(|sim| {
                let same = |n: &&Number| n.kind == number.kind && n.of == number.of;
                sim.iter().find(same).map(|n| n.value)
            });
            held(seed, number, of_sims.collect())
        })
        .collect()
}

fn held(seed: u64, number: &Number, mut sims: Vec<f64>) -> Held {
    sims.sort_by(f64::total_cmp);
    let at = |n: usize| sims.get(n).copied().unwrap_or(f64::NAN);
    let (least, median, largest) = (at(0), at(sims.len() / 2), at(sims.len().saturating_sub(1)));
    let times = beyond(number.value, least, largest, number.unit);
    Held {
        seed,
        kind: number.kind,
        of: number.of.clone(),
        kernel: number.value,
        least,
        median,
        largest,
        agrees: times <= 1.0 + WITHIN,
        times,
    }
}

/// How many times beyond the nearest end, with the unit's slack on both.
fn beyond(value: f64, least: f64, largest: f64, unit: Unit) -> f64 {
    let slack = unit.slack();
    if value > largest + slack {
        (value / largest.max(slack)).max(1.0)
    } else if value < least - slack {
        (least / value.max(slack)).max(1.0)
    } else if least.is_nan() {
        f64::INFINITY
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: f64) -> Number {
        Number {
            kind: "queue, mean",
            of: "down".into(),
            unit: Unit::Ms,
            value,
        }
    }

    #[test]
    fn what_lies_beyond_chance_and_a_twentieth_differs() {
        let sims: Vec<_> = [20.0, 10.0, 15.0].map(|value| vec![number(value)]).to_vec();
        for (kernel, agrees, times) in [
            (10.0, true, 1.0),
            (20.9, true, 1.0),
            (9.1, true, 1.0),
            (22.0, false, 1.1),
            (5.0, false, 2.0),
            (0.0, false, 10.0),
        ] {
            let [held] = &hold(1, &[number(kernel)], &sims)[..] else {
                panic!("one number")
            };
            assert_eq!((held.agrees, held.times), (agrees, times), "{kernel}");
            assert_eq!((held.least, held.median, held.largest), (10.0, 15.0, 20.0));
        }
    }

    #[test]
    fn what_the_simulator_does_not_have_differs() {
        let held = hold(1, &[number(5.0)], &[Vec::new()]);
        assert!(!held[0].agrees);
    }
}
