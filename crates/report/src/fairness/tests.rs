use super::jain;
use proptest::prelude::*;

#[test]
fn equal_shares_are_fair() {
    assert_eq!(jain(&[3.0, 3.0, 3.0, 3.0]), Some(1.0));
    assert_eq!(jain(&[0.2]), Some(1.0));
}

#[test]
fn one_taking_all_is_one_in_n() {
    assert_eq!(jain(&[5.0, 0.0, 0.0, 0.0]), Some(0.25));
}

#[test]
fn a_worked_example() {
    // (1 + 2 + 3)² ÷ (3 · (1 + 4 + 9))
    let index = jain(&[1.0, 2.0, 3.0]).unwrap();
    assert!((index - 36.0 / 42.0).abs() < 1e-12, "{index}");
}

#[test]
fn nothing_to_share_has_no_index() {
    let unsound = [
        vec![],
        vec![0.0, 0.0],
        vec![1.0, f64::NAN],
        vec![1.0, -1.0],
        vec![f64::INFINITY],
    ];
    for shares in unsound {
        assert_eq!(jain(&shares), None, "{shares:?}");
    }
}

proptest! {
    #[test]
    fn the_index_has_bounds_and_no_unit(
        shares in prop::collection::vec(0.0..1e9_f64, 1..20),
        unit in prop::sample::select(vec![1e-200, 1e-6, 8.0, 1e200]),
    ) {
        prop_assume!(shares.iter().any(|share| *share > 1e-3));
        let index = jain(&shares).unwrap();
        prop_assert!(index <= 1.0 + 1e-12 && index >= 1.0 / shares.len() as f64 - 1e-12);
        let rescaled: Vec<f64> = shares.iter().map(|share| share * unit).collect();
        prop_assert!((jain(&rescaled).unwrap() - index).abs() < 1e-9);
    }
}
