use super::*;

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

fn mean_without(values: &[f64], left_out: usize) -> f64 {
    let kept = values.iter().enumerate().filter(|(i, _)| *i != left_out);
    mean(kept.map(|(_, v)| *v))
}

#[test]
fn of_a_mean_it_is_students_interval() {
    let values = [9.0, 10.5, 12.0, 8.5, 11.0];
    let estimate = Estimate::jackknife(5, mean(values.into_iter()), |i| mean_without(&values, i));
    // By hand: mean 10.2, s = √(8.3/4) = 1.44049, t(4) = 2.776.
    let margin = 2.776 * (8.3_f64 / 4.0).sqrt() / 5.0_f64.sqrt();
    assert!((estimate.value - 10.2).abs() < 1e-12);
    assert!((estimate.margin.unwrap() - margin).abs() < 1e-9);
    assert!((estimate.high().unwrap() - estimate.low().unwrap() - 2.0 * margin).abs() < 1e-9);
}

#[test]
fn a_ratio_of_proportional_means_is_certain() {
    let of = [2.0, 8.0, 4.0, 6.0];
    let over = of.map(|v| v * 5.0);
    let estimate = Estimate::jackknife(4, 0.2, |i| mean_without(&of, i) / mean_without(&over, i));
    assert!(estimate.margin.unwrap_or(0.0) < 1e-12);
}

#[test]
fn a_single_seed_has_no_interval() {
    let estimate = Estimate::jackknife(1, 3.0, |_| unreachable!());
    assert_eq!((estimate.value, estimate.low()), (3.0, None));
}

#[test]
fn seeds_that_change_nothing_have_no_interval() {
    let estimate = Estimate::jackknife(5, 3.0, |_| 3.0);
    assert_eq!((estimate.value, estimate.margin), (3.0, None));
    let estimate = Estimate::jackknife(5, 3.0, |left_out| if left_out == 4 { 3.1 } else { 3.0 });
    assert!(estimate.margin.unwrap() > 0.0);
}

#[test]
fn students_t_joins_its_table_and_its_expansion() {
    // Abramowitz and Stegun, table 26.10.
    for (freedom, t) in [
        (1, 12.706),
        (9, 2.262),
        (30, 2.042),
        (40, 2.021),
        (60, 2.000),
        (120, 1.980),
    ] {
        assert!((student_95(freedom) - t).abs() < 6e-4, "{freedom}");
    }
}

#[test]
fn beyond_means_the_whole_interval() {
    let estimate = Estimate {
        value: 5.0,
        margin: Some(2.0),
    };
    assert!(estimate.is_beyond(2.9, 1.0));
    assert!(!estimate.is_beyond(3.1, 1.0));
    assert!(estimate.is_beyond(7.1, -1.0));
    assert!(!estimate.is_beyond(2.9, -1.0));
}

#[test]
fn a_sum_of_nothing_has_no_sign() {
    let nothing: f64 = [0.0; 0].iter().sum();
    for seeds in [1, 3] {
        let estimate = Estimate::jackknife(seeds, nothing, |_| nothing);
        assert!(estimate.value.is_sign_positive());
    }
}

#[test]
fn a_mean_has_students_interval() {
    let mean = Estimate::mean(&[1.0, 2.0, 3.0]).unwrap();
    assert!((mean.value - 2.0).abs() < 1e-12);
    // Student's t for 2 degrees of freedom, times the standard error 1/√3.
    assert!((mean.margin.unwrap() - 4.303 / 3f64.sqrt()).abs() < 1e-3);
    assert_eq!(Estimate::mean(&[]), None);
}

#[test]
fn a_ratio_of_pairs_that_move_together_is_certain() {
    let ratio = Estimate::ratio(&[1.0, 2.0, 6.0], &[2.0, 4.0, 12.0]).unwrap();
    assert_eq!((ratio.value, ratio.margin), (0.5, None));
    let ratio = Estimate::ratio(&[1.0, 2.0, 3.0], &[2.0, 2.0, 2.0]).unwrap();
    assert!((ratio.margin.unwrap() - 4.303 / 3f64.sqrt() / 2.0).abs() < 1e-3);
    assert_eq!(Estimate::ratio(&[1.0], &[0.0]), None);
}
