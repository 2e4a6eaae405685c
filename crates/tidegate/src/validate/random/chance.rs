//! What the simulator says is chance: the range of a number over runs that differ in seeds alone.

use super::numbers::{Number, Unit};
use serde::{Serialize, Serializer};

/// A number of the kernel's that lies so far beyond the range still agrees, as a part of the range's end.
pub const WITHIN: f64 = 0.05;

/// The kernel's number, and the simulator's.
#[derive(Clone, Debug, Serialize)]
pub struct Held {
    /// The scenario's name.
    pub scenario: String,
    /// What kind of a number it is.
    pub kind: &'static str,
    /// Whose it is.
    pub of: String,
    /// In what it is measured.
    pub unit: &'static str,
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
    /// How many times as large it is as the nearest end of the range, or as small; 1 within it; none where only one of the
    /// two has it.
    #[serde(serialize_with = "finite")]
    pub times: f64,
    /// The kernel's further ones, of the same scenario; not a number where it has none.
    pub again: Vec<f64>,
    /// As `times`, of the median of all the kernel's.
    #[serde(serialize_with = "finite")]
    pub confirmed: f64,
    /// The share of the simulator's that are smaller; half of those that are equal. Over many scenarios a half in the
    /// mean, unless one of the two is biased.
    pub rank: f64,
}

/// Holds the kernel's runs, the first of them above all, against those of the simulator. A number that only one of the two has differs: what all of
/// the simulator's runs have and the kernel's has not, and what the kernel's has and none of theirs. One that is sampled is
/// compared where both have it: whether there was a connection long enough is in others.
pub fn hold(scenario: &str, kernels: &[Vec<Number>], sims: &[Vec<Number>]) -> Vec<Held> {
    let Some((kernel, again)) = kernels.split_first() else {
        return Vec::new();
    };
    let missing = sims.first().into_iter().flatten().filter(|number| {
        !number.sampled
            && find(kernel, number).is_none()
            && sims.iter().all(|sim| find(sim, number).is_some())
    });
    let missing: Vec<_> = missing
        .map(|number| Number {
            value: f64::NAN,
            ..number.clone()
        })
        .collect();
    let of_sims = |number: &Number| {
        let found = sims.iter().filter_map(|sim| find(sim, number));
        found.map(|n| n.value).collect::<Vec<_>>()
    };
    let compared = |number: &&Number| !number.sampled || !of_sims(number).is_empty();
    kernel
        .iter()
        .filter(compared)
        .chain(&missing)
        .map(|number| {
            let again = again.iter().map(|run| find(run, number));
            let again = again.map(|n| n.map_or(f64::NAN, |n| n.value)).collect();
            held(scenario, number, again, of_sims(number))
        })
        .collect()
}

/// The same number of another run.
fn find<'a>(numbers: &'a [Number], like: &Number) -> Option<&'a Number> {
    numbers
        .iter()
        .find(|n| n.kind == like.kind && n.of == like.of)
}

fn held(scenario: &str, number: &Number, again: Vec<f64>, mut sims: Vec<f64>) -> Held {
    sims.sort_by(f64::total_cmp);
    let at = |n: usize| sims.get(n).copied().unwrap_or(f64::NAN);
    let (least, median, largest) = (at(0), at(sims.len() / 2), at(sims.len().saturating_sub(1)));
    let times = beyond(number.value, least, largest, number.unit);
    let usual = middle([&again[..], &[number.value]].concat());
    Held {
        scenario: scenario.to_owned(),
        kind: number.kind,
        of: number.of.clone(),
        unit: number.unit.name(),
        kernel: number.value,
        least,
        median,
        largest,
        agrees: times <= 1.0 + WITHIN,
        times,
        confirmed: beyond(usual, least, largest, number.unit),
        again,
        rank: rank(number, &sims),
    }
}

/// The median; of two their mean.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    f64::midpoint(values[last / 2], values[last.div_ceil(2)])
}

/// Among the simulator's, what differs by less than the unit's slack being equal.
fn rank(number: &Number, sims: &[f64]) -> f64 {
    let slack = number.unit.slack();
    let below = |sim: &&f64| **sim < number.value - slack;
    let above = |sim: &&f64| **sim > number.value + slack;
    let [below, above] = [
        sims.iter().filter(below).count(),
        sims.iter().filter(above).count(),
    ];
    0.5 + (below as f64 - above as f64) / (2.0 * sims.len().max(1) as f64)
}

/// As JSON has it: what is not finite is nothing.
pub fn finite<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    value.is_finite().then_some(*value).serialize(to)
}

/// How many times beyond the nearest end, with the unit's slack on both.
fn beyond(value: f64, least: f64, largest: f64, unit: Unit) -> f64 {
    let slack = unit.slack();
    if value > largest + slack {
        (value / largest.max(slack)).max(1.0)
    } else if value < least - slack {
        (least / value.max(slack)).max(1.0)
    } else if value.is_nan() != least.is_nan() {
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
            sampled: false,
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
            let [held] = &hold("1", &[vec![number(kernel)]], &sims)[..] else {
                panic!("one number")
            };
            assert_eq!((held.agrees, held.times), (agrees, times), "{kernel}");
            assert_eq!((held.least, held.median, held.largest), (10.0, 15.0, 20.0));
        }
    }

    #[test]
    fn what_further_runs_of_the_kernels_do_not_have_is_not_confirmed() {
        let sims = vec![vec![number(10.0)]];
        for (kernels, confirmed) in [
            (&[40.0][..], 4.0),
            (&[40.0, 10.0, 30.0], 3.0),
            (&[40.0, 10.0, 5.0], 1.0),
            (&[40.0, 10.0], 2.5),
        ] {
            let kernels: Vec<_> = kernels.iter().map(|&value| vec![number(value)]).collect();
            let held = &hold("1", &kernels, &sims)[0];
            assert_eq!(
                (held.times, held.confirmed),
                (4.0, confirmed),
                "{kernels:?}"
            );
            assert!(!held.agrees);
        }
        // A number that the kernel has once: the simulator has it, and has not.
        let kernels = [vec![number(40.0)], vec![], vec![]];
        assert_eq!(hold("1", &kernels, &sims)[0].confirmed, f64::INFINITY);
        assert_eq!(hold("1", &kernels, &[vec![]])[0].confirmed, 1.0);
    }

    #[test]
    fn what_only_one_of_the_two_has_differs() {
        let (some, none) = (vec![number(5.0)], Vec::new());
        for (kernel, sims, expected) in [
            (&some, vec![none.clone(), none.clone()], vec![false]),
            (&some, vec![none.clone(), some.clone()], vec![true]),
            (&none, vec![some.clone(), some.clone()], vec![false]),
            // That it is missing is chance.
            (&none, vec![some.clone(), none.clone()], vec![]),
        ] {
            let held = hold("1", std::slice::from_ref(kernel), &sims);
            let agrees: Vec<_> = held.iter().map(|held| held.agrees).collect();
            assert_eq!(agrees, expected, "{kernel:?} {sims:?}");
        }
    }
}
