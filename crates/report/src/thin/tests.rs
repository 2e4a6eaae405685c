use super::thin;
use proptest::prelude::*;

#[test]
fn a_lone_spike_survives() {
    let mut points: Vec<(f64, f64)> = (0..100_000).map(|i| (f64::from(i), 1.0)).collect();
    points[54_321].1 = 900.0;
    points[54_322].1 = -5.0;
    let thinned = thin(&points, (0.0, 1e5), 100);
    assert!(thinned.len() <= 400, "{}", thinned.len());
    assert!(thinned.contains(&points[54_321]) && thinned.contains(&points[54_322]));
}

#[test]
fn few_points_stay_as_they_are() {
    let points = [(0.0, 3.0), (1.0, 1.0), (2.0, 2.0)];
    assert_eq!(thin(&points, (0.0, 2.0), 100), points);
    assert_eq!(thin(&[], (0.0, 1.0), 100), []);
}

#[test]
fn what_is_not_finite_is_left_out() {
    let points = [
        (0.0, 1.0),
        (0.5, f64::NAN),
        (f64::INFINITY, 2.0),
        (1.0, 3.0),
    ];
    assert_eq!(thin(&points, (0.0, 1.0), 10), [(0.0, 1.0), (1.0, 3.0)]);
}

#[test]
fn a_range_without_width_is_one_column() {
    let points = [(2.0, 1.0), (2.0, 5.0), (2.0, 3.0), (2.0, 2.0)];
    assert_eq!(
        thin(&points, (2.0, 2.0), 10),
        [(2.0, 1.0), (2.0, 5.0), (2.0, 2.0)]
    );
}

proptest! {
    /// Powers of two throughout, so that no boundary between columns is a matter of rounding.
    #[test]
    fn every_column_keeps_its_extremes_in_order(
        values in prop::collection::vec(-1e6..1e6_f64, 1024),
        columns in prop::sample::select(vec![1_usize, 2, 16, 128, 256]),
    ) {
        let points: Vec<(f64, f64)> = (0..).map(f64::from).zip(values.iter().copied()).collect();
        let thinned = thin(&points, (0.0, 1024.0), columns);
        prop_assert!(thinned.len() <= 4 * columns);
        prop_assert!(thinned.windows(2).all(|pair| pair[0].0 < pair[1].0));
        prop_assert!(thinned.iter().all(|point| points.contains(point)));
        for column in points.chunks(1024 / columns) {
            let by_y = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
            prop_assert!(thinned.contains(column.iter().min_by(by_y).unwrap()));
            prop_assert!(thinned.contains(column.iter().max_by(by_y).unwrap()));
        }
    }
}
