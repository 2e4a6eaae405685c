use super::*;

fn ours(value: f64, margin: f64) -> Estimate {
    Estimate {
        value,
        margin: Some(margin),
    }
}

const GAIN: Claim = Claim::Near {
    paper: 40.0,
    within: 5.0,
    neutral: 0.0,
};

#[test]
fn near_holds_within_the_tolerance_on_both_sides() {
    for value in [35.0, 45.0] {
        assert_eq!(GAIN.judge(&ours(value, 1.0)), Verdict::Holds);
    }
    // A single seed has no interval.
    let single = Estimate {
        value: 45.0,
        margin: None,
    };
    assert_eq!(GAIN.judge(&single), Verdict::Holds);
}

#[test]
fn an_interval_that_holds_both_yes_and_no_is_unclear() {
    // It excludes "no effect", then it does not.
    assert_eq!(GAIN.judge(&ours(40.0, 39.0)), Verdict::Holds);
    assert_eq!(GAIN.judge(&ours(40.0, 41.0)), Verdict::Unclear);
    // It reaches neither the tolerance nor a quarter of the effect, then both.
    assert_eq!(GAIN.judge(&ours(20.0, 14.0)), Verdict::Fails);
    assert_eq!(GAIN.judge(&ours(20.0, 16.0)), Verdict::Unclear);
    // "No effect" is only known to within the tolerance.
    let same = Claim::same(13.5, 5.0);
    assert_eq!(same.judge(&ours(13.5, 4.9)), Verdict::Holds);
    assert_eq!(same.judge(&ours(13.5, 95.0)), Verdict::Unclear);
    assert_eq!(same.judge(&ours(20.0, 1.9)), Verdict::Unclear);
    assert_eq!(same.judge(&ours(20.0, 1.4)), Verdict::Fails);
    // "No worse than": the interval has to lie within the bound.
    let no_worse = Claim::at_most(1.0, 1.0);
    assert_eq!(no_worse.judge(&ours(0.9, 0.05)), Verdict::Holds);
    assert_eq!(no_worse.judge(&ours(0.9, 0.2)), Verdict::Unclear);
    assert_eq!(no_worse.judge(&ours(1.3, 0.2)), Verdict::Fails);
    let at_most = Claim::at_most(0.5, 1.0);
    assert_eq!(at_most.judge(&ours(0.4, 0.7)), Verdict::Unclear);
    assert_eq!(at_most.judge(&ours(0.9, 0.5)), Verdict::Unclear);
    assert_eq!(at_most.judge(&ours(0.9, 0.3)), Verdict::Fails);
}

#[test]
fn near_keeps_its_direction_while_its_interval_does() {
    assert_eq!(GAIN.judge(&ours(90.0, 1.0)), Verdict::Direction);
    // A quarter of 40 is 10.
    assert_eq!(GAIN.judge(&ours(16.0, 5.9)), Verdict::Direction);
    assert_eq!(GAIN.judge(&ours(16.0, 6.1)), Verdict::Fails);
    assert_eq!(GAIN.judge(&ours(9.9, 0.0)), Verdict::Fails);
    assert_eq!(GAIN.judge(&ours(-30.0, 1.0)), Verdict::Fails);
}

#[test]
fn no_effect_has_no_direction() {
    let none = Claim::Near {
        paper: 0.12,
        within: 5.0,
        neutral: 0.0,
    };
    assert_eq!(none.judge(&ours(4.0, 1.0)), Verdict::Holds);
    assert_eq!(
        Claim::same(1.0, 0.1).judge(&ours(0.5, 0.01)),
        Verdict::Fails
    );
    assert_eq!(none.judge(&ours(20.0, 1.0)), Verdict::Fails);
}

#[test]
fn a_bound_holds_on_it_and_has_a_direction_up_to_a_quarter_of_the_way() {
    let at_most = Claim::at_most(0.5, 1.0);
    let at_least = Claim::at_least(2.0, 1.0);
    assert_eq!(at_most.judge(&ours(0.5, 0.1)), Verdict::Holds);
    assert_eq!(at_most.judge(&ours(0.75, 0.1)), Verdict::Direction);
    assert_eq!(at_most.judge(&ours(0.8, 0.1)), Verdict::Fails);
    assert_eq!(at_least.judge(&ours(2.0, 0.1)), Verdict::Holds);
    assert_eq!(at_least.judge(&ours(1.4, 0.1)), Verdict::Direction);
    assert_eq!(at_least.judge(&ours(1.3, 0.1)), Verdict::Fails);
}

#[test]
fn a_number_that_is_missing_fails() {
    for claim in [GAIN, Claim::same(1.0, 0.1), Claim::at_most(0.5, 1.0)] {
        for margin in [None, Some(0.1), Some(f64::NAN)] {
            let missing = Estimate {
                value: f64::NAN,
                margin,
            };
            assert_eq!(claim.judge(&missing), Verdict::Fails, "{claim:?}");
        }
    }
}

#[test]
fn json_spells_verdicts_as_the_design_does() {
    let all = [
        Verdict::Holds,
        Verdict::Direction,
        Verdict::Fails,
        Verdict::Unclear,
        Verdict::Input,
    ];
    for verdict in all {
        let spelt = serde_json::to_value(verdict).unwrap();
        assert_eq!(spelt, verdict.name());
    }
    assert_eq!(
        all[..3].iter().map(|v| v.name()).collect::<Vec<_>>(),
        ["holds", "direction", "fails"]
    );
}
