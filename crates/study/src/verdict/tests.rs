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
fn json_spells_verdicts_as_the_design_does() {
    let spelt = [Verdict::Holds, Verdict::Direction, Verdict::Fails]
        .map(|verdict| serde_json::to_string(&verdict).unwrap());
    assert_eq!(spelt, ["\"holds\"", "\"direction\"", "\"fails\""]);
}
