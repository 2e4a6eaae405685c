use super::*;
use tidegate_study::Sample;

#[test]
fn what_is_better_in_one_and_worse_in_another_is_a_trade() {
    let nothing = |_: &Sample| 0.0;
    let measures = [
        Measure::more("goodput", nothing),
        Measure::less("delay", nothing),
    ];
    let beside = |goodput, delay| verdict(&measures, &[100.0, 50.0], &[goodput, delay]);
    assert_eq!(beside(100.5, 48.0), Verdict::Same);
    assert_eq!(beside(99.5, 40.0), Verdict::Better);
    assert_eq!(beside(100.5, 60.0), Verdict::Worse);
    assert_eq!(beside(110.0, 60.0), Verdict::Trade);
}

#[test]
fn every_constant_has_a_judge_and_another_value() {
    for variable in Variable::all() {
        assert!(!variable.judges.is_empty(), "{}", variable.name);
        assert!(!variable.tried(false).is_empty(), "{}", variable.name);
    }
}

#[test]
fn the_law_has_what_a_variable_is_set_to() {
    let law = Variable::all().into_iter();
    let margin = law.filter(|variable| variable.name == "TG_TIDE_MARGIN_EIGHTHS");
    let margin: Vec<Variable> = margin.collect();
    assert_eq!(margin.len(), 1);
    assert_eq!(margin[0].in_use, 11.0);
    let of_law = || {
        let t = tidegate_laws::sys::tg_tide {
            d1: 800,
            ..Default::default()
        };
        // SAFETY: a function of a record that is there.
        unsafe { tidegate_laws::sys::tg_tide_margin(&t) }
    };
    assert_eq!(of_law(), 1100);
    margin[0].set(16.0);
    assert_eq!(of_law(), 1600);
    margin[0].set(11.0);
}
