use super::*;
use tidegate_study::Sample;

fn judged(measures: &[Measure], in_use: &Seeds, measured: &Seeds) -> Verdict {
    verdict(measures, &gains(measures, in_use, measured))
}

#[test]
fn what_is_better_in_one_and_worse_in_another_is_a_trade() {
    let nothing = |_: &Sample| 0.0;
    let measures = [
        Measure::more("goodput", nothing),
        Measure::less("delay", nothing),
    ];
    let one = |goodput, delay| Seeds(vec![vec![goodput, delay]]);
    let beside = |goodput, delay| judged(&measures, &one(100.0, 50.0), &one(goodput, delay));
    assert_eq!(beside(100.5, 48.0), Verdict::Same);
    assert_eq!(beside(99.5, 40.0), Verdict::Better);
    assert_eq!(beside(100.5, 60.0), Verdict::Worse);
    assert_eq!(beside(110.0, 60.0), Verdict::Trade);
}

#[test]
fn what_differs_between_seeds_is_chance() {
    let measures = [Measure::more("goodput", |_: &Sample| 0.0)];
    let seeds = |values: &[f64]| Seeds(values.iter().map(|value| vec![*value]).collect());
    let in_use = seeds(&[100.0, 110.0, 90.0, 105.0]);
    // The same difference in each pair is certain, whatever the seeds differ by.
    let more = seeds(&[103.0, 113.0, 93.0, 108.0]);
    assert_eq!(judged(&measures, &in_use, &more), Verdict::Better);
    assert!(in_use.certain(&more)[0] < 1e-9);
    let as_much = seeds(&[110.0, 100.0, 105.0, 102.0]);
    assert_eq!(judged(&measures, &in_use, &as_much), Verdict::Same);
    // Of -10 and 10: their mean is known to 12.7 times the deviation of 14.1 over the root of 2.
    assert!((half_interval(&[-10.0, 10.0]) - 127.0).abs() < 0.1);
}

#[test]
fn every_mechanism_has_a_switch_that_is_on() {
    let mechanisms = Variable::mechanisms();
    assert!(mechanisms.len() > 30, "{}", mechanisms.len());
    for mechanism in mechanisms {
        assert_eq!(mechanism.in_use, 1.0, "{}", mechanism.name);
        assert_eq!(mechanism.tried(false), [0.0], "{}", mechanism.name);
    }
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
