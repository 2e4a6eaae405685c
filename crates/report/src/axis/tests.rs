use super::{Axis, Scale, WIDE};

#[test]
fn fit_is_logarithmic_beyond_a_factor_of_twenty() {
    let axis = Axis::new("ms", Scale::Fit);
    assert!(!axis.is_log(&[1.0, WIDE]));
    assert!(axis.is_log(&[1.0, WIDE * 1.01]));
    assert!(!axis.is_log(&[]));
    assert!(!axis.is_log(&[0.0, 0.0]));
}

#[test]
fn zeros_alone_do_not_make_a_spread() {
    assert!(!Axis::new("ms", Scale::Fit).is_log(&[0.0, 5.0, 6.0]));
}

#[test]
fn a_stray_small_value_does_not_squeeze_the_rest() {
    let mut values = vec![10.0; 200];
    values[7] = 1e-6;
    values[8] = 40.0;
    let axis = Axis::new("ms", Scale::Log);
    assert_eq!(axis.bounds(&values, true), Some((10.0, 40.0)));
    // Among few values none is stray, but four powers of ten are enough.
    assert_eq!(axis.bounds(&[1e-6, 40.0], true), Some((0.004, 40.0)));
}

#[test]
fn a_suited_axis_is_the_same_for_any_part_of_the_values() {
    let axis = Axis::new("Mbit/s", Scale::FromZero).suiting(&[3.0, 31.0]);
    assert_eq!((axis.scale, axis.range), (Scale::Linear, Some((0.0, 40.0))));
    let axis = Axis::new("ms", Scale::Fit).suiting(&[3.0, 900.0]);
    assert_eq!((axis.scale, axis.range), (Scale::Log, Some((2.0, 1000.0))));
}

#[test]
fn a_given_range_stays() {
    let axis = Axis::new("s", Scale::FromZero).within(0.0, 60.0);
    assert_eq!(axis.clone().suiting(&[500.0]).range, Some((0.0, 60.0)));
    assert_eq!(axis.bounds(&[500.0], false), Some((0.0, 60.0)));
}
