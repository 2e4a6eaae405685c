//! Chance according to the simulator: the range of a number over runs that differ only in seeds.

use super::numbers::{Number, Unit};
use serde::{Serialize, Serializer};

/// A kernel's number that lies this far beyond the range still agrees, as a part of the range's limit.
pub const WITHIN: f64 = 0.05;

/// A number of the kernel, compared with the simulator's.
#[derive(Clone, Debug, Serialize)]
pub struct Held {
    /// The scenario's name.
    pub scenario: String,
    /// The kind of number.
    pub kind: &'static str,
    /// The workload or link it belongs to.
    pub of: String,
    /// Its unit.
    pub unit: &'static str,
    /// The kernel's value.
    pub kernel: f64,
    /// The simulator's smallest value,
    pub least: f64,
    /// median,
    pub median: f64,
    /// and largest.
    pub largest: f64,
    /// Whether the kernel's value is within the range, widened by [`WITHIN`].
    pub agrees: bool,
    /// The ratio between the value and the nearest limit of the range, at least 1; 1 within the range; none if only one
    /// side has the number.
    #[serde(serialize_with = "finite")]
    pub times: f64,
    /// The kernel's values in further runs of the same scenario; NaN for a run that lacks the number.
    pub again: Vec<f64>,
    /// Like `times`, for the median of all the kernel's values.
    #[serde(serialize_with = "finite")]
    pub confirmed: f64,
    /// The part of the simulator's values that are smaller, counting half of the equal ones. Over many scenarios its
    /// mean is a half, unless one of the two is biased.
    pub rank: f64,
}

/// Compares the kernel's runs, mainly the first, with the simulator's. A number that only one side has differs if all
/// of the simulator's runs have it and the kernel's has not, or the reverse. Sampled numbers are only compared if both
/// sides have them: whether a connection lasted long enough for samples shows in other numbers.
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

/// The median; the mean of two middle values.
fn middle(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    f64::midpoint(values[last / 2], values[last.div_ceil(2)])
}

/// The kernel's rank among the simulator's values; differences below the unit's slack count as equal.
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

/// For JSON: infinite values and NaN become null.
pub fn finite<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
    value.is_finite().then_some(*value).serialize(to)
}

/// The ratio to the nearest limit of the range, with the unit's slack added to both.
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
        // A number that the kernel has in one of three runs, and the simulator in some.
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
            // Its absence is chance.
            (&none, vec![some.clone(), none.clone()], vec![]),
        ] {
            let held = hold("1", std::slice::from_ref(kernel), &sims);
            let agrees: Vec<_> = held.iter().map(|held| held.agrees).collect();
            assert_eq!(agrees, expected, "{kernel:?} {sims:?}");
        }
    }
}
