//! Compares what was measured with what was expected.

use crate::claims::{Claim, Tolerance};
use crate::expected::Number;

/// A number that was expected, measured, or both.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// The figure's id, what it is, and its unit.
    pub figure: String,
    /// What it is.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// The expected number; none if the file has none.
    pub expected: Option<Number>,
    /// The measured number; none if the command printed none.
    pub measured: Option<Number>,
    /// Its tolerance, in its unit.
    pub tolerance: f64,
    /// Whether it is within the tolerance and has the expected verdict.
    pub within: bool,
    /// Whether tables show it even if it is within.
    pub shown: bool,
}

/// The outcome of a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Its id.
    pub claim: String,
    /// All its numbers.
    pub numbers: Vec<Compared>,
}

impl Outcome {
    /// Whether every number is within its tolerance, and there is one.
    pub fn holds(&self) -> bool {
        !self.numbers.is_empty() && self.numbers.iter().all(|number| number.within)
    }

    /// How many numbers are within.
    pub fn within(&self) -> usize {
        self.numbers.iter().filter(|number| number.within).count()
    }
}

/// Compares a claim's numbers: each expected one with the measured one of the same name; a measured one that was not
/// expected stands alone.
pub fn compare(
    claim: &Claim,
    expected: &[Number],
    measured: &[Number],
    tolerance: Tolerance,
) -> Outcome {
    let shown = |number: &Number| claim.shows.iter().any(|shown| shown.is(number));
    let same = |one: &Number, other: &Number| one.figure == other.figure && one.name == other.name;
    let known = expected.iter().map(|number| {
        let found = measured.iter().find(|other| same(number, other));
        compared(Some(number), found, tolerance, shown(number))
    });
    let unknown = measured
        .iter()
        .filter(|number| !expected.iter().any(|other| same(number, other)))
        .map(|number| compared(None, Some(number), tolerance, shown(number)));
    Outcome {
        claim: claim.id.clone(),
        numbers: known.chain(unknown).collect(),
    }
}

fn compared(
    expected: Option<&Number>,
    measured: Option<&Number>,
    tolerance: Tolerance,
    shown: bool,
) -> Compared {
    let either = expected.or(measured).expect("one of the two");
    let of_value = expected
        .and_then(|number| number.value)
        .map_or(0.0, f64::abs);
    let tolerance = tolerance.absolute.max(tolerance.relative * of_value);
    let within = match (expected, measured) {
        (Some(expected), Some(measured)) => is_within(expected, measured, tolerance),
        _ => false,
    };
    Compared {
        figure: either.figure.clone(),
        name: either.name.clone(),
        unit: either.unit.clone(),
        expected: expected.cloned(),
        measured: measured.cloned(),
        tolerance,
        within,
        shown,
    }
}

fn is_within(expected: &Number, measured: &Number, tolerance: f64) -> bool {
    let close = match (expected.value, measured.value) {
        (Some(one), Some(other)) => (one - other).abs() <= tolerance,
        (None, None) => true,
        _ => false,
    };
    close && expected.unit == measured.unit && expected.verdict == measured.verdict
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Shown;
    use std::slice::from_ref;

    const TOLERANCE: Tolerance = Tolerance {
        relative: 0.01,
        absolute: 0.001,
    };

    fn claim() -> Claim {
        Claim {
            id: "drwa".into(),
            says: String::new(),
            page: String::new(),
            command: String::new(),
            minutes: 1.0,
            shows: vec![Shown {
                figure: "fig-1".into(),
                name: "a".into(),
            }],
        }
    }

    fn number(name: &str, value: Option<f64>, verdict: &str) -> Number {
        Number {
            figure: "fig-1".into(),
            name: name.into(),
            unit: "%".into(),
            value,
            verdict: verdict.into(),
        }
    }

    fn holds(expected: &[Number], measured: &[Number]) -> bool {
        compare(&claim(), expected, measured, TOLERANCE).holds()
    }

    #[test]
    fn a_number_within_its_tolerance_holds_and_one_beyond_does_not() {
        let at = |value| [number("a", Some(value), "holds")];
        assert!(holds(&at(50.0), &at(50.0)));
        assert!(holds(&at(50.0), &at(50.5)));
        assert!(holds(&at(-50.0), &at(-49.5)));
        assert!(!holds(&at(50.0), &at(50.51)));
        assert!(!holds(&at(50.0), &at(-50.0)));
        // Near zero a share of the number is nearly zero as well.
        assert!(holds(&at(0.0), &at(0.001)));
        assert!(!holds(&at(0.0), &at(0.0011)));
    }

    #[test]
    fn a_verdict_that_changes_does_not_hold() {
        let of = |verdict| [number("a", Some(1.0), verdict)];
        assert!(holds(&of("fails"), &of("fails")));
        assert!(!holds(&of("holds"), &of("direction")));
    }

    #[test]
    fn what_is_missing_or_was_not_expected_does_not_hold() {
        let (one, other) = (
            number("a", Some(1.0), "holds"),
            number("b", Some(1.0), "holds"),
        );
        let both = [one.clone(), other.clone()];
        assert!(holds(&both, &[other.clone(), one.clone()]));
        assert!(!holds(&both, from_ref(&one)));
        assert!(!holds(from_ref(&one), &both));
        assert!(!holds(&[], &[]));
        let none = [number("a", None, "fails")];
        assert!(holds(&none, &none));
        assert!(!holds(&none, &[number("a", Some(0.0), "fails")]));
        let outcome = compare(&claim(), &both, &[other], TOLERANCE);
        assert_eq!(outcome.within(), 1);
        assert!(outcome.numbers[0].shown && !outcome.numbers[1].shown);
    }
}
